//! The runs that a worker drives at the moment.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ChildStdin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backoff::Backoff;
use crate::engine::Lease;
use crate::watchdog::LeaseMessage;

/// The runs of a worker, and whether it takes more.
#[derive(Debug, Default)]
pub(crate) struct ActiveRuns {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    runs: BTreeMap<String, Entry>,
    /// The worker takes no more runs.
    stops: bool,
    /// How many runs have been entered, and how many of them the heartbeats have seen.
    entered: u64,
    seen: u64,
    /// Runs that have ended and whose state the server does not know yet.
    unreleased: u32,
    /// The backoff of each run that could not continue here.
    backoffs: BTreeMap<String, Backoff>,
}

#[derive(Debug)]
struct Entry {
    lease: Lease,
    guard: Option<ChildStdin>,
    recalled: bool,
}

/// Pauses before a failed run is tried again.
const RETRY: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(300));

/// Why a driver was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// It was not asked.
    None,
    /// Another machine wants the run.
    Recalled,
    /// The worker ends.
    Stopping,
}

impl ActiveRuns {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of runs.
    pub(crate) fn busy(&self) -> u32 {
        u32::try_from(self.lock().runs.len()).unwrap_or(u32::MAX)
    }

    /// Returns the leases of the runs.
    pub(crate) fn leases(&self) -> Vec<Lease> {
        self.lock().runs.values().map(|entry| entry.lease.clone()).collect()
    }

    /// Waits until there are fewer runs than `slots`. `false`: the worker takes no more.
    pub(crate) fn wait_for_slot(&self, slots: u32) -> bool {
        let has_none = |inner: &mut Inner| !inner.stops && inner.runs.len() >= slots as usize;
        let inner = self.changed.wait_while(self.lock(), has_none);
        !inner.unwrap_or_else(PoisonError::into_inner).stops
    }

    /// Waits for this long, or until the worker stops.
    pub(crate) fn pause(&self, length: Duration) {
        let goes_on = |inner: &mut Inner| !inner.stops;
        let _ = self.changed.wait_timeout_while(self.lock(), length, goes_on);
    }

    /// Waits until the worker takes no more runs, all have ended and the server knows their states.
    pub(crate) fn wait_until_stopped(&self) {
        let goes_on =
            |inner: &mut Inner| !inner.stops || !inner.runs.is_empty() || inner.unreleased > 0;
        drop(self.changed.wait_while(self.lock(), goes_on));
    }

    /// Whether the worker takes no more runs.
    pub(crate) fn stops(&self) -> bool {
        self.lock().stops
    }

    /// Adds a run. `false`: the worker stops, or still drives the run with an earlier lease.
    pub(crate) fn enter(&self, lease: &Lease) -> bool {
        let mut inner = self.lock();
        if inner.stops || inner.runs.contains_key(&lease.run_id) {
            return false;
        }
        let entry = Entry { lease: lease.clone(), guard: None, recalled: false };
        inner.runs.insert(lease.run_id.clone(), entry);
        inner.entered += 1;
        self.changed.notify_all();
        true
    }

    /// Waits for this long, or until a run has been entered since the last call.
    pub(crate) fn wait_for_more(&self, length: Duration) {
        let has_none = |inner: &mut Inner| inner.entered == inner.seen;
        let waited = self.changed.wait_timeout_while(self.lock(), length, has_none);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.seen = inner.entered;
    }

    /// Sets the pipe to the watchdog of a run. Writes to it must not block, because they hold the lock
    /// of all runs.
    pub(crate) fn guarded(&self, run_id: &str, guard: ChildStdin) {
        let mut inner = self.lock();
        let stops = inner.stops;
        if let Some(entry) = inner.runs.get_mut(run_id) {
            entry.guard = Some(guard);
            if stops {
                entry.tell(LeaseMessage::Recalled);
            }
        }
    }

    /// Sends a message to the watchdog of a run.
    pub(crate) fn tell(&self, run_id: &str, epoch: u64, word: LeaseMessage) {
        let mut inner = self.lock();
        if let Some(entry) = inner.runs.get_mut(run_id).filter(|entry| entry.lease.epoch == epoch) {
            // A second Ctrl-C would end the driver before it reports the state of the run.
            if word != LeaseMessage::Recalled || !std::mem::replace(&mut entry.recalled, true) {
                entry.tell(word);
            }
        }
    }

    /// Removes a run; returns why it was asked to stop. Call [`ActiveRuns::released`] once the server
    /// knows its state.
    pub(crate) fn leave(&self, run_id: &str) -> StopReason {
        let mut inner = self.lock();
        let entry = inner.runs.remove(run_id);
        inner.unreleased += 1;
        self.changed.notify_all();
        match (entry.is_some_and(|entry| entry.recalled), inner.stops) {
            (true, _) => StopReason::Recalled,
            (false, true) => StopReason::Stopping,
            (false, false) => StopReason::None,
        }
    }

    /// Counts a run whose state the server knows, or will learn when the lease ends.
    pub(crate) fn released(&self) {
        let mut inner = self.lock();
        inner.unreleased = inner.unreleased.saturating_sub(1);
        self.changed.notify_all();
    }

    /// Returns the pause before a failed run is tried again.
    pub(crate) fn pause_of(&self, run_id: &str) -> Duration {
        self.lock().backoffs.entry(run_id.to_owned()).or_insert(RETRY).pause()
    }

    /// Resets the backoff of a run that continues.
    pub(crate) fn went_well(&self, run_id: &str) {
        self.lock().backoffs.remove(run_id);
    }

    /// Takes no more runs and stops the others.
    pub(crate) fn stop(&self) {
        let mut inner = self.lock();
        inner.stops = true;
        for entry in inner.runs.values_mut().filter(|entry| !entry.recalled) {
            entry.tell(LeaseMessage::Recalled);
        }
        self.changed.notify_all();
    }
}

impl Entry {
    fn tell(&mut self, word: LeaseMessage) {
        if let Some(guard) = &mut self.guard {
            // A watchdog that has ended needs no message, and one that hangs ends the driver when its
            // lease ends.
            let _ = guard.write_all(word.line().as_bytes()).and_then(|()| guard.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_a_backoff_of_its_own_until_it_goes_well() {
        let runs = ActiveRuns::default();
        let pauses = [(); 3].map(|()| runs.pause_of("run").as_secs());
        assert_eq!(pauses, [1, 2, 4]);
        assert_eq!(runs.pause_of("other").as_secs(), 1);
        runs.went_well("run");
        assert_eq!(runs.pause_of("run").as_secs(), 1);
    }

    #[test]
    fn a_guard_that_does_not_read_blocks_nobody() {
        let mut guard = std::process::Command::new("sleep")
            .arg("60")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a guard");
        let runs = ActiveRuns::default();
        let lease =
            Lease { run_id: "run".to_owned(), epoch: 1, holder: "me".to_owned(), lasts_ms: 1 };
        assert!(runs.enter(&lease));
        let pipe = guard.stdin.take().expect("a pipe");
        rustix::io::ioctl_fionbio(&pipe, true).expect("a pipe");
        runs.guarded("run", pipe);
        // These are more bytes than a pipe holds.
        for _ in 0..100_000 {
            runs.tell("run", 1, LeaseMessage::Renewed(20_000));
        }
        guard.kill().and_then(|()| guard.wait()).expect("a guard");
    }
}
