//! Driving a run: only one process at a time does.

use crate::effect::{Exit, FailureKind, Io, OptionalExt};
use crate::engine::change::apply;
use crate::engine::decide::decider;
use crate::engine::store::Store;
use crate::run::{Acting, Door, Event, Run, RunStatus};
use crate::text;

/// Becomes the only process that drives the run.
pub(crate) async fn drive_alone(io: &Io, store: &Store) -> Result<(), Exit> {
    let Err(failure) = io.lock(&store.paths().driver_lock(), 0).await else { return Ok(()) };
    let id = &store.run().id;
    if failure.is_busy() {
        io.note(format!(
            "error: another onloop works on run {id}: {failure}\n  Wait for it, or end it, then \
             try again. If it cannot be there any more (another\n  machine, say), take the run \
             over:\n    onloop resume {id} --take-over --reason 'machine lost'"
        ))
        .await;
    } else {
        io.note(format!("error: run {id}: {failure}")).await;
    }
    Err(Exit::Refused)
}

/// Ends what is left of an agent whose onloop was killed: two would work in one place.
pub(crate) async fn end_survivors(io: &Io, run: &Run) -> Result<(), Exit> {
    let Some(Acting { step, group, host }) = run.acting.clone() else { return Ok(()) };
    let pid = group.pid;
    match io.end_group(group, &host).await {
        Ok(0) => {}
        Ok(survivors) => {
            let count = text::counted(u64::from(survivors), "process");
            io.note(format!("Ended {count} that the interrupted agent of step {step} had left."))
                .await;
        }
        Err(failure) if failure.kind == FailureKind::Unsupported => {
            io.note(format!(
                "warning: whether the agent of step {step} (process group {pid} on {}) still runs \
                 is not known: {failure}",
                text::one_line(&host)
            ))
            .await;
        }
        Err(failure) => {
            io.note(format!(
                "error: the agent of step {step} still runs and could not be ended: {failure}\n  \
                 End process group {pid}, then try again."
            ))
            .await;
            return Err(Exit::Refused);
        }
    }
    Ok(())
}

/// Whether nobody drives a run that is `running`: its process was killed, or the power went.
pub(crate) async fn is_interrupted(io: &Io, store: &Store) -> bool {
    if store.run().status != RunStatus::Running {
        return false;
    }
    match io.holder(&store.paths().driver_lock()).await {
        Ok(Some(holder)) => !holder.live && holder.process.host == io.start().process.host,
        // An agent drives it step by step, or nobody can tell.
        Ok(None) | Err(_) => false,
    }
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
             whose\n  process is gone is taken over. End it first:\n    kill -INT {pid}"
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
