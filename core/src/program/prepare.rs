//! `onloop prepare FILE`: preflight alone, for an agent that drives the run itself.

use super::preflight::preflight;
use super::run::read_plan;
use super::{Exit, Io};
use crate::preflight::PreflightFlags;
use crate::wire;

/// Arguments of `onloop prepare`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct PrepareArgs {
    /// Workflow file
    pub file: String,
    /// Name of the way the run is executed; repeated in the result
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODE", default_value = "loop"))]
    pub executor_mode: String,
}

/// `onloop prepare`: prints the execution root and what belongs to it as JSON.
pub async fn prepare(io: &Io, args: &PrepareArgs) -> Exit {
    let plan = match read_plan(io, &args.file).await {
        Ok(plan) => plan,
        Err(exit) => return failed(exit),
    };
    match preflight(io, &plan, &args.file, &PreflightFlags::default()).await {
        Ok(prepared) => {
            io.result(wire::prepared::render(&prepared, &args.executor_mode) + "\n").await;
            Exit::Done
        }
        Err(exit) => failed(exit),
    }
}

/// The step-by-step verbs know one code for everything that went wrong.
fn failed(exit: Exit) -> Exit {
    match exit {
        Exit::Interrupted => Exit::Interrupted,
        Exit::Done | Exit::Failed | Exit::Usage | Exit::Paused | Exit::Refused | Exit::Bug => {
            Exit::Failed
        }
    }
}
