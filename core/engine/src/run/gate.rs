//! What a person is told before they decide about a step, with what git knows of it.

use crate::board::place_of;
use crate::run::turn::attempt_name;
use crate::state::remote_owner::submitted_from;
use crate::state::store::{Paths, StateHome};
use onloop_effect::{DiffShown, Failure, Io};
use onloop_run::preflight::foreign_paths;
use onloop_run::{ChangedWork, Checkpoint, Facts, Run};
use onloop_syntax::limits;
use onloop_syntax::text;

/// What there is to know about a step that waits for a decision.
pub async fn facts(io: &Io, run: &Run, step: u32) -> Option<Facts> {
    let changes = match run.unapproved() {
        None => ChangedWork::Unkept,
        Some(work) => match changed(io, run, (work.from, work.to), Form::Stat).await {
            Ok(lines) => ChangedWork::Stat { since: work.since, lines },
            Err(failure) => ChangedWork::Unknown(text::one_line(&failure.message)),
        },
    };
    let facts = run.facts(step, changes, io.now())?;
    let own_changes = own_changes(io, run, step, &facts.changes).await;
    Some(Facts { own_changes, said: said(io, run, step).await, ..facts })
}

/// What a step changed by itself, as git shows it; empty where that is nothing or all of `changes`.
async fn own_changes(io: &Io, run: &Run, step: u32, changes: &ChangedWork) -> String {
    let Some(ends) = run.checkpoints_around(Some(&step.to_string())) else { return String::new() };
    let own = changed(io, run, ends, Form::Stat).await.unwrap_or_default();
    match changes {
        ChangedWork::Stat { lines, .. } if *lines == own => String::new(),
        ChangedWork::Stat { .. } | ChangedWork::Unkept | ChangedWork::Unknown(_) => own,
    }
}

/// The end of what the agent of the last attempt at a step said.
async fn said(io: &Io, run: &Run, step: u32) -> String {
    let Some(record) = run.step(step) else { return String::new() };
    let Ok(home) = StateHome::of(io) else { return String::new() };
    let (paths, attempt) = place_of(io, &home, run, &attempt_name(record)).await;
    let log = paths.log(&attempt);
    let Ok((bytes, _)) = io.read_tail(&log, limits::LAST_MESSAGE_BYTES).await else {
        return String::new();
    };
    last_message(&text::printable(&io.redacted(&String::from_utf8_lossy(&bytes))))
}

/// Lines that are shown of a message.
const MESSAGE_LINES: usize = 12;

/// The last lines of a log behind the last call of a tool.
fn last_message(log: &str) -> String {
    let is_call = |line: &str| ["→ ", "— ", "✗ ", "  | "].iter().any(|mark| line.starts_with(mark));
    let lines: Vec<&str> = log.lines().collect();
    let after = lines.iter().rposition(|line| is_call(line)).map_or(0, |at| at + 1);
    let said: Vec<&str> = lines[after..].iter().copied().filter(|l| !l.trim().is_empty()).collect();
    said[said.len().saturating_sub(MESSAGE_LINES)..].join("\n")
}

/// Every line that changed since a person has last approved something, as git shows a patch.
///
/// # Errors
///
/// Those of git; `TooLarge` beyond [`limits::CHECKPOINT_DIFF_BYTES`].
pub async fn patch(io: &Io, run: &Run) -> Result<String, Failure> {
    match run.unapproved() {
        None => Ok(String::new()),
        Some(work) => changed(io, run, (work.from, work.to), Form::Patch).await,
    }
}

/// How a change is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// How many lines of which file.
    Stat,
    /// The lines.
    Patch,
}

/// What somebody changed between two checkpoints; the boxes of the workflow, which onloop ticks, are
/// not the agent's work.
pub struct Change<'a> {
    cwd: String,
    ends: (&'a str, &'a str),
    /// Every file, or none where a command line does not take so many names.
    paths: Vec<String>,
}

impl Change<'_> {
    /// `None`: nothing.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub async fn between<'a>(
        io: &Io,
        run: &Run,
        (from, to): (&'a Checkpoint, &'a Checkpoint),
    ) -> Result<Option<Change<'a>>, Failure> {
        if from.tree == to.tree {
            return Ok(None);
        }
        let cwd = checkout(io, run).await;
        let ends = (from.commit.as_str(), to.commit.as_str());
        let changed = io.git_changed_paths(&cwd, ends.0, ends.1).await?;
        let inside = format!("{}/", run.place.execution_root);
        let workflow = run.place.workflow_path.strip_prefix(&inside).unwrap_or_default();
        let theirs = foreign_paths(&changed, workflow);
        if theirs.is_empty() {
            return Ok(None);
        }
        let paths = match theirs.len() > limits::DIFF_PATHS {
            true => Vec::new(),
            false => theirs.iter().map(|&path| path.to_owned()).collect(),
        };
        Ok(Some(Change { cwd, ends, paths }))
    }

    /// As git shows it.
    ///
    /// # Errors
    ///
    /// Those of git; `TooLarge` beyond [`limits::CHECKPOINT_DIFF_BYTES`].
    pub async fn show(&self, io: &Io, form: Form) -> Result<String, Failure> {
        let shown = match form {
            Form::Stat => DiffShown::StatOf(&self.paths),
            Form::Patch => DiffShown::PatchOf(&self.paths),
        };
        let bytes = io.git_diff(&self.cwd, self.ends, shown, limits::CHECKPOINT_DIFF_BYTES).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

async fn changed(
    io: &Io,
    run: &Run,
    ends: (&Checkpoint, &Checkpoint),
    form: Form,
) -> Result<String, Failure> {
    match Change::between(io, run, ends).await? {
        Some(change) => change.show(io, form).await,
        None => Ok(String::new()),
    }
}

/// Where git finds the commits of a run: its worktree, or the repository when that is removed.
pub async fn checkout(io: &Io, run: &Run) -> String {
    let root = &run.place.execution_root;
    if io.stat(root).await.is_ok() {
        return root.clone();
    }
    // A fleet's run works on another machine; its commits come to where it was submitted.
    let submitted = match StateHome::of(io) {
        Ok(home) => submitted_from(io, &Paths::new(&home, root, &run.id)).await,
        Err(_) => None,
    };
    submitted.or_else(|| run.place.repo_root.clone()).unwrap_or_else(|| root.clone())
}
