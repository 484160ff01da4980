//! The operations of a fleet's server. Each is a type with its path, its answer and its implementation;
//! client and server handle all of them in the same way.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::timeout_at;

use super::record::{invalid, validate_name};
use super::schedule::Claimed;
use super::service::{RETRY, now};
use super::{
    Appended, Assignment, Change, Engine, EngineError, Head, Lease, LogTail, NumberedLogTail,
    Offer, Overview, QueueState, Renewal, RunView, Storage, Submission,
};

/// Longest wait that a caller can request.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How long a claim waits while another caller gets the run.
const CLAIM_WAIT: Duration = Duration::from_secs(5);
/// Most leases of one worker.
const LEASES_MAX: usize = 1024;
/// Most repositories of one worker.
const REPOSITORIES_MAX: usize = 1024;

/// An operation of the server. Each call is atomic, and its effect is durable before its answer. A
/// caller without an answer repeats the call and gets the same answer.
pub trait Operation: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Its path on the server.
    const PATH: &'static str;
    /// The answer.
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// Returns how long the engine may wait before it answers.
    fn wait(&self) -> Duration {
        Duration::ZERO
    }

    /// Performs the operation.
    ///
    /// # Errors
    ///
    /// Why the engine refuses it.
    fn perform<S: Storage>(
        &self,
        engine: &Engine<S>,
    ) -> impl Future<Output = Result<Self::Answer, EngineError>> + Send;
}

/// Adds a new run. [`EngineError::Exists`]: another submission has its id.
impl Operation for Submission {
    const PATH: &'static str = "/v1/submit";
    type Answer = ();

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<(), EngineError> {
        let run = self.clone();
        engine
            .through(|inner| async move {
                let _stays = inner.moving.read().await;
                if let Some(archived) = inner.archived(&run.run_id).await? {
                    return archived.record.demand_same(&run);
                }
                let run_id = run.run_id.clone();
                let submit = Change::Submit { run: Box::new(run), queued_ms: now().wall_ms };
                let taken = inner.storage.change(&run_id, &submit).await;
                if matches!(taken, Err(EngineError::Exists { .. } | EngineError::Invalid { .. })) {
                    return taken.map(drop);
                }
                inner.put(inner.judge(&run_id, taken)?);
                Ok(())
            })
            .await
    }
}

/// Takes a run with a new lease; `None`: there is none within the wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Take {
    /// The worker's offer.
    pub offer: Offer,
    /// Longest wait, in milliseconds.
    pub wait_ms: u64,
}

impl Operation for Take {
    const PATH: &'static str = "/v1/take";
    type Answer = Option<Assignment>;

    fn wait(&self) -> Duration {
        bounded(self.wait_ms)
    }

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Self::Answer, EngineError> {
        let (offer, inner) = (&self.offer, &engine.inner);
        validate_offer(offer)?;
        let end = Instant::now() + self.wait();
        inner.schedule().hear(offer, now());
        loop {
            let changed = inner.work.notified();
            tokio::pin!(changed);
            // From here on a change is not missed.
            changed.as_mut().enable();
            let chosen = inner.schedule().choose(offer, now());
            if let Some(run_id) = chosen {
                let holder = offer.worker.clone();
                match engine.through(|inner| inner.give(run_id, holder)).await {
                    Ok(assignment) => return Ok(Some(assignment)),
                    Err(error @ EngineError::Unreachable { .. }) => return Err(error),
                    // Another caller was faster, and the engine is still reading the state of the run.
                    Err(_) => continue,
                }
            }
            let now = now();
            let due_ms = inner.schedule().next_due_ms(now);
            let due =
                due_ms.map(|at| now.steady + Duration::from_millis(at.saturating_sub(now.wall_ms)));
            let next = due.map_or(end, |due| due.min(end));
            if timeout_at(next.into(), changed).await.is_err() && Instant::now() >= end {
                return Ok(None);
            }
        }
    }
}

/// A heartbeat of a worker: it renews the leases. The answer contains the status of each lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// The worker's offer.
    pub offer: Offer,
    /// The runs that it drives: id and epoch.
    pub leases: Vec<(String, u64)>,
    /// The tails of watched logs that have changed.
    pub logs: Vec<LogTail>,
}

impl Operation for Heartbeat {
    const PATH: &'static str = "/v1/heartbeat";
    type Answer = Vec<Renewal>;

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Self::Answer, EngineError> {
        validate_offer(&self.offer)?;
        let found = self.leases.len().max(self.logs.len());
        if found > LEASES_MAX {
            return Err(invalid(format!("{found} leases or logs, expected up to {LEASES_MAX}")));
        }
        engine.inner.logs.publish(&self.logs)?;
        let mut renewals = engine.inner.schedule().renew(&self.offer, &self.leases, now());
        for renewal in &mut renewals {
            renewal.is_watched = engine.inner.logs.is_watched(&renewal.run_id);
        }
        Ok(renewals)
    }
}

/// Claims the lease of one run for a person's command. [`EngineError::Busy`] names the holder of a
/// lease that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The run.
    pub run_id: String,
    /// A unique name. The holder of the lease gets it again, for instance because the first answer was
    /// lost.
    pub holder: String,
    /// Whether to ask the present holder to stop; claim again afterwards.
    pub recall: bool,
}

impl Operation for Claim {
    const PATH: &'static str = "/v1/claim";
    type Answer = Lease;

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Lease, EngineError> {
        let Claim { run_id, holder, recall } = self;
        let inner = &engine.inner;
        validate_name("the holder", holder)?;
        let end = Instant::now() + CLAIM_WAIT;
        loop {
            let changed = inner.work.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let met = inner.schedule().claim(run_id, holder, *recall, now());
            match met {
                None => {
                    let missing = run_id.clone();
                    let found =
                        engine.through(|inner| async move { inner.restore(&missing).await });
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
                    engine
                        .through(|inner| async move { inner.expire(&run_id, epoch).await })
                        .await?;
                }
                Some(Claimed::Free) => {
                    let (run_id, holder) = (run_id.clone(), holder.clone());
                    match engine.through(|inner| inner.give(run_id, holder)).await {
                        // The run has just been archived.
                        Err(EngineError::NotFound { .. }) => {}
                        given => return given.map(|assignment| assignment.lease),
                    }
                }
            }
        }
    }
}

/// Ends a lease and sets the state of the run. A lease that has already ended changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The run.
    pub run_id: String,
    /// The lease.
    pub epoch: u64,
    /// The state of the run.
    pub state: QueueState,
}

impl Operation for Release {
    const PATH: &'static str = "/v1/release";
    type Answer = ();

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<(), EngineError> {
        let Release { run_id, epoch, state } = self.clone();
        engine
            .through(|inner| async move {
                let end = Change::EndLease { epoch, state: Some(state) };
                let released = inner.storage.change(&run_id, &end).await;
                if matches!(released, Err(EngineError::NotFound { .. }))
                    && inner.archived(&run_id).await?.is_some()
                {
                    // An archived run is finished, so its lease has ended.
                    return Ok(());
                }
                inner.put(inner.judge(&run_id, released)?);
                Ok(())
            })
            .await
    }
}

/// Appends lines to the journal of a run, after the last line that the writer knows. Lines that the
/// journal already has count as written; lines that do not chain are refused.
///
/// [`EngineError::Conflict`]: the journal has another end. [`EngineError::Fenced`]: the lease has been
/// replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The run.
    pub run_id: String,
    /// The lease of the driver; `None`: a person's decision, which is valid after the line that the
    /// person has seen.
    pub epoch: Option<u64>,
    /// The last line that the writer knows; `None`: the journal is empty.
    pub after: Option<Head>,
    /// Whole lines, each with its line break.
    pub lines: String,
}

impl Operation for Append {
    const PATH: &'static str = "/v1/append";
    type Answer = Head;

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Head, EngineError> {
        let append = self.clone();
        engine
            .through(|inner| async move {
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
}

/// Reads the journal after a line. The call waits until there are more lines or the state of the run
/// changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadJournal {
    /// The run.
    pub run_id: String,
    /// The last line that the caller has.
    pub after: u64,
    /// Longest wait for more lines, in milliseconds.
    pub wait_ms: u64,
}

impl ReadJournal {
    /// Reads the present journal of a run.
    pub fn now(run_id: &str) -> ReadJournal {
        ReadJournal { run_id: run_id.to_owned(), after: 0, wait_ms: 0 }
    }
}

/// A part of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// The lines; empty: there are no more yet.
    pub lines: String,
    /// The status of the run.
    pub view: RunView,
}

impl Operation for ReadJournal {
    const PATH: &'static str = "/v1/journal";
    type Answer = Lines;

    fn wait(&self) -> Duration {
        bounded(self.wait_ms)
    }

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Lines, EngineError> {
        let (run, after, inner) = (self.run_id.as_str(), self.after, &engine.inner);
        let end = Instant::now() + self.wait();
        let mut first: Option<RunView> = None;
        loop {
            let changed = inner.lines.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let known = inner.schedule().record(run).cloned();
            let Some(record) = known else {
                return inner.archived_lines(run, after, end).await;
            };
            if record.head.as_ref().is_some_and(|head| head.seq > after) {
                match inner.storage.read(run, after).await {
                    Ok((lines, record)) => return Ok(Lines { lines, view: record.view() }),
                    // The run has just been archived.
                    Err(EngineError::NotFound { .. }) => {
                        inner.schedule().remove(run);
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            let view = record.view();
            let is_changed = *first.get_or_insert_with(|| view.clone()) != view;
            if is_changed || timeout_at(end.into(), changed).await.is_err() {
                return Ok(Lines { lines: String::new(), view });
            }
        }
    }
}

/// Lists runs, the newest first, workers and accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadOverview {}

impl Operation for ReadOverview {
    const PATH: &'static str = "/v1/overview";
    type Answer = Overview;

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Overview, EngineError> {
        Ok(engine.inner.schedule().overview(now()))
    }
}

/// Reads the tail of the running attempt's log; `None`: there is no newer one within the wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadLog {
    /// The run.
    pub run_id: String,
    /// The number of the previous answer; 0: there was none.
    pub seen: u64,
    /// Longest wait for another tail, in milliseconds.
    pub wait_ms: u64,
}

impl Operation for ReadLog {
    const PATH: &'static str = "/v1/log";
    type Answer = Option<NumberedLogTail>;

    fn wait(&self) -> Duration {
        bounded(self.wait_ms)
    }

    async fn perform<S: Storage>(&self, engine: &Engine<S>) -> Result<Self::Answer, EngineError> {
        Ok(engine.inner.logs.read(&self.run_id, self.seen, self.wait()).await)
    }
}

fn bounded(wait_ms: u64) -> Duration {
    Duration::from_millis(wait_ms).min(WAIT_MAX)
}

fn validate_offer(offer: &Offer) -> Result<(), EngineError> {
    validate_name("the worker", &offer.worker)?;
    if offer.repositories.len() > REPOSITORIES_MAX {
        let found = offer.repositories.len();
        return Err(invalid(format!("{found} repositories, expected up to {REPOSITORIES_MAX}")));
    }
    Ok(())
}
