//! Runs of rw-auto that are under way, noted in the state home: what lies in the workspace could be
//! written by the child. The note of a run that was killed stays: it names the processes that its
//! child left.

use onloop_auto::documents::NotedRunDocument;
use onloop_auto::record::Dispatch;
use onloop_documents::board::RunState;
use onloop_effect::{
    Durability, Expect, Failure, FailureKind, Io, LockHolder, OptionalExt, OutputAction,
    ProcessEnd, ProcessGroup, ProcessSpec,
};
use onloop_engine::error::CommandError;
use onloop_engine::run::processes;
use onloop_engine::state::store::StateHome;
use onloop_syntax::time::Timestamp;
use onloop_syntax::{limits, text};

/// The note of the run of this process.
#[derive(Debug)]
pub(crate) struct NotedRun {
    /// `None`: there is no state home, and the child only dies with us, where the system can do that.
    path: Option<String>,
    document: NotedRunDocument,
}

impl NotedRun {
    /// Notes that `run` waits for a child. This process holds the note until [`forget`].
    ///
    /// # Errors
    ///
    /// Those of the lock and of the file.
    pub(super) async fn begin(io: &Io, run: &str, dispatch: &Dispatch) -> Result<Self, Failure> {
        let folder = io.start().cwd.clone();
        let path = StateHome::of(io).ok().map(|home| home.auto_run(&folder));
        if let Some(path) = &path {
            let holder = io.holder(&lock_of(path)).await?;
            if holder.is_none_or(|holder| holder.process != io.start().process) {
                io.lock(&lock_of(path), 0).await?;
            }
        }
        let document = NotedRunDocument {
            run: run.to_owned(),
            folder,
            target: dispatch.target.as_str().to_owned(),
            cycle: dispatch.cycle,
            since: io.now().to_rfc3339(),
            host: io.start().process.host.clone(),
            group: None,
        };
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
        let bytes = NotedRunDocument { group, ..self.document.clone() }.to_bytes();
        io.write(path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
    }
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
        Some(found) if found.process.is_none() => found.end_leftovers(io).await,
        Some(_) | None => Ok(()),
    }
}

/// A run that is under way or was killed.
#[derive(Debug)]
pub(crate) struct FoundRun {
    path: String,
    document: NotedRunDocument,
    /// Its process; `None`: it was killed.
    pub(crate) process: Option<LockHolder>,
}

impl FoundRun {
    /// Its name.
    pub(crate) fn id(&self) -> &str {
        &self.document.run
    }

    /// Whether it works in `folder`, or above or below it.
    pub(crate) fn is_around(&self, folder: &str) -> bool {
        let own = &self.document.folder;
        let is_within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        is_within(own, folder) || is_within(folder, own)
    }

    /// How it is shown in a list.
    pub(crate) fn entry(&self, now: Timestamp) -> String {
        let state = match self.process {
            Some(_) => RunState::Running,
            None => RunState::Interrupted,
        };
        let since = Timestamp::parse(&self.document.since);
        let ago =
            since.map_or_else(String::new, |at| format!(", {}", text::ago(now.millis_since(at))));
        let NotedRunDocument { run, folder, target, cycle, .. } = &self.document;
        let (run, folder) = (text::one_line(run), text::one_line(folder));
        let mut out = format!("{} {run}  {}{ago}\n", state.mark(), state.words());
        let mut lines =
            vec![format!("{} in cycle {cycle}", text::one_line(target)), format!("in {folder}")];
        if self.process.is_none() {
            lines.push(format!(
                "Its process is gone. Start it again there with `onloop auto`, or end what its \
                 child left with `onloop stop {run}`."
            ));
        }
        for line in lines {
            for line in text::wrapped(&line, 76, 2).lines() {
                out += &format!("    {line}\n");
            }
        }
        out
    }

    /// Ends what is left of its child, if it was killed, and forgets it.
    ///
    /// # Errors
    ///
    /// Something of it still runs, or its note stays.
    pub(crate) async fn give_up(&self, io: &Io) -> Result<(), CommandError> {
        self.end_leftovers(io).await?;
        io.remove(&self.path).await.optional()?;
        Ok(())
    }

    async fn end_leftovers(&self, io: &Io) -> Result<(), CommandError> {
        let NotedRunDocument { folder, host, .. } = &self.document;
        let Some(group) = self.document.group.clone() else { return Ok(()) };
        let mark = Some(processes::mark(io, &workspace(folder)));
        let whose = "the child of an rw-auto that was killed";
        processes::end_group(io, whose, group, host, mark).await?;
        let bytes = NotedRunDocument { group: None, ..self.document.clone() }.to_bytes();
        io.write(&self.path, bytes, Expect::Any, Durability::Relaxed).await?;
        Ok(())
    }
}

/// Every run of this machine that is under way or was killed, by name.
pub(crate) async fn all(io: &Io) -> Vec<FoundRun> {
    let Ok(home) = StateHome::of(io) else { return Vec::new() };
    let folder = home.auto_runs();
    let mut found = Vec::new();
    for name in io.list(&folder).await.unwrap_or_default() {
        if name.ends_with(".json") {
            found.extend(look(io, &format!("{folder}/{name}")).await);
        }
    }
    found.sort_by(|a: &FoundRun, b| a.id().cmp(b.id()));
    found
}

/// The one run whose name begins with `name`.
pub(crate) async fn named(io: &Io, name: &str) -> Option<FoundRun> {
    let mut fitting = all(io).await.into_iter().filter(|found| found.id().starts_with(name));
    let (Some(found), None) = (fitting.next(), fitting.next()) else { return None };
    Some(found)
}

async fn look(io: &Io, path: &str) -> Option<FoundRun> {
    let document = read(io, path).await?;
    let holder = io.holder(&lock_of(path)).await.ok().flatten();
    let process = holder.filter(|holder| holder.live);
    Some(FoundRun { path: path.to_owned(), document, process })
}

async fn read(io: &Io, path: &str) -> Option<NotedRunDocument> {
    let (bytes, _) = io.read(path, limits::AUTO_LOCK_BYTES).await.ok()?;
    NotedRunDocument::of(&bytes)
}

/// The name under which children of a workspace are marked.
fn workspace(folder: &str) -> String {
    format!("auto {folder}")
}

/// Held by the process of the run of which `path` is the note.
fn lock_of(path: &str) -> String {
    format!("{path}.lock")
}
