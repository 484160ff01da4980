//! Runs of rw-auto that are under way, noted in the state home: what lies in the workspace could be
//! written by the child. The note of a run that was killed stays: it names the processes that its
//! child left.

use onloop_auto::record::Dispatch;
use onloop_documents::auto_run::AutoRunDocument;
use onloop_effect::{
    Durability, Expect, Failure, FailureKind, Io, OutputAction, ProcessEnd, ProcessGroup,
    ProcessSpec,
};
use onloop_engine::error::CommandError;
use onloop_engine::run::processes;
use onloop_engine::state::auto_runs::{lock_of, look, read, workspace};
use onloop_engine::state::store::StateHome;
use onloop_syntax::limits;

/// The note of the run of this process.
#[derive(Debug)]
pub(crate) struct NotedRun {
    /// `None`: there is no state home, and the child only dies with us, where the system can do that.
    path: Option<String>,
    document: AutoRunDocument,
}

impl NotedRun {
    /// Notes that `run` waits for a child. This process holds the note until [`forget`].
    ///
    /// # Errors
    ///
    /// Those of the lock and of the file.
    pub(super) async fn begin(io: &Io, run: &str, dispatch: &Dispatch) -> Result<Self, Failure> {
        let path = StateHome::of(io).ok().map(|home| home.auto_run(&io.start().cwd));
        if let Some(path) = &path {
            let holder = io.holder(&lock_of(path)).await?;
            if holder.is_none_or(|holder| holder.process != io.start().process) {
                io.lock(&lock_of(path), 0).await?;
            }
        }
        let document = document(io, run, dispatch);
        let noted = NotedRun { path, document };
        noted.write(io, None).await?;
        Ok(noted)
    }

    /// Name of the run.
    pub(super) fn run(&self) -> &str {
        &self.document.run
    }

    /// Runs a child; in which processes is noted before it is waited for.
    pub(super) async fn run_child(
        &self,
        io: &Io,
        spec: ProcessSpec,
    ) -> Result<ProcessEnd, Failure> {
        let spec = processes::marked(io, &workspace(&self.document.folder), spec);
        let end = io.process_announced(spec, async |group| self.write(io, Some(group)).await).await;
        self.write(io, None).await?;
        end
    }

    /// As [`NotedRun::run_child`], handing `on_lines` what the child writes to standard output as it
    /// comes.
    pub(super) async fn follow_child(
        &self,
        io: &Io,
        spec: ProcessSpec,
        mut on_lines: impl AsyncFnMut(&[u8]) -> String,
    ) -> Result<ProcessEnd, Failure> {
        let spec = processes::marked(io, &workspace(&self.document.folder), spec);
        let on_start = async |group| self.write(io, Some(group)).await;
        let watch = async |bytes: &[u8]| OutputAction::Continue(Some(on_lines(bytes).await));
        let end = io.process_followed(spec, limits::TURN_LOOK_MS, on_start, watch).await;
        self.write(io, None).await?;
        let ended = || Failure::new(FailureKind::Interrupted, "the child was ended");
        end.and_then(|end| end.ok_or_else(ended))
    }

    async fn write(&self, io: &Io, group: Option<ProcessGroup>) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let bytes = AutoRunDocument { group, ..self.document.clone() }.to_bytes();
        io.write(path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
    }
}

fn document(io: &Io, run: &str, dispatch: &Dispatch) -> AutoRunDocument {
    AutoRunDocument {
        run: run.to_owned(),
        folder: io.start().cwd.clone(),
        target: dispatch.target.as_str().to_owned(),
        cycle: dispatch.cycle,
        since: io.now().to_rfc3339(),
        host: io.start().process.host.clone(),
        group: None,
        result_file: None,
    }
}

/// Notes that `run` waits for a child whose answer its host writes to `result_file`. Only overviews
/// need the note: a run without one continues.
pub(super) async fn note_hosted(io: &Io, run: &str, dispatch: &Dispatch, result_file: String) {
    let Ok(home) = StateHome::of(io) else { return };
    let document =
        AutoRunDocument { result_file: Some(result_file), ..document(io, run, dispatch) };
    let path = home.auto_run(&document.folder);
    let _ = io.write(&path, document.to_bytes(), Expect::Any, Durability::Relaxed).await;
}

/// Removes the note of `run`, which has ended; of a run that never waited for a child there is none.
pub(super) async fn forget(io: &Io, run: &str) {
    let Ok(home) = StateHome::of(io) else { return };
    let path = home.auto_run(&io.start().cwd);
    if read(io, &path).await.is_some_and(|document| document.run == run) {
        // A note that stays shows the run as interrupted, until the next one replaces it.
        let _ = io.remove(&path).await;
        let _ = io.unlock(&lock_of(&path)).await;
    }
}

/// Ends what is left of the child of a run that was killed here. Its note stays until another run
/// waits for a child.
///
/// # Errors
///
/// Something of it still runs.
pub(super) async fn end_killed(io: &Io) -> Result<(), CommandError> {
    let Ok(home) = StateHome::of(io) else { return Ok(()) };
    match look(io, &home.auto_run(&io.start().cwd)).await {
        Some(found) if found.is_killed() => found.end_leftovers(io).await,
        Some(_) | None => Ok(()),
    }
}
