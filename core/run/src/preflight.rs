//! Where a run may work: facts about a repository in, a decision out.
//!
//! [`decide`] is pure. `onloop_engine::preflight::preflight` gathers the facts, puts the questions to
//! the person at the terminal and carries the decision out. The table of decisions is in
//! `docs/preflight.md`, and a test keeps the two equal.

mod artefacts;
mod decide;
mod facts;
mod prepared;
mod refusal;
mod wish;

pub use artefacts::foreign_paths;
pub use decide::{
    ExecutionRoot, Placement, PlacementDecision, RepositoryChange, decide, worktree_path,
};
pub use facts::*;
pub use prepared::Prepared;
pub use refusal::{
    PlacementAnswer, PlacementChoice, PlacementQuestion, PlacementRefusal, RefusalCode, Remedy,
};
pub use wish::{IsolationMode, OnExisting, PlacementWish, PreflightFlags};
