//! `onloop run`: begin a run of a workflow file and conduct it.

use crate::effect::{Exit, Io};
use crate::engine::error::CommandError;
use crate::engine::run_workflow::run_workflow;
pub use crate::engine::run_workflow::{ConductedOn, RunArgs, no_fleet};

/// `onloop run`.
///
/// # Errors
///
/// The run cannot begin or continue.
pub async fn run(io: &Io, args: &RunArgs) -> Result<Exit, CommandError> {
    run_workflow(io, args).await
}
