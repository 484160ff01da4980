//! Documents of rw-auto: the lock, the saved record, scenarios, and the lines for hosts.

use serde::{Deserialize, Serialize};

mod scenario;
mod state;

pub use scenario::*;
pub use state::{AutoDocument, InvalidState};

use crate::record::{AutoEnding, Dispatch};
use onloop_syntax::time::Timestamp;

/// What we write into `.ai/runtime/rw-auto.lock`: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockPayload {
    v: u32,
    owner: String,
    run: String,
    acquired_at: String,
    refreshed_at: String,
}

impl LockPayload {
    const VERSION: u32 = 1;
    const OWNER: &str = "rw-auto";

    /// The payload of `run`, which took the lock at one time and stamped it again at another.
    pub fn new(run: &str, acquired_at: Timestamp, refreshed_at: Timestamp) -> LockPayload {
        LockPayload {
            v: LockPayload::VERSION,
            owner: LockPayload::OWNER.to_owned(),
            run: run.to_owned(),
            acquired_at: acquired_at.to_rfc3339(),
            refreshed_at: refreshed_at.to_rfc3339(),
        }
    }

    /// The payload that `run` has written; `None` where `content` is anything else.
    pub fn of(content: &str, run: &str) -> Option<LockPayload> {
        let payload: LockPayload = serde_json::from_str(content).ok()?;
        let is_ours = payload.v == LockPayload::VERSION
            && payload.owner == LockPayload::OWNER
            && payload.run == run;
        is_ours.then_some(payload)
    }

    /// When the lock was taken.
    pub fn acquired_at(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.acquired_at)
    }

    /// The line, with its end.
    pub fn to_line(&self) -> String {
        to_line(self)
    }
}

/// A child that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchDocument {
    /// Which child.
    pub target: String,
    /// Its argument.
    pub argument: String,
}

/// The last line for a host that starts the children itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostLine {
    /// Start this child, write its answer into the file, and resume with the file.
    Dispatch {
        /// Which child.
        target: String,
        /// Its argument.
        argument: String,
        /// Where its answer belongs.
        result_file: String,
    },
    /// The run is over.
    Stop {
        /// The exit code that goes with the ending.
        exit: u8,
        /// The command that comes after the run.
        next_command: String,
    },
}

impl HostLine {
    /// The line for a child to start.
    pub fn dispatch(dispatch: &Dispatch, result_file: String) -> HostLine {
        HostLine::Dispatch {
            target: dispatch.target.as_str().to_owned(),
            argument: dispatch.argument.clone(),
            result_file,
        }
    }

    /// The line for the end.
    pub fn stop(ending: AutoEnding) -> HostLine {
        HostLine::Stop {
            exit: ending.exit_code(),
            next_command: ending.next_command().as_str().to_owned(),
        }
    }
}

/// Any document of ours as one line of JSON.
pub fn to_line(document: &impl Serialize) -> String {
    let mut line = serde_json::to_string(document).expect("our documents have text keys");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock;

    #[test]
    fn only_the_payload_of_a_run_is_its_own() {
        let now = Timestamp::parse("2026-02-24T01:00:00Z").expect("a time");
        let line = LockPayload::new("run-1", now, now).to_line();
        let is_of = |content: &str, run| LockPayload::of(content, run).is_some();
        assert!(is_of(&line, "run-1"));
        assert!(!is_of(&line, "run-2"));
        assert!(!is_of(line.trim_end_matches(['}', '\n']), "run-1"), "torn");
        assert!(!is_of(&line.replace("\"rw-auto\"", "\"other\""), "run-1"));
        assert!(!is_of("run-1", "run-1"));
        assert_eq!(lock::stamp(&line, None), Some(now));
    }
}
