//! The durable storage of an engine.

use serde::{Deserialize, Serialize};

use super::archive::ArchivedRun;
use super::{Append, Appended, EngineError, QueueState, RunRecord, Submission};

/// A change of one run's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// Adds a new run.
    Submit {
        /// The run.
        run: Box<Submission>,
        /// Time when the server accepted it, in milliseconds since 1970.
        queued_ms: u64,
    },
    /// Begins the next lease.
    Lease {
        /// The new holder.
        holder: String,
    },
    /// Ends a lease.
    EndLease {
        /// The lease.
        epoch: u64,
        /// The holder's report; `None`: the holder has sent no heartbeat for too long.
        state: Option<QueueState>,
    },
    /// Changes nothing and returns the record after all earlier changes.
    None,
}

impl Change {
    /// Applies the change to the record of the run `run_id`.
    ///
    /// # Errors
    ///
    /// Why it is refused.
    pub(crate) fn apply(
        &self,
        run_id: &str,
        record: Option<RunRecord>,
    ) -> Result<RunRecord, EngineError> {
        if let Change::Submit { run, queued_ms } = self {
            return match record {
                Some(record) => record.demand_same(run).map(|()| record),
                None => RunRecord::begin(run, *queued_ms),
            };
        }
        let not_found = || EngineError::NotFound { run_id: run_id.to_owned() };
        let mut record = record.ok_or_else(not_found)?;
        match self {
            Change::Lease { holder } => record.lease(holder)?,
            Change::EndLease { epoch, state } => record.end_lease(*epoch, state.clone()),
            Change::Submit { .. } | Change::None => {}
        }
        Ok(record)
    }
}

/// A durable store. Each call is atomic, is durable before its answer, and may be repeated. Calls about
/// one run are serialized.
pub trait Storage: Send + Sync + 'static {
    /// Changes the record of a run; returns the record afterwards.
    fn change(
        &self,
        run_id: &str,
        change: &Change,
    ) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
    /// Appends lines to a journal.
    fn append(&self, append: &Append)
    -> impl Future<Output = Result<Appended, EngineError>> + Send;
    /// Returns the whole lines after line `after`, and the record.
    fn read(
        &self,
        run_id: &str,
        after: u64,
    ) -> impl Future<Output = Result<(String, RunRecord), EngineError>> + Send;
    /// Returns all records.
    fn all(&self) -> impl Future<Output = Result<Vec<RunRecord>, EngineError>> + Send;
    /// Returns the submission of a run.
    fn submission(
        &self,
        run_id: &str,
    ) -> impl Future<Output = Result<Submission, EngineError>> + Send;
    /// Deletes a finished run if its record still has this version; returns whether it did.
    fn forget(
        &self,
        run_id: &str,
        version: u64,
    ) -> impl Future<Output = Result<bool, EngineError>> + Send;
    /// Stores a deleted run again.
    fn restore(
        &self,
        run: &ArchivedRun,
    ) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
}
