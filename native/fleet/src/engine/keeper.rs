//! The engine over whatever keeps records durably: who is given what, and what is waited for, is the
//! same for each of them.

mod archiving;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, RwLock};
use tokio::task::AbortHandle;
use tokio::time::{sleep_until, timeout_at};
use tracing::error;

use super::archive::Archive;
use super::board::{Board, Claimed, Limits, Now};
use super::record::{invalid, judge_name};
use super::{
    Append, Appended, Assignment, Beat, Claim, Engine, EngineError, Head, Lease, Lines, Offer,
    Overview, Records, Release, Renewal, RunRecord, Submission,
};

/// How long anybody can wait for something to happen.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// After how long it is tried again to write down what could not be.
const RETRY: Duration = Duration::from_millis(500);
/// How long somebody else may take to be given a run.
const SOON: Duration = Duration::from_secs(5);
/// How often the end of leases is looked at when none is known.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// Most leases that a worker can have.
const LEASES_MAX: usize = 1024;
/// Most repositories that a worker can name.
const REPOSITORIES_MAX: usize = 1024;

/// How leases and accounts are bounded, and how long runs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a lease holds on the server. Its holder is told two thirds of it.
    pub lease: Duration,
    /// How many runs may have an agent at once.
    pub limits: Limits,
    /// Where runs go that have been over for long; `None`: they stay.
    pub archive: Option<Archive>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { lease: Duration::from_secs(30), limits: Limits::new(), archive: None }
    }
}

/// An engine whose records are kept by `R`.
pub struct Keeper<R> {
    inner: Arc<Inner<R>>,
    clockwork: AbortHandle,
    archiving: Option<AbortHandle>,
}

struct Inner<R> {
    records: R,
    board: Mutex<Board>,
    archive: Option<Archive>,
    /// Held as its writer while a run moves to the archive or back, as a reader by whoever must find it in
    /// one of both places.
    moving: RwLock<()>,
    /// Runs of which it is not known what came of the last call.
    unsettled: Mutex<BTreeSet<String>>,
    /// Something may be there to work on, or ends at another time.
    work: Notify,
    /// A journal has grown.
    lines: Notify,
    /// A lease ends earlier than was known, or something has to be settled.
    clock: Notify,
}

impl<R> std::fmt::Debug for Keeper<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl<R> Drop for Keeper<R> {
    fn drop(&mut self) {
        self.clockwork.abort();
        if let Some(archiving) = &self.archiving {
            archiving.abort();
        }
    }
}

impl<R: Records> Keeper<R> {
    /// The engine, once it knows how every run stands.
    ///
    /// # Errors
    ///
    /// Those of [`Records::all`].
    pub async fn start(records: R, settings: Settings) -> Result<Keeper<R>, EngineError> {
        let mut board = Board::new(settings.lease, settings.limits);
        for record in records.all().await? {
            board.put(record, now());
        }
        let inner = Arc::new(Inner {
            records,
            board: Mutex::new(board),
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
        Ok(Keeper { inner, clockwork, archiving })
    }

    /// Goes through with `act`, whether or not somebody still waits for what comes of it.
    async fn through<T: Send + 'static, F>(
        &self,
        act: impl FnOnce(Arc<Inner<R>>) -> F,
    ) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + Send + 'static,
    {
        let ended = tokio::spawn(act(Arc::clone(&self.inner))).await;
        ended.unwrap_or_else(|error| Err(EngineError::Unreachable { why: error.to_string() }))
    }
}

impl<R: Records> Inner<R> {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unsettled(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes how a run stands, and tells whoever waits.
    fn put(&self, record: RunRecord) {
        self.board().put(record, now());
        self.work.notify_waiters();
        self.lines.notify_waiters();
        self.clock.notify_one();
    }

    /// Looks at what came of a call about a run: what is not known has to be found out.
    fn judge<T>(&self, run_id: &str, outcome: Result<T, EngineError>) -> Result<T, EngineError> {
        if let Err(error) = &outcome {
            log_internal(error);
            if matches!(error, EngineError::NotFound { .. }) {
                self.board().remove(run_id);
            } else {
                self.unsettled().insert(run_id.to_owned());
                self.clock.notify_one();
            }
        }
        outcome
    }

    async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        let appended = self.records.append(append).await;
        match appended {
            // Nothing was asked of whoever keeps it.
            Err(EngineError::Invalid { .. }) => appended,
            _ => self.judge(&append.run_id, appended),
        }
    }

    /// Gives a run that is reserved to `holder`.
    async fn give(
        self: Arc<Self>,
        run_id: String,
        holder: String,
    ) -> Result<Assignment, EngineError> {
        let leased = self.records.lease(&run_id, &holder).await;
        let (record, submission) = self.judge(&run_id, leased)?;
        self.put(record.clone());
        let lease = self.board().lease(&record);
        Ok(Assignment { lease, submission, head: record.head })
    }

    async fn expire(&self, run_id: &str, epoch: u64) -> Result<(), EngineError> {
        let expired = self.records.expire(run_id, epoch).await;
        self.put(self.judge(run_id, expired)?);
        Ok(())
    }

    /// Writes down what time does, and finds out what is not known.
    async fn keep_time(self: Arc<Self>) {
        loop {
            let ended = self.board().ended(now());
            let unsettled: Vec<String> = self.unsettled().iter().cloned().collect();
            let mut is_tried_again = false;
            for (run_id, epoch) in ended {
                is_tried_again |= self.expire(&run_id, epoch).await.is_err();
            }
            for run_id in unsettled {
                match self.records.settle(&run_id).await {
                    Ok(record) => {
                        self.unsettled().remove(&run_id);
                        self.put(record);
                    }
                    Err(EngineError::Unreachable { .. }) => is_tried_again = true,
                    Err(error) => {
                        log_internal(&error);
                        self.unsettled().remove(&run_id);
                        if matches!(error, EngineError::NotFound { .. }) {
                            self.board().remove(&run_id);
                        }
                    }
                }
            }
            let next = match (is_tried_again, self.board().next_end()) {
                (true, _) => Instant::now() + RETRY,
                (false, Some(end)) => end,
                (false, None) => Instant::now() + IDLE,
            };
            if is_tried_again {
                sleep_until(next.into()).await;
            } else {
                // What is new comes with a permit that is kept until here.
                let _ = timeout_at(next.into(), self.clock.notified()).await;
            }
        }
    }
}

impl<R: Records> Engine for Keeper<R> {
    async fn submit(&self, run: &Submission) -> Result<(), EngineError> {
        let run = run.clone();
        self.through(|inner| async move {
            let _stays = inner.moving.read().await;
            if let Some(archived) = inner.archived(&run.run_id).await? {
                return archived.record.demand_same(&run);
            }
            let taken = inner.records.submit(&run, now().wall_ms).await;
            if matches!(taken, Err(EngineError::Exists { .. } | EngineError::Invalid { .. })) {
                return taken.map(drop);
            }
            inner.put(inner.judge(&run.run_id, taken)?);
            Ok(())
        })
        .await
    }

    async fn take(&self, offer: &Offer, wait: Duration) -> Result<Option<Assignment>, EngineError> {
        judge_offer(offer)?;
        let end = Instant::now() + wait.min(WAIT_MAX);
        self.inner.board().hear(offer, now());
        loop {
            let changed = self.inner.work.notified();
            tokio::pin!(changed);
            // From here on nothing is missed.
            changed.as_mut().enable();
            let chosen = self.inner.board().choose(offer, now());
            if let Some(run_id) = chosen {
                let holder = offer.worker.clone();
                match self.through(|inner| inner.give(run_id, holder)).await {
                    Ok(assignment) => return Ok(Some(assignment)),
                    Err(error @ EngineError::Unreachable { .. }) => return Err(error),
                    // Somebody was faster; how the run stands is being found out.
                    Err(_) => continue,
                }
            }
            let now = now();
            let due_ms = self.inner.board().next_due_ms(now);
            let due =
                due_ms.map(|at| now.steady + Duration::from_millis(at.saturating_sub(now.wall_ms)));
            let next = due.map_or(end, |due| due.min(end));
            if timeout_at(next.into(), changed).await.is_err() && Instant::now() >= end {
                return Ok(None);
            }
        }
    }

    async fn renew(&self, beat: &Beat) -> Result<Vec<Renewal>, EngineError> {
        judge_offer(&beat.offer)?;
        if beat.leases.len() > LEASES_MAX {
            return Err(invalid(format!("{} leases, up to {LEASES_MAX}", beat.leases.len())));
        }
        Ok(self.inner.board().renew(beat, now()))
    }

    async fn claim(&self, claim: &Claim) -> Result<Lease, EngineError> {
        judge_name("the holder", &claim.holder)?;
        let end = Instant::now() + SOON;
        loop {
            let changed = self.inner.work.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let Claim { run_id, holder, recall } = claim;
            let met = self.inner.board().claim(run_id, holder, *recall, now());
            match met {
                None => {
                    let missing = run_id.clone();
                    let found = self.through(|inner| async move { inner.restore(&missing).await });
                    if !found.await? {
                        return Err(EngineError::NotFound { run_id: run_id.clone() });
                    }
                }
                Some(Claimed::Own(lease)) => return Ok(lease),
                Some(Claimed::Busy(holder)) => {
                    return Err(EngineError::Busy { run_id: run_id.clone(), holder });
                }
                Some(Claimed::Soon) => {
                    let _ = timeout_at((Instant::now() + RETRY).into(), changed).await;
                    if Instant::now() > end {
                        let why = "it is not known who has the run".to_owned();
                        return Err(EngineError::Unreachable { why });
                    }
                }
                Some(Claimed::Ended(epoch)) => {
                    let run_id = run_id.clone();
                    self.through(|inner| async move { inner.expire(&run_id, epoch).await }).await?;
                }
                Some(Claimed::Free) => {
                    let (run_id, holder) = (run_id.clone(), holder.clone());
                    match self.through(|inner| inner.give(run_id, holder)).await {
                        // It has moved away in this moment.
                        Err(EngineError::NotFound { .. }) => {}
                        given => return given.map(|assignment| assignment.lease),
                    }
                }
            }
        }
    }

    async fn release(&self, release: &Release) -> Result<(), EngineError> {
        let release = release.clone();
        self.through(|inner| async move {
            let released = inner.records.release(&release).await;
            if matches!(released, Err(EngineError::NotFound { .. }))
                && inner.archived(&release.run_id).await?.is_some()
            {
                // What lies there is over: the lease ended long ago.
                return Ok(());
            }
            inner.put(inner.judge(&release.run_id, released)?);
            Ok(())
        })
        .await
    }

    async fn append(&self, lines: &Append) -> Result<Head, EngineError> {
        let append = lines.clone();
        self.through(|inner| async move {
            let mut appended = inner.append(&append).await;
            if matches!(appended, Err(EngineError::NotFound { .. }))
                && inner.restore(&append.run_id).await?
            {
                appended = inner.append(&append).await;
            }
            let Appended { head, record } = appended?;
            inner.put(record);
            Ok(head)
        })
        .await
    }

    async fn lines(&self, run: &str, after: u64, wait: Duration) -> Result<Lines, EngineError> {
        let end = Instant::now() + wait.min(WAIT_MAX);
        let mut first: Option<RunRecord> = None;
        loop {
            let changed = self.inner.lines.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let known = self.inner.board().record(run).cloned();
            let Some(record) = known else {
                return self.inner.archived_lines(run, after, end).await;
            };
            if record.head.as_ref().is_some_and(|head| head.seq > after) {
                let (lines, record) = match self.inner.records.read(run, after).await {
                    Ok(read) => read,
                    // It has moved away in this moment.
                    Err(EngineError::NotFound { .. }) => {
                        self.inner.board().remove(run);
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                return Ok(Lines { lines, view: record.view() });
            }
            // How it stands is worth an answer, too.
            let before = first.get_or_insert_with(|| record.clone());
            if before.view() != record.view() {
                return Ok(Lines { lines: String::new(), view: record.view() });
            }
            if timeout_at(end.into(), changed).await.is_err() {
                return Ok(Lines { lines: String::new(), view: record.view() });
            }
        }
    }

    async fn overview(&self) -> Result<Overview, EngineError> {
        Ok(self.inner.board().overview(now()))
    }
}

fn judge_offer(offer: &Offer) -> Result<(), EngineError> {
    judge_name("the worker", &offer.worker)?;
    if offer.repositories.len() > REPOSITORIES_MAX {
        let found = offer.repositories.len();
        return Err(invalid(format!("{found} repositories, expected up to {REPOSITORIES_MAX}")));
    }
    Ok(())
}

/// Logs an error of the store on the server, where its operator finds it.
fn log_internal(error: &EngineError) {
    if matches!(error, EngineError::Internal { .. }) {
        error!("{error}");
    }
}

fn now() -> Now {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
    Now { wall_ms, steady: Instant::now() }
}
