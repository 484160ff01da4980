//! Driving a run: only one process at a time does.

use crate::effect::{Exit, Io, OptionalExt};
use crate::engine::change::apply;
use crate::engine::decide::decider;
use crate::engine::store::Store;
use crate::run::{Door, Event};

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

/// Takes the run from whoever drives it. Its lock goes, and whatever it still wants to record
/// is refused because the record has changed.
pub(crate) async fn take_over(io: &Io, store: &mut Store, reason: &str) -> Result<(), Exit> {
    let lock = store.paths().driver_lock();
    if let Err(failure) = io.remove(&lock).await.optional() {
        io.note(format!("error: the run could not be taken over: {failure}")).await;
        return Err(Exit::Refused);
    }
    drive_alone(io, store).await?;
    let by = decider(io, Door::Command);
    apply(io, store, Event::TakenOver { reason: reason.to_owned() }, Some(by)).await
}
