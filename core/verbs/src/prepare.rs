//! `onloop prepare FILE`: preflight alone, for an agent that drives the run itself.

use onloop_documents as documents;
use onloop_effect::{Exit, Io};
use onloop_engine::begin::read_plan;
use onloop_engine::exit::step_by_step;
use onloop_engine::preflight::preflight;
use onloop_run::preflight::{IsolationMode, OnExisting, PreflightFlags};

/// Arguments of `onloop prepare`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PrepareArgs {
    /// Workflow file
    pub file: String,
    /// Name of the way the run is executed; repeated in the result
    #[arg(long, value_name = "MODE", default_value = "loop")]
    pub executor_mode: String,
    /// Where to work, instead of what the file says
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<IsolationMode>,
    /// Branch to work on, instead of what the file says
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Stash uncommitted files that are in the way
    #[arg(long)]
    pub stash: bool,
    /// What to do when the branch or worktree already exists
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub on_existing: Option<OnExisting>,
}

/// `onloop prepare`: prints the execution root and what belongs to it as JSON.
pub async fn prepare(io: &Io, args: &PrepareArgs) -> Exit {
    let plan = match read_plan(io, &args.file).await {
        Ok(plan) => plan,
        Err(exit) => return step_by_step(exit),
    };
    let flags = PreflightFlags {
        mode: args.mode,
        branch: args.branch.clone(),
        stash: args.stash,
        on_existing: args.on_existing,
    };
    match preflight(io, &plan, &args.file, &flags).await {
        Ok(prepared) => {
            io.result(documents::prepared::render(&prepared, &args.executor_mode) + "\n").await;
            Exit::Done
        }
        Err(exit) => step_by_step(exit),
    }
}
