//! `onloop prepare FILE`: preflight alone, for an agent that drives the run itself.

use crate::init::warn_of_unfinished;
use onloop_documents as documents;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::preflight::preflight;
use onloop_engine::run::begin::{demand_platform, read_plan};
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
pub(crate) async fn prepare(io: &Io, args: &PrepareArgs) -> Result<Exit, CommandError> {
    let plan = read_plan(io, &args.file).await.map_err(CommandError::step_by_step)?;
    demand_platform(io, &plan).map_err(CommandError::step_by_step)?;
    let flags = PreflightFlags {
        mode: args.mode,
        branch: args.branch.clone(),
        stash: args.stash,
        on_existing: args.on_existing,
        ..PreflightFlags::default()
    };
    let prepared = preflight(io, &plan, &args.file, &flags).await;
    let prepared = prepared.map_err(CommandError::step_by_step)?;
    warn_of_unfinished(io, &prepared.source_workflow_path).await;
    io.result(documents::prepared::render(&prepared, &args.executor_mode) + "\n").await;
    Ok(Exit::Done)
}
