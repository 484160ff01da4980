//! Whole hook processes, measured against an empty program in the same run.
//!
//! `cargo bench -p onloop-tests --bench hook` prints ratios; each figure is the median of
//! several rounds in which floor and hook take turns, so that a busy machine slows both.

mod measured;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use measured::{assert_near_goal, median, ratio, time};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(measured::program);
static EMPTY: LazyLock<PathBuf> = LazyLock::new(measured::empty_program);

const ROUNDS: usize = 101;
/// Goals; an empty program is what starting a process costs here at least.
const TOOL_CALL_RATIO: f64 = 1.6;
const STOP_RATIO: f64 = 2.0;
/// Size of the transcript of a long session.
const TRANSCRIPT_BYTES: usize = 60 * 1024 * 1024;

fn main() {
    LazyLock::force(&PROGRAM);
    LazyLock::force(&EMPTY);
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let transcript = folder.path().join("transcript.jsonl");
    write_transcript(&transcript);
    let path = transcript.to_str().expect("temporary folders have plain names");
    let call = format!(
        r#"{{"session_id":"s1","transcript_path":"{path}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"git status && ls -la | head -20"}}}}"#
    );
    compare("pre-tool-use", folder.path(), &call, TOOL_CALL_RATIO);
    let begin =
        r#"{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"/issue-to-impl 42"}"#;
    hook(folder.path(), begin);
    let stop =
        format!(r#"{{"session_id":"s1","transcript_path":"{path}","hook_event_name":"Stop"}}"#);
    compare("stop after a long transcript", folder.path(), &stop, STOP_RATIO);
}

fn write_transcript(path: &Path) {
    let entry = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}\n",
        "words ".repeat(500)
    );
    let mut file = std::fs::File::create(path).expect("the folder is writable");
    for _ in 0..TRANSCRIPT_BYTES / entry.len() {
        file.write_all(entry.as_bytes()).expect("there is room");
    }
    // What is still to be written would keep the disk busy while others are measured.
    file.sync_all().expect("there is room");
}

fn compare(name: &str, folder: &Path, input: &str, goal: f64) {
    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floor.push(time(|| run(Command::new(&*EMPTY), folder, input)));
        measured.push(time(|| hook(folder, input)));
    }
    let (floor, measured) = (median(floor), median(measured));
    let ratio = ratio(measured, floor);
    println!(
        "{name}: {measured:?}, an empty program: {floor:?}; ratio {ratio:.2} (goal: at most {goal})"
    );
    assert_near_goal(name, ratio, goal);
}

fn hook(folder: &Path, input: &str) {
    let mut command = Command::new(&*PROGRAM);
    command.args(["hook", "claude"]).env("HANDSOFF_MAX_CONTINUATIONS", "1000000");
    run(command, folder, input);
}

fn run(mut command: Command, folder: &Path, input: &str) {
    command.current_dir(folder).env("HOME", folder).stdin(Stdio::piped());
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is there");
    // An empty program does not read.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let status = child.wait().expect("a child can be waited for");
    assert!(status.success(), "{status}");
}
