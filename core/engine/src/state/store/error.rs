//! Why a record could not be opened or changed.

use onloop_effect::Failure;
use onloop_run::Refusal;

/// Why a record could not be opened or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such record.
    #[error("there is no such record")]
    Missing,
    /// The ledger is damaged, or of a newer onloop.
    #[error("{0}")]
    Unreadable(String),
    /// The host could not do it.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// Another process changed the record, and what was to be added no longer fits.
    #[error("another process changed the run in the meantime: {0}")]
    Overtaken(Refusal),
    /// The ledger is not the one that this process wrote to. What it knew is in `saved`.
    #[error(
        "something other than onloop changed the ledger: {why}; what was known is in `{saved}`"
    )]
    Changed {
        /// What is wrong with the ledger, with its path.
        why: String,
        /// The file that holds what was known.
        saved: String,
    },
}
