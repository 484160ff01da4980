//! `onloop run`: begin a run of a workflow file, drive it, and ask what becomes of its work.

use crate::completion::complete;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::start::run_workflow;
pub use onloop_engine::run::start::{RunArgs, RunsOn, no_fleet};

/// `onloop run`.
///
/// # Errors
///
/// The run cannot begin or continue, or what becomes of its work cannot be carried out.
pub async fn run(io: &Io, args: &RunArgs) -> Result<Exit, CommandError> {
    let end = run_workflow(io, args).await?;
    complete(io, end, &args.drive).await
}
