//! `onloop finalize`: close the record of a run that an agent drove step by step.

use onloop_documents as documents;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::change::{change, demand_running};
use onloop_engine::run::checkpoint::{checkpoint_and_commit, checkpoint_end, snapshot_work};
use onloop_engine::run::checks::{CheckOptions, repeat_checks};
use onloop_engine::run::decider::demand_person;
use onloop_engine::run::driver_lock::{demand_undriven, while_driving};
use onloop_engine::run::review::review_driven;
use onloop_engine::state::store::Store;
use onloop_run::{Event, Next};

/// Arguments of `onloop finalize`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FinalizeArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Print JSON; this is what happens anyway
    #[arg(long)]
    pub json: bool,
}

/// `onloop finalize`: repeats the checks, ends the run and prints its summary.
pub(crate) async fn finalize(io: &Io, args: &FinalizeArgs) -> Result<Exit, CommandError> {
    end(io, args).await.map_err(CommandError::step_by_step)?;
    Ok(Exit::Done)
}

async fn end(io: &Io, args: &FinalizeArgs) -> Result<(), CommandError> {
    let mut store = open(io, args.run.as_deref(), Fitting::Unfinished).await?;
    demand_undriven(io, &store).await?;
    if !store.run().is_over() {
        // Two who repeat the checks at once disturb each other, and one of them may find what the
        // other does not.
        while_driving(io, &mut store, async |store| repeat_and_end(io, store).await).await?;
    } else if store.run().may_be_handed_on() {
        verify_again(io, &mut store).await?;
    }
    // An agent may have ticked a box itself, or the power gone before we did.
    for line in store.repair_mirrors().await {
        io.note(line).await;
    }
    io.result(format!("{:#}\n", documents::summary::summary(store.run()))).await;
    Ok(())
}

/// Repeats the checks of a run without another driver, and ends it.
async fn repeat_and_end(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    if store.run().is_over() {
        return Ok(());
    }
    if matches!(store.run().next(), Next::Review { step: None } | Next::Repeat) {
        demand_running(store.run(), "its checks can be repeated")?;
    }
    if store.run().next() == (Next::Review { step: None }) {
        review_driven(io, store, None).await?;
    }
    if store.run().next() == Next::Repeat {
        let repeated = repeat(io, store).await?;
        change(io, store, repeated).await?;
    }
    if store.run().next() == Next::Finalize {
        checkpoint_and_commit(io, store, async |io, store| checkpoint_end(io, store).await).await?;
    }
    change(io, store, Event::RunFinalized).await
}

/// Repeats the checks of a completed run on what is there now, where that is not what was verified.
async fn verify_again(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    if !is_changed(io, store).await {
        return Ok(());
    }
    // The files may be others than those that a person approved.
    demand_person(io, "verifying other work than before").await?;
    while_driving(io, store, async |store| repeat_and_keep(io, store).await).await
}

/// Whether the files are others than those that were verified last. Outside a repository that
/// is unknown, and the work is not handed on.
async fn is_changed(io: &Io, store: &Store) -> bool {
    let run = store.run();
    if run.place.repo_root.is_none() {
        return false;
    }
    match (snapshot_work(io, store).await, run.verified_checkpoint()) {
        (Ok(seen), Some(verified)) => seen.tree != verified.tree,
        (Ok(_), None) => true,
        (Err(_), _) => false,
    }
}

/// Repeats the checks; what came of it is to be recorded.
async fn repeat(io: &Io, store: &mut Store) -> Result<Event, CommandError> {
    let options = CheckOptions::step_by_step(io, store.run()).await?;
    let repeated = repeat_checks(io, store, &options).await;
    options.end(io).await;
    repeated?.ok_or_else(CommandError::interrupted)
}

async fn repeat_and_keep(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    let repeated = repeat(io, store).await?;
    let failed =
        matches!(&repeated, Event::ChecksRepeated { failures, .. } if !failures.is_empty());
    change(io, store, repeated).await?;
    if failed {
        let resume = format!("onloop resume {}", store.run().id);
        return Err(CommandError::failed("not every check still passes, and the run is blocked")
            .fix_by("fix the cause, then continue", resume));
    }
    checkpoint_and_commit(io, store, async |io, store| checkpoint_end(io, store).await).await
}
