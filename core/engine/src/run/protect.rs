//! Files that no agent may change: what a turn has done to them is undone, and the attempt fails.

use crate::run::changed_check::{Between, joins_others};
use crate::run::checkpoint::{CheckpointOutcome, take_checkpoint};
use crate::state::store::Store;
use onloop_effect::{DiffShown, Failure, GitRequest, Io};
use onloop_run::{Checkpoint, CheckpointMoment, FileChange, ProtectedAs, Protection, Run};
use onloop_syntax::limits;
use onloop_syntax::text;

/// What came of looking at protected files.
#[derive(Debug)]
pub enum Guarded {
    /// There is nothing to object.
    Fine,
    /// The attempt fails.
    Broken {
        /// Why, on one line.
        reason: String,
        /// The files, and what became of them.
        output: String,
    },
    /// A person has to look before the run continues: why, on one line.
    Stuck(String),
    /// The person pressed Ctrl-C.
    Interrupted,
}

impl Guarded {
    fn broken(reason: String) -> Guarded {
        Guarded::Broken { reason, output: String::new() }
    }
}

/// Keeps what the agent of the present attempt finds, where something of it is protected: without
/// that its changes would be unknown afterwards, and it must not be started.
pub async fn before_turn(io: &Io, store: &mut Store, step: u32) -> Guarded {
    let protection = store.run().protection();
    if protection.is_empty() {
        return Guarded::Fine;
    }
    // The changes of an interrupted turn were not examined: this turn must not start with them.
    if let Some((step, attempt)) = unseen_turn(store.run()) {
        match after_attempt(io, store, step, attempt).await {
            Guarded::Fine => {}
            guarded => return guarded,
        }
    }
    let attempt = attempts(store.run(), step);
    match take_checkpoint(io, store, CheckpointMoment::Started { step, attempt }).await {
        CheckpointOutcome::Taken => Guarded::Fine,
        CheckpointOutcome::Interrupted => Guarded::Interrupted,
        // At high risk outside a repository, no file asked for the protection.
        CheckpointOutcome::NoRepository if !protection.is_written() => Guarded::Fine,
        CheckpointOutcome::NoRepository => {
            Guarded::broken("`protect` needs a git repository, and the work is in none".to_owned())
        }
        CheckpointOutcome::Missed(why) => Guarded::broken(format!(
            "the agent was not started: protected files are at stake: {why}"
        )),
    }
}

/// Keeps what the agent of the present attempt has left, and brings back what it must not change.
pub async fn after_turn(io: &Io, store: &mut Store, step: u32) -> Guarded {
    let attempt = attempts(store.run(), step);
    after_attempt(io, store, step, attempt).await
}

async fn after_attempt(io: &Io, store: &mut Store, step: u32, attempt: u32) -> Guarded {
    let acted = CheckpointMoment::Acted { step, attempt };
    let started = CheckpointMoment::Started { step, attempt };
    // Where nothing was kept before the turn, no agent was started.
    let Some(before) = find(store.run(), started).cloned() else {
        return match take_checkpoint(io, store, acted).await {
            CheckpointOutcome::Interrupted => Guarded::Interrupted,
            CheckpointOutcome::Taken
            | CheckpointOutcome::NoRepository
            | CheckpointOutcome::Missed(_) => Guarded::Fine,
        };
    };
    match take_checkpoint(io, store, acted).await {
        CheckpointOutcome::Taken => {}
        CheckpointOutcome::Interrupted => return Guarded::Interrupted,
        CheckpointOutcome::NoRepository => {
            return Guarded::Stuck("the repository is gone".to_owned());
        }
        CheckpointOutcome::Missed(why) => {
            return Guarded::Stuck(format!(
                "whether protected files were changed is not known: {why}"
            ));
        }
    }
    let protection = store.run().protection();
    let Some(after) = find(store.run(), acted).cloned() else {
        return Guarded::Fine;
    };
    if before.tree == after.tree {
        return Guarded::Fine;
    }
    match violations(io, store.run(), &protection, &before, &after).await {
        Ok(paths) if paths.is_empty() => Guarded::Fine,
        Ok(paths) => undo(io, store, &before, &after, paths).await,
        Err(failure) => Guarded::Stuck(format!(
            "whether protected files were changed is not known: {}",
            text::one_line(&failure.message)
        )),
    }
}

/// Step and attempt of the last turn, where nothing was kept after it.
fn unseen_turn(run: &Run) -> Option<(u32, u32)> {
    let moments = run.checkpoints.iter().rev().map(|checkpoint| checkpoint.moment);
    for moment in moments {
        match moment {
            CheckpointMoment::Started { step, attempt } => return Some((step, attempt)),
            // A person has undone what it did.
            CheckpointMoment::Acted { .. } | CheckpointMoment::Undone { .. } => return None,
            CheckpointMoment::Begun | CheckpointMoment::Verified { .. } => {}
        }
    }
    None
}

fn attempts(run: &Run, step: u32) -> u32 {
    run.step(step).map_or(0, |record| record.attempts)
}

fn find(run: &Run, moment: CheckpointMoment) -> Option<&Checkpoint> {
    run.checkpoints.iter().rev().find(|checkpoint| checkpoint.moment == moment)
}

/// Protected files that changed, relative to the top folder of the checkout.
async fn violations(
    io: &Io,
    run: &Run,
    protection: &Protection,
    before: &Checkpoint,
    after: &Checkpoint,
) -> Result<Vec<String>, Failure> {
    let (root, prefix) = (&run.place.execution_root, run.place.prefix());
    let changed = io.git_changed_paths(root, &before.commit, &after.commit).await?;
    let differs = |path: &str| changed.contains(&format!("{prefix}{path}"));
    let between = Between { from: &before.commit, to: &after.commit, differs: &differs };
    let mut violations = Vec::new();
    for path in changed.iter().cloned() {
        let Some(seen) = path.strip_prefix(&prefix) else { continue };
        match protection.of(seen) {
            None => continue,
            Some(ProtectedAs::Written) => {}
            Some(ProtectedAs::RunByCheck) if is_told(run, after, seen) => continue,
            Some(ProtectedAs::RunByCheck) => {
                let ends = (&*before.commit, &*after.commit);
                let shown = DiffShown::PatchOf(std::slice::from_ref(&path));
                let patch = io.git_diff(root, ends, shown, limits::CHANGED_CHECK_BYTES).await;
                let begins = |patch: Vec<u8>| {
                    FileChange::of_patch(&String::from_utf8_lossy(&patch)) == FileChange::Created
                };
                if patch.is_ok_and(begins)
                    && !joins_others(io, run, between, protection.implied(), seen).await
                {
                    continue;
                }
            }
        }
        violations.push(path);
    }
    Ok(violations)
}

/// Whether the step whose turn ended at `after` was told to change the file.
fn is_told(run: &Run, after: &Checkpoint, path: &str) -> bool {
    let step = after.moment.step().and_then(|step| run.step(step));
    step.is_some_and(|record| record.may_change(path))
}

/// Brings the files back as they were before the turn.
async fn undo(
    io: &Io,
    store: &mut Store,
    before: &Checkpoint,
    after: &Checkpoint,
    paths: Vec<String>,
) -> Guarded {
    let run = store.run();
    let shown: Vec<String> = paths.iter().map(|path| text::one_line(path)).collect();
    let what = match shown.as_slice() {
        [path] => format!("{path}, which is protected"),
        [path, more @ ..] => format!("{path} and {} more files that are protected", more.len()),
        [] => String::new(),
    };
    let request = GitRequest::Restore {
        cwd: run.place.execution_root.clone(),
        index: store.paths().index(),
        commit: before.commit.clone(),
        paths,
        programs: run.trusted_programs().map(str::to_owned),
    };
    match io.git(request).await {
        Ok(()) => Guarded::Broken {
            reason: format!("the agent changed {what}"),
            output: format!(
                "Do not change these files; they are as they were before:\n  {}\n(What was \
                 written there is in checkpoint {}.)\n",
                shown.join("\n  "),
                after.moment.name()
            ),
        },
        Err(failure) if failure.is_interrupted() => Guarded::Interrupted,
        Err(failure) => {
            let why = text::one_line(&failure.message);
            Guarded::Stuck(format!("the agent changed {what}, and it could not be undone: {why}"))
        }
    }
}
