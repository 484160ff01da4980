//! `onloop abandon`: a person gives a run up; its record stays.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::change::change_by;
use onloop_engine::run::decider::{decider, demand_person};
use onloop_engine::run::driver_lock::while_driving;
use onloop_engine::run::processes::end_survivors;
use onloop_engine::state::store::Store;
use onloop_run::{DecisionChannel, Event};
use onloop_syntax::text;

/// Arguments of `onloop abandon`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AbandonArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Why; kept in the record
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// `onloop abandon`.
pub(crate) async fn abandon(io: &Io, args: &AbandonArgs) -> Result<Exit, CommandError> {
    let reason = text::one_line(&args.reason);
    if reason.is_empty() {
        return Err(
            CommandError::usage("--reason is empty").fix("say why, for people who read the record")
        );
    }
    demand_person(io, "abandoning a run").await?;
    let mut store = open(io, args.run.as_deref(), Fitting::OnlyUnfinished).await?;
    while_driving(io, &mut store, async |store| end_run(io, store, reason).await).await?;
    let run = store.run();
    io.note(format!("Run {} is abandoned; its record and its work are kept.", run.id)).await;
    io.note(format!("Report: {}", store.paths().report())).await;
    Ok(Exit::Done)
}

/// Ends what a killed onloop left of the run, then the run: nothing may work for it afterwards.
async fn end_run(io: &Io, store: &mut Store, reason: String) -> Result<(), CommandError> {
    end_survivors(io, store.run()).await?;
    let by = Some(decider(io, DecisionChannel::Command));
    change_by(io, store, Event::RunAbandoned { reason }, by).await
}
