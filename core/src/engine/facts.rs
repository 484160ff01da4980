//! What a person is told before they decide about a step, with what git knows of it.

use crate::effect::{DiffShown, Failure, Io};
use crate::engine::store::Store;
use crate::limits;
use crate::preflight::foreign_paths;
use crate::run::{ChangedWork, Facts, Run, Unapproved};
use crate::text;

/// What there is to know about a step that waits for a decision.
pub(crate) async fn facts(io: &Io, store: &Store, step: u32) -> Option<Facts> {
    let run = store.run();
    let changes = match run.unapproved() {
        None => ChangedWork::Unkept,
        Some(work) => match show(io, run, work, Form::Stat).await {
            Ok(lines) => ChangedWork::Stat { since: work.since, lines },
            Err(failure) => ChangedWork::Unknown(text::one_line(&failure.message)),
        },
    };
    run.facts(step, changes)
}

/// Every line that changed since a person has last approved something, as git shows a patch.
///
/// # Errors
///
/// Those of git; `TooLarge` beyond [`limits::CHECKPOINT_DIFF_BYTES`].
pub(crate) async fn patch(io: &Io, run: &Run) -> Result<String, Failure> {
    match run.unapproved() {
        None => Ok(String::new()),
        Some(work) => show(io, run, work, Form::Patch).await,
    }
}

#[derive(Clone, Copy)]
enum Form {
    Stat,
    Patch,
}

async fn show(io: &Io, run: &Run, work: Unapproved<'_>, form: Form) -> Result<String, Failure> {
    let (from, to) = (work.from.commit.as_str(), work.to.commit.as_str());
    let root = &run.place.execution_root;
    let changed = match work.from.tree == work.to.tree {
        true => Vec::new(),
        false => io.git_changed_paths(root, from, to).await?,
    };
    // The boxes that onloop ticks are nobody's work.
    let inside = format!("{root}/");
    let workflow = run.place.workflow_path.strip_prefix(&inside).unwrap_or_default();
    let theirs = foreign_paths(&changed, workflow);
    let paths: Vec<String> = theirs.iter().map(|&path| path.to_owned()).collect();
    if paths.is_empty() {
        return Ok(String::new());
    }
    // A command line takes only so many names.
    let paths = if paths.len() > limits::DIFF_PATHS { Vec::new() } else { paths };
    let shown = match form {
        Form::Stat => DiffShown::StatOf(&paths),
        Form::Patch => DiffShown::PatchOf(&paths),
    };
    let bytes = io.git_diff(root, (from, to), shown, limits::CHECKPOINT_DIFF_BYTES).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
