//! What an engine is made of: whoever keeps the records of runs durably.

use super::archive::ArchivedRun;
use super::{Append, Appended, EngineError, Release, RunRecord, Submission};

/// What is kept durably, and how. Each call is atomic, is durable once it has answered, and may be
/// repeated; those about one run happen one after the other.
pub trait Records: Send + Sync + 'static {
    /// Takes a new run.
    fn submit(
        &self,
        run: &Submission,
        now_ms: u64,
    ) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
    /// Gives out the next lease of a run that nobody has.
    fn lease(
        &self,
        run_id: &str,
        holder: &str,
    ) -> impl Future<Output = Result<(RunRecord, Submission), EngineError>> + Send;
    /// Ends a lease whose holder has not been heard of.
    fn expire(
        &self,
        run_id: &str,
        epoch: u64,
    ) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
    /// Ends a lease for its holder.
    fn release(
        &self,
        release: &Release,
    ) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
    /// Adds lines to a journal.
    fn append(&self, append: &Append)
    -> impl Future<Output = Result<Appended, EngineError>> + Send;
    /// The whole lines behind line `after`.
    fn read(
        &self,
        run_id: &str,
        after: u64,
    ) -> impl Future<Output = Result<(String, RunRecord), EngineError>> + Send;
    /// How a run stands once everything has happened that was asked for before.
    fn settle(&self, run_id: &str) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
    /// How every run stands.
    fn all(&self) -> impl Future<Output = Result<Vec<RunRecord>, EngineError>> + Send;
    /// What was submitted.
    fn submission(
        &self,
        run_id: &str,
    ) -> impl Future<Output = Result<Submission, EngineError>> + Send;
    /// Keeps nothing of a run any more that is finished and still stands as `version` says; whether it did.
    fn forget(
        &self,
        run_id: &str,
        version: u64,
    ) -> impl Future<Output = Result<bool, EngineError>> + Send;
    /// Keeps a run again that was forgotten.
    fn restore(
        &self,
        run: &ArchivedRun,
    ) -> impl Future<Output = Result<RunRecord, EngineError>> + Send;
}
