//! `onloop run`: begin a run of a workflow file and drive it.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::start::run_workflow;
pub use onloop_engine::run::start::{RunArgs, RunsOn, no_fleet};

/// `onloop run`.
///
/// # Errors
///
/// The run cannot begin or continue.
pub async fn run(io: &Io, args: &RunArgs) -> Result<Exit, CommandError> {
    run_workflow(io, args).await
}
