//! One lock for each run, with the record behind everything that the engine has confirmed. The engine confirms
//! a call as soon as the call is durable, and performs it a moment later. A caller that knows the record before
//! it can tell what added lines make of it, and does not wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::engine::RunRecord;

/// The record of a run, while no other call about the run is under way. `None`: only the engine knows it.
pub(super) type KnownRecord = OwnedMutexGuard<Option<RunRecord>>;

/// The locks, by run. An entry is never removed: with two entries, two calls could be under way.
#[derive(Default)]
pub(super) struct RunLocks(Mutex<BTreeMap<String, Entry>>);

#[derive(Default)]
struct Entry {
    record: Arc<tokio::sync::Mutex<Option<RunRecord>>>,
    /// Number of the last line that a writer knows to be stored.
    acknowledged: u64,
}

impl RunLocks {
    /// Waits until all earlier calls about the run have been answered: the engine performs calls in the order in
    /// which it takes them.
    pub(super) async fn of(&self, run_id: &str) -> KnownRecord {
        let record = Arc::clone(&self.entries().entry(run_id.to_owned()).or_default().record);
        record.lock_owned().await
    }

    /// Remembers the last line that a writer knows to be stored.
    pub(super) fn acknowledge(&self, run_id: &str, seq: u64) {
        self.entries().entry(run_id.to_owned()).or_default().acknowledged = seq;
    }

    /// Returns the number of that line.
    pub(super) fn acknowledged(&self, run_id: &str) -> u64 {
        self.entries().get(run_id).map_or(0, |entry| entry.acknowledged)
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
