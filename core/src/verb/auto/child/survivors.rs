//! The processes of a child whose rw-auto was killed. They are noted in the state home while they
//! run: what lies in the workspace could be written by the child.

use crate::documents::auto::ChildGroupDocument;
use crate::effect::{Durability, Exit, Expect, Failure, Io, OptionalExt, ProcessEnd, ProcessSpec};
use crate::engine::store::StateHome;
use crate::engine::work;
use crate::limits;

/// Runs a child; in which processes is known to the next rw-auto here before it is waited for.
pub(super) async fn run_noted(io: &Io, spec: ProcessSpec) -> Result<ProcessEnd, Failure> {
    // Without a state home it only dies with us, where the system can do that.
    let Ok(home) = StateHome::of(io) else { return io.process(spec).await };
    let path = home.auto_child(&io.start().cwd);
    let host = io.start().process.host.clone();
    let end = io
        .process_announced(spec, async |group| {
            let bytes = ChildGroupDocument { group, host }.to_bytes();
            // No process survives a power cut.
            io.write(&path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
        })
        .await;
    // Of a child that has ended nothing is found later.
    let _ = io.remove(&path).await;
    end
}

/// Ends what is left of a child whose rw-auto was killed here.
///
/// # Errors
///
/// When something of it still runs; it has been explained.
pub(super) async fn end(io: &Io) -> Result<(), Exit> {
    let Ok(home) = StateHome::of(io) else { return Ok(()) };
    let path = home.auto_child(&io.start().cwd);
    let read = io.read(&path, limits::AUTO_LOCK_BYTES).await.optional();
    let Some((bytes, _)) = read.ok().flatten() else { return Ok(()) };
    if let Some(ChildGroupDocument { group, host }) = ChildGroupDocument::of(&bytes) {
        work::end_group(io, "the child of an rw-auto that was killed", group, &host, None).await?;
    }
    let _ = io.remove(&path).await;
    Ok(())
}
