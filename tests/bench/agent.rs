//! What onloop adds to an agent: reading what its client writes, and a turn as a whole.
//!
//! `cargo bench -p onloop-tests --bench agent`. Goals: at 1,000 events a second the reader takes at
//! most 1 % of a core, which is 10 µs for an event; a turn takes at most 5 ms beyond its client.

mod measured;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use measured::{assert_near_goal, median, time};
use onloop_core::agent::{AgentState, Client};
use onloop_core::tokens::Tokens;

const ROUNDS: usize = 11;
/// Events that are read in one round.
const EVENTS: usize = 20_000;
/// Attempts of the longer of two runs; the other one has one.
const ATTEMPTS: u32 = 21;
const GOAL_CORE_PERCENT: f64 = 1.0;
const GOAL_TURN_MS: f64 = 5.0;

fn main() {
    for client in [Client::Claude, Client::Codex, Client::Opencode] {
        read(client, ROUNDS);
    }
    turn();
}

/// Lines as the client writes them, one line at a time, as a busy client's are woken for.
fn read(client: Client, rounds: usize) {
    let name = format!("streams/{}-works.jsonl", client.as_str());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let stream = fs::read_to_string(path).expect("it was recorded");
    // A turn has one first line and any number of the others.
    let lines: Vec<&str> = stream.split_inclusive('\n').skip(1).collect();
    let times = (0..rounds).map(|_| {
        let mut state = AgentState::new(client, Tokens::default());
        time(|| {
            for line in lines.iter().cycle().take(EVENTS) {
                state.push(line.as_bytes());
            }
        })
    });
    let per_event = median(times.collect()).as_secs_f64() / EVENTS as f64;
    println!(
        "reader of {}: {:.1} µs an event; at 1,000 a second {:.2} % of a core (goal: at most \
         {GOAL_CORE_PERCENT})",
        client.as_str(),
        per_event * 1e6,
        per_event * 1000.0 * 100.0
    );
    assert_near_goal("percent of a core", per_event * 1000.0 * 100.0, GOAL_CORE_PERCENT);
}

/// Runs with many attempts and with one, and what the client and the check take without onloop. Confining
/// a process and keeping the work have goals of their own, and are measured in other places.
fn turn() {
    let program = measured::program();
    for (rounds, is_bare) in [(ROUNDS, true), (ROUNDS / 2, false)] {
        // Confined programs do not see the system's folder for temporary files.
        let folder = match is_bare {
            true => tempfile::tempdir(),
            false => tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")),
        };
        let folder = folder.expect("there is a folder");
        let client = fake_client(folder.path());
        let (mut more, mut one, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        let (mut stored, file) = (Vec::new(), folder.path().join("stored"));
        for round in 0..rounds {
            let run = |attempts: u32| {
                let place = folder.path().join(format!("{round}-{attempts}"));
                run(&program, folder.path(), &place, attempts, is_bare)
            };
            more.push(run(ATTEMPTS));
            one.push(run(1));
            alone.push(time(|| {
                for _ in 1..ATTEMPTS {
                    let mut client = Command::new(&client);
                    // It leaves a file where it works.
                    client.current_dir(folder.path());
                    quiet(client);
                    quiet(sh("false"));
                }
            }));
            stored.push(time(|| append_durably(&file)));
        }
        let each = |times: Vec<Duration>| median(times).as_secs_f64() * 1000.0;
        let added = (each(more) - each(one) - each(alone)) / f64::from(ATTEMPTS - 1);
        let disk = each(stored);
        if is_bare {
            assert_near_goal("milliseconds of a turn", added, GOAL_TURN_MS);
        }
        match is_bare {
            true => println!(
                "a turn, with its check and its lines in the ledger: {added:.1} ms beyond client and check \
                 (goal: at most {GOAL_TURN_MS}); {disk:.1} of them are two durable appends"
            ),
            false => println!(
                "the same in a repository, confined, with the work kept after it: {added:.1} ms"
            ),
        }
    }
}

/// What a turn stores: that it began, and what came of it.
fn append_durably(path: &Path) {
    let mut file =
        fs::File::options().create(true).append(true).open(path).expect("it is writable");
    for _ in 0..2 {
        file.write_all(&[b'x'; 400]).expect("there is room");
        file.sync_data().expect("the disk takes it");
    }
}

/// A `claude` that says what the recorded one said, and changes a file: a run in which nothing changes is
/// paused. Its version is asked once, which is no turn.
fn fake_client(folder: &Path) -> PathBuf {
    let stream = Path::new(env!("CARGO_MANIFEST_DIR")).join("streams/claude-works.jsonl");
    let path = folder.join("bin/claude");
    fs::create_dir_all(folder.join("bin")).expect("the folder is writable");
    let script = format!(
        "#!/bin/sh\ntest \"$1\" = --version && exec echo '2.1.330 (Claude Code)'\n\
         cat > /dev/null\necho $$ >> made\ncat {}\n",
        stream.display()
    );
    fs::write(&path, script).expect("the folder is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

fn run(program: &Path, folder: &Path, place: &Path, attempts: u32, is_bare: bool) -> Duration {
    fs::create_dir_all(folder.join("home")).expect("the folder is writable");
    fs::create_dir_all(place).expect("the folder is writable");
    let workflow = format!(
        "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n---\n\n- [ ] **Step 1: Go**\n\
         action: go\nloop: until it works\nmax_iterations: {attempts}\nverify: \"false\"\n"
    );
    fs::write(place.join("hotl-workflow-try.md"), workflow).expect("the folder is writable");
    let mut command = Command::new(program);
    command.args(["run", "--mode", "none", "--agent", "claude", "--fresh-session"]);
    if is_bare {
        command.args(["--confine", "off"]);
    } else {
        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).current_dir(place);
        quiet(git);
    }
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    command.current_dir(place).env("PATH", path).env("HOME", folder.join("home"));
    command.env("ONLOOP_STATE_HOME", folder.join("state"));
    let taken = time(|| quiet(command));
    let made = fs::read_to_string(place.join("made")).unwrap_or_default();
    assert_eq!(made.lines().count(), attempts as usize, "the client had each of its turns");
    taken
}

fn sh(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

/// Runs a command to its end, whatever that is.
fn quiet(mut command: Command) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().expect("it is there");
}
