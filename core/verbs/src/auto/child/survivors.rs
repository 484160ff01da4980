//! The processes of a child whose rw-auto was killed. They are noted in the state home while they
//! run: what lies in the workspace could be written by the child.

use onloop_auto::documents::ChildGroupDocument;
use onloop_effect::{
    Durability, Expect, Failure, FailureKind, Io, OptionalExt, OutputAction, ProcessEnd,
    ProcessGroup, ProcessSpec,
};
use onloop_engine::error::CommandError;
use onloop_engine::run::processes;
use onloop_engine::state::store::StateHome;
use onloop_syntax::limits;

/// Runs a child; in which processes is known to the next rw-auto here before it is waited for.
pub(super) async fn run_noted(io: &Io, spec: ProcessSpec) -> Result<ProcessEnd, Failure> {
    let note = Note::of(io);
    let spec = processes::marked(io, &workspace(io), spec);
    let end = io.process_announced(spec, async |group| note.write(group).await).await;
    note.remove().await;
    end
}

/// As [`run_noted`], handing `on_lines` what the child writes to standard output as it comes.
pub(super) async fn follow_noted(
    io: &Io,
    spec: ProcessSpec,
    mut on_lines: impl AsyncFnMut(&[u8]) -> String,
) -> Result<ProcessEnd, Failure> {
    let note = Note::of(io);
    let spec = processes::marked(io, &workspace(io), spec);
    let on_start = async |group| note.write(group).await;
    let watch = async |bytes: &[u8]| OutputAction::Continue(Some(on_lines(bytes).await));
    let end = io.process_followed(spec, limits::TURN_LOOK_MS, on_start, watch).await;
    note.remove().await;
    let ended = || Failure::new(FailureKind::Interrupted, "the child was ended");
    end.and_then(|end| end.ok_or_else(ended))
}

/// The name under which children of this workspace are marked.
fn workspace(io: &Io) -> String {
    format!("auto {}", io.start().cwd)
}

/// Where it is noted which processes work.
struct Note<'a> {
    io: &'a Io,
    /// `None`: there is no state home, and the child only dies with us, where the system can do that.
    path: Option<String>,
}

impl Note<'_> {
    fn of(io: &Io) -> Note<'_> {
        let path = StateHome::of(io).ok().map(|home| home.auto_child(&io.start().cwd));
        Note { io, path }
    }

    async fn write(&self, group: ProcessGroup) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let host = self.io.start().process.host.clone();
        let bytes = ChildGroupDocument { group, host }.to_bytes();
        // No process survives a power cut.
        self.io.write(path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
    }

    /// Of a child that has ended nothing is found later.
    async fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = self.io.remove(path).await;
        }
    }
}

/// Ends what is left of a child whose rw-auto was killed here.
///
/// # Errors
///
/// Something of it still runs.
pub(super) async fn end(io: &Io) -> Result<(), CommandError> {
    let Ok(home) = StateHome::of(io) else { return Ok(()) };
    let path = home.auto_child(&io.start().cwd);
    let read = io.read(&path, limits::AUTO_LOCK_BYTES).await.optional();
    let Some((bytes, _)) = read.ok().flatten() else { return Ok(()) };
    if let Some(ChildGroupDocument { group, host }) = ChildGroupDocument::of(&bytes) {
        let mark = Some(processes::mark(io, &workspace(io)));
        processes::end_group(io, "the child of an rw-auto that was killed", group, &host, mark)
            .await?;
    }
    let _ = io.remove(&path).await;
    Ok(())
}
