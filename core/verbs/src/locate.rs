//! `onloop locate`: every run that can be found from here, as JSON.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::runs::{Found, find_all, is_of};
use onloop_run::RunStatus;
use serde_json::Value;

/// Arguments of `onloop locate`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LocateArgs {
    /// Only runs of this workflow file
    #[arg(long, value_name = "FILE")]
    pub workflow: Option<String>,
    /// Only this run
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Finished runs as well
    #[arg(long)]
    pub all: bool,
}

/// `onloop locate`: the runs that can be found, as a JSON array, newest change first. A
/// damaged record is listed with what is wrong with it.
pub(crate) async fn locate(io: &Io, args: &LocateArgs) -> Result<Exit, CommandError> {
    let file = match &args.workflow {
        None => None,
        Some(file) => Some(io.canonical(file).await.unwrap_or_else(|_| file.clone())),
    };
    let mut found = find_all(io).await;
    found.retain(|found| {
        let Ok(run) = found.run() else {
            return args.run_id.as_ref().is_none_or(|id| *id == found.id);
        };
        (args.all || !matches!(run.status, RunStatus::Completed | RunStatus::Abandoned))
            && args.run_id.as_ref().is_none_or(|id| *id == run.id)
            && file.as_deref().is_none_or(|file| is_of(run, file))
    });
    let entries: Value = found.iter().map(Found::document).collect();
    io.result(format!("{entries:#}\n")).await;
    Ok(Exit::Done)
}
