//! The processes of a test: each has inherited its mark.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Names the test in the environment of everything that it starts.
pub(crate) const MARK: &str = "ONLOOP_CHAOS_WORLD";

/// The kind of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The server, `up`.
    Up,
    /// The engine.
    Engine,
    /// A worker.
    Worker,
    /// The watchdog of a driver.
    Guard,
    /// The driver of a run.
    Driver,
    /// The agent.
    Agent,
    /// Git, checks, and commands of people.
    Other,
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) kind: Kind,
    #[allow(dead_code, reason = "shown of what is left behind")]
    pub(crate) line: String,
}

impl Process {
    pub(crate) fn signal(&self, signal: Signal) {
        // The process may have ended.
        let _ = kill_process(self.pid, signal);
    }
}

/// Returns the processes with the mark, without zombies.
pub(crate) fn of_world(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("Linux").flatten() {
        let folder = entry.path();
        let pid =
            entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let (Some(pid), Ok(environment)) = (pid, fs::read(folder.join("environ"))) else {
            continue;
        };
        if !environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()) {
            continue;
        }
        let words = fs::read(folder.join("cmdline")).unwrap_or_default();
        let words: Vec<String> = words
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        found.push(Process { pid, kind: kind_of(&words), line: words.join(" ") });
    }
    found
}

fn kind_of(words: &[String]) -> Kind {
    let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    if word(0).ends_with("restate-server") {
        return Kind::Engine;
    }
    if word(0).ends_with("onloop-fleet") {
        return match word(1) {
            "up" => Kind::Up,
            "worker" => Kind::Worker,
            "watchdog" => Kind::Guard,
            "drive" => Kind::Driver,
            _ => Kind::Other,
        };
    }
    match words.iter().any(|word| word.ends_with("agent.sh")) {
        true => Kind::Agent,
        false => Kind::Other,
    }
}
