//! Runs of rw-auto that are under way or were killed, by the notes that they keep in the state home.

use crate::error::CommandError;
use crate::lookup::runs::driven_by;
use crate::run::processes;
use crate::state::store::StateHome;
use onloop_documents::auto_run::AutoRunDocument;
use onloop_documents::board::{AutoCard, RunState, auto_card};
use onloop_effect::{Durability, Expect, Io, LockHolder, OptionalExt, is_within};
use onloop_syntax::time::Timestamp;
use onloop_syntax::{limits, text};

/// A run that is under way or was killed.
#[derive(Debug)]
pub struct AutoRun {
    path: String,
    document: AutoRunDocument,
    /// Its process; `None`: it was killed, or its host starts the children.
    pub process: Option<LockHolder>,
}

impl AutoRun {
    /// Its name.
    pub fn id(&self) -> &str {
        &self.document.run
    }

    /// The folder of its workspace.
    pub fn folder(&self) -> &str {
        &self.document.folder
    }

    /// Whether it works in `folder`, or above or below it.
    pub fn is_around(&self, folder: &str) -> bool {
        let (own, folder) = (&self.document.folder, folder.trim_end_matches('/'));
        is_within(own, folder) || is_within(folder, own.trim_end_matches('/'))
    }

    /// Whether its process is gone.
    pub fn is_killed(&self) -> bool {
        self.process.is_none() && self.document.result_file.is_none()
    }

    /// Whether it works, or was killed.
    fn state(&self) -> RunState {
        match self.is_killed() {
            true => RunState::Interrupted,
            false => RunState::Running,
        }
    }

    /// What screens show of it.
    pub fn card(&self) -> AutoCard {
        auto_card(&self.document, self.state())
    }

    /// It as JSON among runs, with what it has in common with them.
    pub fn entry_document(&self) -> serde_json::Value {
        let AutoRunDocument { run, folder, target, cycle, since, .. } = &self.document;
        serde_json::json!({
            "run_id": run,
            "kind": "rw-auto",
            "status": self.state().as_str(),
            "intent": text::one_line(&format!("{target} in cycle {cycle}")),
            "started_at": since,
            "driven_by": self.process.as_ref().map(driven_by),
            "execution_root": folder,
        })
    }

    /// How it is shown in a list.
    pub fn entry(&self, now: Timestamp) -> String {
        let state = self.state();
        let since = Timestamp::parse(&self.document.since);
        let ago =
            since.map_or_else(String::new, |at| format!(", {}", text::ago(now.millis_since(at))));
        let AutoRunDocument { run, folder, target, cycle, .. } = &self.document;
        let (run, folder) = (text::one_line(run), text::one_line(folder));
        let mut out = format!("{} {run}  {}{ago}\n", state.mark(), state.words());
        let mut lines =
            vec![format!("{} in cycle {cycle}", text::one_line(target)), format!("in {folder}")];
        if self.is_killed() {
            lines.push(format!(
                "Its process is gone. End what it left with `onloop stop {run}`, then start again \
                 there with `onloop auto`."
            ));
        } else if self.document.result_file.is_some() {
            lines.push(format!(
                "Its host starts the child and continues with `onloop auto resume`. Where the host is \
                 gone, end it with `onloop stop {run}`."
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
    pub async fn give_up(&self, io: &Io) -> Result<(), CommandError> {
        self.end_leftovers(io).await?;
        io.remove(&self.path).await.optional()?;
        Ok(())
    }

    /// Ends what is left of its child, if it was killed.
    ///
    /// # Errors
    ///
    /// Something of it still runs.
    pub async fn end_leftovers(&self, io: &Io) -> Result<(), CommandError> {
        let AutoRunDocument { folder, host, .. } = &self.document;
        let Some(group) = self.document.group.clone() else { return Ok(()) };
        let mark = Some(processes::mark(io, &workspace(folder)));
        let whose = "the child of a killed rw-auto";
        processes::end_group(io, whose, group, host, mark).await?;
        let bytes = AutoRunDocument { group: None, ..self.document.clone() }.to_bytes();
        io.write(&self.path, bytes, Expect::Any, Durability::Relaxed).await?;
        Ok(())
    }
}

/// Every run of this machine that is under way or was killed, by name.
pub async fn all(io: &Io) -> Vec<AutoRun> {
    let Ok(home) = StateHome::of(io) else { return Vec::new() };
    let folder = home.auto_runs();
    let mut found = Vec::new();
    for name in io.list(&folder).await.unwrap_or_default() {
        if name.ends_with(".json") {
            found.extend(look(io, &format!("{folder}/{name}")).await);
        }
    }
    found.sort_by(|a: &AutoRun, b| a.id().cmp(b.id()));
    found
}

/// The one run whose name begins with `name`.
pub async fn named(io: &Io, name: &str) -> Option<AutoRun> {
    let mut fitting = all(io).await.into_iter().filter(|found| found.id().starts_with(name));
    let (Some(found), None) = (fitting.next(), fitting.next()) else { return None };
    Some(found)
}

/// The run of the note at `path`.
pub async fn look(io: &Io, path: &str) -> Option<AutoRun> {
    let document = read(io, path).await?;
    let holder = io.holder(&lock_of(path)).await.ok().flatten();
    let process = holder.filter(|holder| holder.live);
    Some(AutoRun { path: path.to_owned(), document, process })
}

/// The note at `path`.
pub async fn read(io: &Io, path: &str) -> Option<AutoRunDocument> {
    let (bytes, _) = io.read(path, limits::AUTO_LOCK_BYTES).await.ok()?;
    AutoRunDocument::of(&bytes)
}

/// The name under which children of a workspace are marked.
pub fn workspace(folder: &str) -> String {
    format!("auto {folder}")
}

/// Held by the process of the run of which `path` is the note.
pub fn lock_of(path: &str) -> String {
    format!("{path}.lock")
}
