//! Driving a run: only one process at a time does.

use crate::error::CommandError;
use crate::run::decider::decider;
use crate::state::remote_owner::is_fleets;
use crate::state::store::{Paths, Store};
use onloop_documents::board::Driving;
use onloop_effect::{Io, LockHolder, OptionalExt, ProcessRole};
use onloop_run::{DecisionChannel, Event, Run, RunStatus};

/// Becomes the only process that drives the run, and takes over what was recorded until then.
pub async fn drive_alone(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    let lock = store.paths().driver_lock();
    let Err(failure) = io.lock_to_drive(&lock, &store.run().id).await else {
        // The driver until now may have continued or ended it.
        let Err(error) = store.look_again().await else { return Ok(()) };
        let _ = io.unlock(&lock).await;
        return Err(error.into());
    };
    let id = &store.run().id;
    if !failure.is_busy() {
        let what = format!("run `{id}` cannot be locked");
        return Err(CommandError::from(failure).context(what));
    }
    let error = CommandError::from(failure).context(format!("another onloop works on run `{id}`"));
    Err(match io.holder(&lock).await {
        Ok(Some(holder)) if holder.live => or_stop("wait until it is done, or", id, &holder, error),
        // Of another machine nothing is known.
        Ok(_) | Err(_) => error.fix("wait for it, or end it there").fix_by(
            "if that machine is lost, take the run over",
            format!("onloop resume {id} --take-over --reason 'machine lost'"),
        ),
    })
}

/// Does `work` as the only process that drives the run, and lets others drive it afterwards.
pub async fn while_driving<T>(
    io: &Io,
    store: &mut Store,
    work: impl AsyncFnOnce(&mut Store) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    drive_alone(io, store).await?;
    let lock = store.paths().driver_lock();
    let done = work(store).await;
    // A lock that cannot be released ends with this process.
    let _ = io.unlock(&lock).await;
    done
}

/// `error` with what stops the driver of a run. A process that does other things besides is not signalled.
fn or_stop(first: &str, id: &str, holder: &LockHolder, error: CommandError) -> CommandError {
    let LockHolder { process, role, live: _ } = holder;
    match role.and_then(ProcessRole::place) {
        None => error.fix_by(format!("{first} stop it"), format!("onloop stop {id}")),
        Some(place) => error.fix(format!("{first} stop it in {place} (process {})", process.pid)),
    }
}

/// The other process on this machine that drives a run.
pub(crate) async fn driver_of(io: &Io, paths: &Paths) -> Option<LockHolder> {
    let holder = io.holder(&paths.driver_lock()).await.ok().flatten()?;
    (holder.live && holder.process != io.start().process).then_some(holder)
}

/// Refuses a change from outside while another process drives the run: it would be told that its
/// record had changed under it.
pub async fn demand_undriven(io: &Io, store: &Store) -> Result<(), CommandError> {
    let Some(holder) = driver_of(io, store.paths()).await else { return Ok(()) };
    let (id, pid) = (&store.run().id, holder.process.pid);
    Err(CommandError::refused(format!(
        "process {pid} drives run `{id}` and records what happens in it"
    ))
    .fix("an agent in its turn does the work and ends")
    .fix_by("a person can watch", format!("onloop status {id}")))
}

/// Whether a run that is driven has no driver any more: its process was killed, or the power went.
pub(crate) fn is_orphaned(io: &Io, run: &Run, driver: Option<&LockHolder>) -> bool {
    let is_here = |holder: &LockHolder| holder.process.host == io.start().process.host;
    has_driver_to_lose(run) && driver.is_some_and(|holder| !holder.live && is_here(holder))
}

/// Whether a process drives the run unless it was killed.
fn has_driver_to_lose(run: &Run) -> bool {
    run.status == RunStatus::Running || run.pull_request_is_due()
}

/// Who drives the run, whose driver lock has this holder.
pub(crate) fn driving(io: &Io, run: &Run, holder: Option<&LockHolder>) -> Driving {
    match holder {
        None => Driving::Nobody,
        Some(LockHolder { process, live: true, role: _ }) => Driving::Here { process: process.pid },
        Some(_) if is_orphaned(io, run, holder) => Driving::Killed,
        Some(_) => Driving::Elsewhere,
    }
}

/// Who drives the run. A fleet says nothing about that.
pub async fn driving_of(io: &Io, store: &Store) -> Driving {
    if is_fleets(io, store.paths()).await {
        return Driving::Elsewhere;
    }
    let holder = io.holder(&store.paths().driver_lock()).await.ok().flatten();
    driving(io, store.run(), holder.as_ref())
}

/// Takes the run from its driver. Its lock goes, and whatever it still wants to record
/// is refused because the record has changed.
pub(crate) async fn take_over(
    io: &Io,
    store: &mut Store,
    reason: &str,
) -> Result<(), CommandError> {
    let lock = store.paths().driver_lock();
    if let Ok(Some(holder)) = io.holder(&lock).await
        && holder.live
    {
        let (id, pid) = (&store.run().id, holder.process.pid);
        let error = CommandError::refused(format!(
            "process {pid} works on run `{id}`, and it is alive on this machine"
        ));
        let error = error.because("only a run whose process is gone is taken over");
        return Err(or_stop("first", id, &holder, error));
    }
    let removed = io.remove(&lock).await.optional();
    removed.map_err(|f| CommandError::from(f).context("the run could not be taken over"))?;
    drive_alone(io, store).await?;
    let by = decider(io, DecisionChannel::Command);
    Ok(store.apply_by(Event::TakenOver { reason: reason.to_owned() }, Some(by))?)
}
