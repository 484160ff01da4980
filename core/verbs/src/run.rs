//! `onloop run`: begin a run of a workflow file and conduct it.

use onloop_effect::{Exit, Io};
use onloop_engine::run_workflow::run_workflow;
pub use onloop_engine::run_workflow::{ConductedOn, NO_FLEET, RunArgs};

/// `onloop run`.
pub async fn run(io: &Io, args: &RunArgs) -> Exit {
    run_workflow(io, args).await
}
