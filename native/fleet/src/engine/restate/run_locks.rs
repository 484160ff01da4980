//! One lock for each run, with the record after all calls that the engine has confirmed. The engine
//! confirms a call when it is durable and performs it a moment later. A caller that knows the previous
//! record can compute the result of an append without waiting for the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::engine::RunRecord;

/// The record of a run while no other call about the run is open. `None`: only the engine knows it.
pub(super) type KnownRecord = OwnedMutexGuard<Option<RunRecord>>;

/// The locks, by run. An entry is never removed, because two entries would allow two calls at once.
#[derive(Default)]
pub(super) struct RunLocks(Mutex<BTreeMap<String, Entry>>);

#[derive(Default)]
struct Entry {
    record: Arc<tokio::sync::Mutex<Option<RunRecord>>>,
    /// Number of the last line whose append was confirmed to a writer.
    acknowledged: u64,
}

impl RunLocks {
    /// Waits until all earlier calls about the run have been answered: the engine performs calls in
    /// that order.
    pub(super) async fn of(&self, run_id: &str) -> KnownRecord {
        let record = Arc::clone(&self.entries().entry(run_id.to_owned()).or_default().record);
        record.lock_owned().await
    }

    /// Records the last line whose append was confirmed.
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
