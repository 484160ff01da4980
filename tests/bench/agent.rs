//! What onloop adds to an agent: reading what its client writes, and a turn as a whole.
//!
//! `cargo bench -p onloop-tests --bench agent`. Goals: at 1,000 events a second the reader takes at
//! most 1 % of a core, which is 10 µs for an event; a turn takes at most 5 ms beyond its client.

mod measured;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use measured::{median, time};
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
    // `cargo test --benches` only wants to know that it starts.
    let is_measured = std::env::args().any(|word| word == "--bench");
    for client in [Client::Claude, Client::Codex, Client::Opencode] {
        let rounds = if is_measured { ROUNDS } else { 1 };
        read(client, rounds);
    }
    if is_measured {
        turn();
    }
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
}

/// Runs with many attempts and with one, and what the client and the check take without onloop.
fn turn() {
    let program = measured::program();
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let client = fake_client(folder.path());
    let (mut more, mut one, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        more.push(run(&program, folder.path(), round, ATTEMPTS));
        one.push(run(&program, folder.path(), round + ROUNDS, 1));
        alone.push(time(|| {
            for _ in 1..ATTEMPTS {
                quiet(Command::new(&client));
                quiet(sh("false"));
            }
        }));
    }
    let attempts = f64::from(ATTEMPTS - 1);
    let each = |times: Vec<Duration>| median(times).as_secs_f64() * 1000.0;
    let added = (each(more) - each(one) - each(alone)) / attempts;
    println!(
        "a turn, with its check and its lines in the ledger: {added:.1} ms beyond client and check \
         (goal: at most {GOAL_TURN_MS})"
    );
}

/// A `claude` that says what the recorded one said.
fn fake_client(folder: &Path) -> PathBuf {
    let stream = Path::new(env!("CARGO_MANIFEST_DIR")).join("streams/claude-works.jsonl");
    let path = folder.join("claude");
    let script = format!("#!/bin/sh\ncat > /dev/null\ncat {}\n", stream.display());
    fs::write(&path, script).expect("the folder is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

fn run(program: &Path, folder: &Path, number: usize, attempts: u32) -> Duration {
    let place = folder.join(format!("{number}"));
    fs::create_dir_all(&place).expect("the folder is writable");
    let workflow = format!(
        "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n---\n\n- [ ] **Step 1: Go**\n\
         action: go\nloop: until it works\nmax_iterations: {attempts}\nverify: \"false\"\n"
    );
    fs::write(place.join("hotl-workflow-try.md"), workflow).expect("the folder is writable");
    let mut command = Command::new(program);
    command.args(["run", "--mode", "none", "--agent", "claude", "--fresh-session"]);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    command.current_dir(&place).env("PATH", path).env("HOME", folder);
    command.env("ONLOOP_STATE_HOME", folder.join("state"));
    time(|| quiet(command))
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
