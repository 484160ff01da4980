//! How each run stands by what the engine has taken. An engine says that it has taken something as soon as
//! that is durable, and looks at it a moment later. Whoever knows how a run stood before knows what comes of
//! lines that are added, and need not wait for that.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::engine::RunRecord;

/// How a run stands behind everything that the engine has taken, while nobody else asks anything about it.
/// `None`: only the engine knows.
pub(super) type Turn = OwnedMutexGuard<Option<RunRecord>>;

/// Whose turn it is, by run. An entry is never removed: with two of them, two could ask at once.
#[derive(Default)]
pub(super) struct Turns(Mutex<BTreeMap<String, Entry>>);

#[derive(Default)]
struct Entry {
    turn: Arc<tokio::sync::Mutex<Option<RunRecord>>>,
    /// Number of the last line that somebody was told to be there.
    told: u64,
}

impl Turns {
    /// Waits until everything that was asked about the run before has been answered: the engine does what it
    /// is asked in the order in which it takes it.
    pub(super) async fn of(&self, run_id: &str) -> Turn {
        let turn = Arc::clone(&self.entries().entry(run_id.to_owned()).or_default().turn);
        turn.lock_owned().await
    }

    /// Remembers the last line that somebody is told to be there.
    pub(super) fn tell(&self, run_id: &str, seq: u64) {
        self.entries().entry(run_id.to_owned()).or_default().told = seq;
    }

    /// The number of it.
    pub(super) fn told(&self, run_id: &str) -> u64 {
        self.entries().get(run_id).map_or(0, |entry| entry.told)
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
