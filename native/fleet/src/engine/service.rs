//! The engine over any storage: it assigns runs, ends leases in time, and archives old runs.

mod archiving;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, RwLock};
use tokio::task::AbortHandle;
use tokio::time::{sleep_until, timeout_at};
use tracing::error;

use super::archive::Archive;
use super::log_relay::LogRelay;
use super::schedule::{Limits, Now, Schedule};
use super::{Append, Appended, Assignment, Change, EngineError, Operation, RunRecord, Storage};

/// Pause before a change that could not be stored is retried.
pub(super) const RETRY: Duration = Duration::from_millis(500);
/// Longest pause between two checks for leases that end.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// Bounds of leases and accounts, and the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a lease holds on the server. Its holder uses two thirds of it.
    pub lease: Duration,
    /// Most runs at once for each agent.
    pub limits: Limits,
    /// The archive of finished runs; `None`: they stay in the engine.
    pub archive: Option<Archive>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { lease: Duration::from_secs(30), limits: Limits::new(), archive: None }
    }
}

/// The engine over the storage `S`.
pub struct Engine<S> {
    pub(super) inner: Arc<Inner<S>>,
    clockwork: AbortHandle,
    archiving: Option<AbortHandle>,
}

pub(super) struct Inner<S> {
    pub(super) storage: S,
    schedule: Mutex<Schedule>,
    /// The tails of watched logs.
    pub(super) logs: LogRelay,
    archive: Option<Archive>,
    /// Write-locked while a run moves to or from the archive, and read-locked by a call that must find
    /// the run in one of both.
    pub(super) moving: RwLock<()>,
    /// Runs whose last call has an unknown result.
    unsettled: Mutex<BTreeSet<String>>,
    /// Notified when a run may be ready.
    pub(super) work: Notify,
    /// Notified when a journal has grown.
    pub(super) lines: Notify,
    /// Notified when a lease ends earlier than known, or a run is unsettled.
    clock: Notify,
}

impl<S> std::fmt::Debug for Engine<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl<S> Drop for Engine<S> {
    fn drop(&mut self) {
        self.clockwork.abort();
        if let Some(archiving) = &self.archiving {
            archiving.abort();
        }
    }
}

impl<S: Storage> Engine<S> {
    /// Starts the engine with the records of all runs.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::all`].
    pub async fn start(storage: S, settings: Settings) -> Result<Engine<S>, EngineError> {
        let mut schedule = Schedule::new(settings.lease, settings.limits);
        for record in storage.all().await? {
            schedule.put(record, now());
        }
        let inner = Arc::new(Inner {
            storage,
            schedule: Mutex::new(schedule),
            logs: LogRelay::default(),
            archive: settings.archive,
            moving: RwLock::default(),
            unsettled: Mutex::default(),
            work: Notify::new(),
            lines: Notify::new(),
            clock: Notify::new(),
        });
        let clockwork = tokio::spawn(Arc::clone(&inner).keep_time()).abort_handle();
        let archiving = inner.archive.clone().map(|archive| {
            tokio::spawn(Arc::clone(&inner).archive_what_is_old(archive)).abort_handle()
        });
        Ok(Engine { inner, clockwork, archiving })
    }

    /// Performs an operation.
    ///
    /// # Errors
    ///
    /// Why the engine refuses it.
    pub async fn call<O: Operation>(&self, operation: &O) -> Result<O::Answer, EngineError> {
        operation.perform(self).await
    }

    /// Completes `action`, even if the caller stops waiting for it.
    pub(super) async fn through<T: Send + 'static, F>(
        &self,
        act: impl FnOnce(Arc<Inner<S>>) -> F,
    ) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + Send + 'static,
    {
        let ended = tokio::spawn(act(Arc::clone(&self.inner))).await;
        ended.unwrap_or_else(|error| Err(EngineError::Unreachable { why: error.to_string() }))
    }
}

impl<S: Storage> Inner<S> {
    pub(super) fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unsettled(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the record of a run and wakes waiting callers.
    pub(super) fn put(&self, record: RunRecord) {
        self.schedule().put(record, now());
        self.work.notify_waiters();
        self.lines.notify_waiters();
        self.clock.notify_one();
    }

    /// Notes a failed call: the engine has to read the state of the run again.
    pub(super) fn judge<T>(
        &self,
        run_id: &str,
        outcome: Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if let Err(error) = &outcome {
            log_internal(error);
            if matches!(error, EngineError::NotFound { .. }) {
                self.schedule().remove(run_id);
            } else {
                self.unsettled().insert(run_id.to_owned());
                self.clock.notify_one();
            }
        }
        outcome
    }

    pub(super) async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        let appended = self.storage.append(append).await;
        match appended {
            // The storage did not receive the request.
            Err(EngineError::Invalid { .. }) => appended,
            _ => self.judge(&append.run_id, appended),
        }
    }

    /// Gives a reserved run to `holder`.
    pub(super) async fn give(
        self: Arc<Self>,
        run_id: String,
        holder: String,
    ) -> Result<Assignment, EngineError> {
        let leased = self.storage.change(&run_id, &Change::Lease { holder }).await;
        let record = self.judge(&run_id, leased)?;
        let submitted = self.storage.submission(&run_id).await;
        let submission = self.judge(&run_id, submitted)?;
        self.put(record.clone());
        let lease = self.schedule().lease(&record);
        Ok(Assignment { lease, submission, head: record.head })
    }

    pub(super) async fn expire(&self, run_id: &str, epoch: u64) -> Result<(), EngineError> {
        let end = Change::EndLease { epoch, state: None };
        let expired = self.storage.change(run_id, &end).await;
        self.put(self.judge(run_id, expired)?);
        Ok(())
    }

    /// Ends leases in time, and reads the state of unsettled runs.
    async fn keep_time(self: Arc<Self>) {
        loop {
            let ended = self.schedule().ended(now());
            let unsettled: Vec<String> = self.unsettled().iter().cloned().collect();
            let mut is_tried_again = false;
            for (run_id, epoch) in ended {
                is_tried_again |= self.expire(&run_id, epoch).await.is_err();
            }
            for run_id in unsettled {
                match self.storage.change(&run_id, &Change::None).await {
                    Ok(record) => {
                        self.unsettled().remove(&run_id);
                        self.put(record);
                    }
                    Err(EngineError::Unreachable { .. }) => is_tried_again = true,
                    Err(error) => {
                        log_internal(&error);
                        self.unsettled().remove(&run_id);
                        if matches!(error, EngineError::NotFound { .. }) {
                            self.schedule().remove(&run_id);
                        }
                    }
                }
            }
            let next = match (is_tried_again, self.schedule().next_end()) {
                (true, _) => Instant::now() + RETRY,
                (false, Some(end)) => end,
                (false, None) => Instant::now() + IDLE,
            };
            if is_tried_again {
                sleep_until(next.into()).await;
            } else {
                // A notification since the last loop is kept until here.
                let _ = timeout_at(next.into(), self.clock.notified()).await;
            }
        }
    }
}

/// Logs an internal error of the store for the operator of the server.
fn log_internal(error: &EngineError) {
    if matches!(error, EngineError::Internal { .. }) {
        error!("{error}");
    }
}

pub(super) fn now() -> Now {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
    Now { wall_ms, steady: Instant::now() }
}
