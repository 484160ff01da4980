//! Why a record could not be opened or changed.

use onloop_effect::Failure;
use onloop_run::Refusal;

/// Why a record could not be opened or changed.
#[derive(Debug)]
pub enum StoreError {
    /// There is no such record.
    Missing,
    /// The ledger is damaged, or of a newer onloop.
    Unreadable(String),
    /// The host could not do it.
    Failed(Failure),
    /// Another process changed the record, and what was to be added no longer fits.
    Overtaken(Refusal),
    /// The ledger is not the one that this process wrote to. What it knew is in `saved`.
    Changed {
        /// What is wrong with the ledger, with its path.
        why: String,
        /// The file that holds what was known.
        saved: String,
    },
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Missing => f.write_str("there is no such record"),
            StoreError::Unreadable(why) => f.write_str(why),
            StoreError::Failed(failure) => write!(f, "{failure}"),
            StoreError::Overtaken(refusal) => {
                write!(f, "another process changed the run in the meantime: {refusal}")
            }
            StoreError::Changed { why, saved } => write!(
                f,
                "something other than onloop changed the ledger: {why}\n  It was left as it is. \
                 Everything that was known about the run is in\n  {saved}"
            ),
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        StoreError::Failed(failure)
    }
}
