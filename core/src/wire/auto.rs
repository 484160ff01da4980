//! Documents of rw-auto: the lock, the saved record, scenarios, and the lines for hosts.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What we write into `.ai/runtime/rw-auto.lock`: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockPayload {
    v: u32,
    owner: String,
    /// Which run holds the lock.
    pub run: String,
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

    /// A payload of ours; `None` for everything that we did not write, or not completely.
    pub fn parse(content: &str) -> Option<LockPayload> {
        let payload: LockPayload = serde_json::from_str(content).ok()?;
        (payload.v == LockPayload::VERSION && payload.owner == LockPayload::OWNER)
            .then_some(payload)
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

/// Any document of ours as one line of JSON.
pub(crate) fn to_line(document: &impl Serialize) -> String {
    let mut line = serde_json::to_string(document).expect("our documents have text keys");
    line.push('\n');
    line
}
