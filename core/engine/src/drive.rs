//! Driving a run: only one process at a time does.

use crate::change::apply;
use crate::decide::decider;
use crate::exit::refused_by;
use crate::store::Store;
use onloop_effect::{Exit, Io, LockHolder, OptionalExt, ProcessRole};
use onloop_run::{Door, Event, Run, RunStatus};

/// Becomes the only process that drives the run, and takes over what was recorded until then.
pub async fn drive_alone(io: &Io, store: &mut Store) -> Result<(), Exit> {
    let lock = store.paths().driver_lock();
    let Err(failure) = io.lock_to_drive(&lock, &store.run().id).await else {
        // Whoever drove it until now may have gone on, or ended it.
        let Err(error) = store.look_again().await else { return Ok(()) };
        let _ = io.unlock(&lock).await;
        return Err(refused_by(io, &error).await);
    };
    let id = &store.run().id;
    if !failure.is_busy() {
        io.note(format!("error: run {id}: {failure}")).await;
        return Err(Exit::Refused);
    }
    let advice = match io.holder(&lock).await {
        Ok(Some(holder)) if holder.live => {
            format!("Wait until it is done, or {}", how_to_stop(&holder))
        }
        // Of another machine nothing is known.
        Ok(_) | Err(_) => format!(
            "Wait for it, or end it there. If it cannot be there any more, take the run over:\n    \
             onloop resume {id} --take-over --reason 'machine lost'"
        ),
    };
    io.note(format!("error: another onloop works on run {id}: {failure}\n  {advice}")).await;
    Err(Exit::Refused)
}

/// What stops who drives a run, behind `or`: a process that does other things besides is not signalled.
fn how_to_stop(LockHolder { process, role, live: _ }: &LockHolder) -> String {
    match role.map(ProcessRole::place) {
        None => format!("interrupt it:\n    kill -INT {}", process.pid),
        Some(place) => format!("stop it in {place} (process {})", process.pid),
    }
}

/// Refuses a change from outside while another process drives the run: it would be told that its
/// record had changed under it.
pub async fn demand_undriven(io: &Io, store: &Store) -> Result<(), Exit> {
    let Ok(Some(LockHolder { process, live: true, role: _ })) =
        io.holder(&store.paths().driver_lock()).await
    else {
        return Ok(());
    };
    if process == io.start().process {
        return Ok(());
    }
    let (id, pid) = (&store.run().id, process.pid);
    io.note(format!(
        "ERROR: process {pid} drives run {id} and records what happens in it.\n  An agent in its turn \
         just does the work and ends; a person can watch with\n    onloop status {id}"
    ))
    .await;
    Err(Exit::Refused)
}

/// Whether nobody drives a run that is `running`: its process was killed, or the power went.
pub async fn is_interrupted(io: &Io, store: &Store) -> bool {
    if store.run().status != RunStatus::Running {
        return false;
    }
    // Nobody: an agent drives it step by step, or nobody can tell.
    let holder = io.holder(&store.paths().driver_lock()).await.ok().flatten();
    is_orphaned(io, store.run(), holder.as_ref())
}

/// The same for whoever has asked already who drives it.
pub(crate) fn is_orphaned(io: &Io, run: &Run, driver: Option<&LockHolder>) -> bool {
    let is_here = |holder: &LockHolder| holder.process.host == io.start().process.host;
    run.status == RunStatus::Running && driver.is_some_and(|holder| !holder.live && is_here(holder))
}

/// Takes the run from whoever drives it. Its lock goes, and whatever it still wants to record
/// is refused because the record has changed.
pub(crate) async fn take_over(io: &Io, store: &mut Store, reason: &str) -> Result<(), Exit> {
    let lock = store.paths().driver_lock();
    if let Ok(Some(holder)) = io.holder(&lock).await
        && holder.live
    {
        let (id, pid) = (&store.run().id, holder.process.pid);
        io.note(format!(
            "error: process {pid} works on run {id}, and it is alive on this machine. Only a run \
             whose\n  process is gone is taken over. First {}",
            how_to_stop(&holder)
        ))
        .await;
        return Err(Exit::Refused);
    }
    if let Err(failure) = io.remove(&lock).await.optional() {
        io.note(format!("error: the run could not be taken over: {failure}")).await;
        return Err(Exit::Refused);
    }
    drive_alone(io, store).await?;
    let by = decider(io, Door::Command);
    apply(io, store, Event::TakenOver { reason: reason.to_owned() }, Some(by)).await
}
