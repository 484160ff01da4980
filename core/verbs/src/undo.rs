//! `onloop undo`: the files of a run as they were at a checkpoint.

use onloop_effect::{Exit, GitRequest, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::change::change_by;
use onloop_engine::run::checkpoint::{CheckpointOutcome, take_checkpoint, unknown_checkpoint};
use onloop_engine::run::decider::{decider, demand_person};
use onloop_engine::run::driver_lock::while_driving;
use onloop_engine::run::forks;
use onloop_engine::run::processes::end_survivors;
use onloop_engine::state::store::Store;
use onloop_run::{Checkpoint, DecisionChannel, Event, Refusal};
use onloop_workflow::graph::step_list;

/// Arguments of `onloop undo`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct UndoArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// The last step, or attempt at one (2-1), to keep; 0: none
    #[arg(value_name = "STEP[-ATTEMPT]")]
    pub step: String,
}

/// `onloop undo`: what is there now is kept first.
pub(crate) async fn undo(io: &Io, args: &UndoArgs) -> Result<Exit, CommandError> {
    demand_person(io, "undoing work").await?;
    let mut store = open(io, args.run.as_deref(), Fitting::OnlyUnfinished).await?;
    let run = store.run();
    if let Some(refusal) = run.has_no_files() {
        return Err(Refusal::from(refusal).into());
    }
    let Some(target) = run.checkpoint_named(&args.step).cloned() else {
        return Err(unknown_checkpoint(run, &args.step));
    };
    while_driving(io, &mut store, async |store| restore(io, store, &target).await).await?;
    Ok(Exit::Done)
}

async fn restore(io: &Io, store: &mut Store, target: &Checkpoint) -> Result<(), CommandError> {
    end_survivors(io, store.run()).await?;
    forks::stop(io, store.run()).await;
    let now = store.run().next_undone();
    match take_checkpoint(io, store, now).await {
        CheckpointOutcome::Taken => {}
        CheckpointOutcome::Interrupted => return Err(CommandError::interrupted()),
        CheckpointOutcome::NoRepository => {
            return Err(unkept(CommandError::refused("it is not in a git repository")));
        }
        CheckpointOutcome::Missed(why) => return Err(unkept(CommandError::refused(why))),
    }
    store.commit().await.map_err(|error| unkept(error.into()))?;
    let request = GitRequest::Restore {
        cwd: store.run().place.execution_root.clone(),
        index: store.paths().index(),
        commit: target.commit.clone(),
        paths: Vec::new(),
        programs: store.run().trusted_programs().map(str::to_owned),
    };
    io.git(request).await?;
    let (id, to) = (store.run().id.clone(), target.moment.name());
    let by = Some(decider(io, DecisionChannel::Command));
    change_by(io, store, Event::WorkRestored { to: to.clone() }, by).await?;
    // The boxes went back with everything else; what is done is in the record.
    if let Some(warning) = store.repair_boxes().await.warning {
        io.note(warning).await;
    }
    let root = &store.run().place.execution_root;
    let line = format!(
        "The files in `{root}` are those of checkpoint {to} again; branch and index did not change."
    );
    io.note_wrapped(&line, 2).await;
    io.note(format!("  This brings back what was there:\n    onloop undo {id} {}", now.name()))
        .await;
    if store.run().may_be_handed_on() {
        io.note(format!(
            "The run is completed. Verify what is there now, before it is merged:\n  \
             onloop finalize --run-id {id}"
        ))
        .await;
    }
    let stale: Vec<u32> = store.run().stale_steps().collect();
    if !stale.is_empty() {
        let steps = step_list(&stale);
        let line = "When the run continues, it verifies again, and does again where a check fails:";
        io.note_wrapped(&format!("{line} {steps}"), 2).await;
    }
    let forked: Vec<u32> = store.run().forked_steps().map(|(step, _)| step).collect();
    if !forked.is_empty() {
        let steps = step_list(&forked);
        io.note(format!("Begun anew when the run continues, in new worktrees: {steps}")).await;
    }
    Ok(())
}

fn unkept(error: CommandError) -> CommandError {
    error.context("nothing was undone, since the present files could not be kept")
}
