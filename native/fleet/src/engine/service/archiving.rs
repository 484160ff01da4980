//! Moves old finished runs to the archive, and back when a caller changes one. If a power cut leaves a
//! run in both places, the engine's copy counts and the file is written again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onloop_core::time::Timestamp;
use serde_json::Value;
use tokio::time::{sleep, sleep_until};
use tracing::error;

use super::{Inner, now};
use crate::engine::archive::{Archive, ArchivedRun};
use crate::engine::{EngineError, Lines, Storage};

/// Pause between two searches for old runs.
const LOOK: Duration = Duration::from_secs(60 * 60);

/// Pause before a run that could not be archived is tried again, in milliseconds. Each failure is
/// logged.
const AGAIN_MS: u64 = 24 * 60 * 60 * 1000;

/// The result of archiving a run.
enum Archived {
    /// It is archived, or the engine does not have it.
    Done,
    /// It is too early: the run finished at this time, in milliseconds since 1970.
    TooEarly(u64),
}

impl<S: Storage> Inner<S> {
    /// Returns a run that only the archive has.
    pub(in crate::engine) async fn archived(
        &self,
        run_id: &str,
    ) -> Result<Option<ArchivedRun>, EngineError> {
        let Some(archive) = self.archive.clone() else { return Ok(None) };
        if self.schedule().record(run_id).is_some() {
            return Ok(None);
        }
        let run_id = run_id.to_owned();
        in_background(move || archive.read(&run_id)).await
    }

    /// Returns lines of an archived run. The journal does not grow, so a caller that waits for more
    /// waits until `end`.
    pub(in crate::engine) async fn archived_lines(
        &self,
        run_id: &str,
        after: u64,
        end: Instant,
    ) -> Result<Lines, EngineError> {
        let Some(run) = self.archived(run_id).await? else {
            return Err(EngineError::NotFound { run_id: run_id.to_owned() });
        };
        let lines = run.lines_after(after);
        if lines.is_empty() {
            sleep_until(end.into()).await;
        }
        Ok(Lines { lines, view: run.record.view() })
    }

    /// Restores an archived run; returns whether the engine has it now.
    pub(in crate::engine) async fn restore(&self, run_id: &str) -> Result<bool, EngineError> {
        let _alone = self.moving.write().await;
        if let Some(run) = self.archived(run_id).await? {
            self.put(self.storage.restore(&run).await?);
        }
        Ok(self.schedule().record(run_id).is_some())
    }

    /// Archives finished runs that are old enough.
    pub(super) async fn archive_what_is_old(self: Arc<Self>, archive: Archive) {
        let after_ms = u64::try_from(archive.after.as_millis()).unwrap_or(u64::MAX);
        let mut not_before: BTreeMap<String, u64> = BTreeMap::new();
        loop {
            let now_ms = now().wall_ms;
            not_before.retain(|_, at_ms| *at_ms > now_ms);
            let before_ms = now_ms.saturating_sub(after_ms);
            let mut old = self.schedule().finished_before(before_ms);
            old.retain(|run_id| !not_before.contains_key(run_id));
            for run_id in old {
                match self.archive(&archive, &run_id, before_ms).await {
                    Ok(Archived::Done) => {}
                    Ok(Archived::TooEarly(over_ms)) => {
                        not_before.insert(run_id, over_ms.saturating_add(after_ms));
                    }
                    // The supervisor of the engine reports the failure.
                    Err(EngineError::Unreachable { .. }) => break,
                    Err(error) => {
                        error!("run {run_id} stays in the engine: {error}");
                        not_before.insert(run_id, now_ms.saturating_add(AGAIN_MS));
                    }
                }
            }
            sleep(archive.after.min(LOOK)).await;
        }
    }

    async fn archive(
        &self,
        archive: &Archive,
        run_id: &str,
        before_ms: u64,
    ) -> Result<Archived, EngineError> {
        let _alone = self.moving.write().await;
        if !self.schedule().reserve_finished(run_id) {
            return Ok(Archived::Done);
        }
        let moved = self.move_away(archive, run_id, before_ms).await;
        match moved {
            // An earlier attempt succeeded without an answer.
            Ok(None) | Err(EngineError::NotFound { .. }) => {
                self.schedule().remove(run_id);
                Ok(Archived::Done)
            }
            Ok(Some(_)) | Err(_) => {
                self.schedule().let_go(run_id);
                self.work.notify_waiters();
                moved.map(|over_ms| over_ms.map_or(Archived::Done, Archived::TooEarly))
            }
        }
    }

    /// Archives a reserved run; returns when it finished if that is too early.
    async fn move_away(
        &self,
        archive: &Archive,
        run_id: &str,
        before_ms: u64,
    ) -> Result<Option<u64>, EngineError> {
        let (lines, record) = self.storage.read(run_id, 0).await?;
        let over_ms = lines.lines().next_back().and_then(time_of).unwrap_or(record.queued_ms);
        if over_ms >= before_ms {
            return Ok(Some(over_ms));
        }
        let submission = self.storage.submission(run_id).await?;
        let version = record.version;
        let run = ArchivedRun { record, submission, lines };
        let archive = archive.clone();
        in_background(move || archive.write(&run)).await?;
        let forgotten = self.storage.forget(run_id, version).await;
        match self.judge(run_id, forgotten)? {
            true => Ok(None),
            // It has changed meanwhile, so it is checked again.
            false => Ok(Some(0)),
        }
    }
}

/// Returns the time of a journal line, in milliseconds since 1970.
fn time_of(line: &str) -> Option<u64> {
    let line: Value = serde_json::from_str(line).ok()?;
    let at = Timestamp::parse(line.get("at")?.as_str()?)?;
    at.as_millis().try_into().ok()
}

async fn in_background<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| Err(EngineError::Unreachable { why: error.to_string() }))
}
