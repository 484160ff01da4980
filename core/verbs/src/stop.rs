//! `onloop stop`: interrupts the process that drives a run, from anywhere on the machine.

use onloop_auto::documents::{AutoDocument, LockPayload};
use onloop_auto::{LOCK_PATH, STATE_PATH};
use onloop_effect::{Exit, Io, LockHolder, OptionalExt, ProcessRole};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::advice::next_commands;
use onloop_engine::run::background::driver_to_stop;
use onloop_engine::run::decider::demand_person;
use onloop_engine::run::forks;
use onloop_engine::state::auto_runs::{self, AutoRun};
use onloop_engine::state::store::Store;
use onloop_syntax::limits;

/// How often it is looked whether the driver has ended, and for how long.
const LOOK_EVERY_MS: u64 = 50;
const LOOKS: u32 = 300;

/// Arguments of `onloop stop`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StopArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// End its process at once, as a second Ctrl-C does
    #[arg(long)]
    pub now: bool,
}

/// `onloop stop`.
///
/// # Errors
///
/// An agent calls, there is no such run, or no process of its own drives it on this machine. Of a run
/// of rw-auto that was killed: something that its child left still runs.
pub(crate) async fn stop(io: &Io, args: &StopArgs) -> Result<Exit, CommandError> {
    demand_person(io, "stopping a run").await?;
    if let Some(name) = args.run.as_deref()
        && let Some(found) = auto_runs::named(io, name).await
    {
        return stop_auto(io, &found, args.now).await;
    }
    let store = open(io, args.run.as_deref(), Fitting::OnlyUnfinished).await?;
    let id = store.run().id.clone();
    match interrupt(io, &store, args.now).await {
        // What works beside the driver of a run outlives it.
        Err(_) if forks::stop(io, store.run()).await > 0 => {}
        interrupted => interrupted?,
    }
    for _ in 0..LOOKS {
        if driver_to_stop(io, &store).await.is_err() {
            io.result(format!("run {id} is stopped\n")).await;
            let store = open(io, Some(&id), Fitting::Latest).await?;
            if !store.run().is_over() {
                io.note(next_commands(store.run())).await;
            }
            return Ok(Exit::Done);
        }
        io.sleep(LOOK_EVERY_MS).await?;
    }
    Err(CommandError::failed(format!("the driver of run `{id}` was interrupted and still runs"))
        .fix_by("end it at once", format!("onloop stop {id} --now")))
}

/// Interrupts a run of rw-auto; of one that was killed, ends what its child left.
async fn stop_auto(io: &Io, found: &AutoRun, now: bool) -> Result<Exit, CommandError> {
    let id = found.id();
    let Some(LockHolder { process, role, .. }) = found.process.clone() else {
        give_up(io, found).await?;
        io.result(format!("run {id} is stopped\n")).await;
        return Ok(Exit::Done);
    };
    if let Some(place) = role.and_then(ProcessRole::place) {
        let pid = process.pid;
        let what = format!("run `{id}` is driven by {place} (process {pid})");
        return Err(CommandError::refused(what).fix("stop it there"));
    }
    match io.interrupt(process, now).await {
        Err(failure) if !failure.is_not_found() => return Err(failure.into()),
        // It may have ended by itself meanwhile.
        Ok(()) | Err(_) => {}
    }
    for _ in 0..LOOKS {
        match auto_runs::named(io, id).await {
            Some(found) if found.process.is_some() => io.sleep(LOOK_EVERY_MS).await?,
            left => {
                if let Some(killed) = left {
                    give_up(io, &killed).await?;
                }
                io.result(format!("run {id} is stopped\n")).await;
                return Ok(Exit::Done);
            }
        }
    }
    Err(CommandError::failed(format!("run `{id}` was interrupted and still runs"))
        .fix_by("end it at once", format!("onloop stop {id} --now")))
}

/// Ends what is left of a run of rw-auto that no process drives, and removes what its host would resume
/// and its lock, which would keep the next one waiting.
async fn give_up(io: &Io, killed: &AutoRun) -> Result<(), CommandError> {
    killed.give_up(io).await?;
    let path = format!("{}/{STATE_PATH}", killed.folder());
    if let Ok((bytes, _)) = io.read(&path, limits::AUTO_FILE_BYTES).await
        && AutoDocument::read(&bytes).is_ok_and(|auto| auto.assignment().run == killed.id())
    {
        io.remove(&path).await.optional()?;
    }
    let path = format!("{}/{LOCK_PATH}", killed.folder());
    if let Ok((bytes, _)) = io.read(&path, limits::AUTO_LOCK_BYTES).await
        && LockPayload::of(&String::from_utf8_lossy(&bytes), killed.id()).is_some()
    {
        io.remove(&path).await.optional()?;
    }
    Ok(())
}

/// Interrupts the driver of a run, and does not wait for its end.
///
/// # Errors
///
/// Those of [`driver_to_stop`], and of the system.
pub async fn interrupt(io: &Io, store: &Store, now: bool) -> Result<(), CommandError> {
    let process = driver_to_stop(io, store).await?;
    match io.interrupt(process, now).await {
        // It has ended by itself meanwhile.
        Err(failure) if failure.is_not_found() => Ok(()),
        interrupted => Ok(interrupted?),
    }
}
