//! Merging the work of a fork into that of its run: without a checkout first, then, once the merge is
//! recorded, in the worktree of the run.

use crate::git::checkout;
use crate::git::hardened::says;
use crate::run::checkpoint::{CheckpointOutcome, left_out_line, snapshot_work, take_checkpoint};
use crate::run::context::{Halt, RunContext};
use crate::run::forks::begin::git_version;
use crate::run::forks::conflicts::conflicts_of;
use crate::run::forks::wait;
use crate::state::store::Store;
use onloop_effect::{Failure, FailureKind, GitRequest, Io};
use onloop_run::{
    Checkpoint, CheckpointMoment, Conflict, Event, Fork, ForkFailure, ForkMerge, ForkState, Run,
};
use onloop_syntax::limits;
use onloop_syntax::text;

/// The mode of a repository inside another one.
const GITLINK_MODE: &str = "160000";

/// What came of a fork.
pub(crate) enum Merged {
    /// Its work is in the worktree of the run, and its checks passed.
    Done,
    /// Its work is in the worktree of the run, and its step was given up.
    Failed(Box<ForkFailure>),
    /// Its work is in the worktree of the run, with conflicts; an agent has to resolve them.
    Conflicts,
    /// A person has to look: why, on one line.
    Stuck(String),
}

/// Waits for the fork of a step and puts its work into the worktree of the run.
pub(crate) async fn settle(cx: &mut RunContext<'_>, step: u32) -> Result<Merged, Halt> {
    let state = fork_of(cx.run(), step).state;
    if matches!(state, ForkState::Working | ForkState::Outdated) {
        let (fork, failure) = Box::pin(wait(cx, step)).await?;
        if let Some(why) = merge(cx, step, &fork, failure).await? {
            return Ok(Merged::Stuck(why));
        }
    }
    let fork = fork_of(cx.run(), step).clone();
    let place = &cx.run().place;
    let restore = GitRequest::Restore {
        cwd: place.execution_root.clone(),
        index: cx.store.paths().index(),
        commit: fork.merged.clone().unwrap_or_default(),
        paths: Vec::new(),
        programs: cx.run().trusted_programs().map(str::to_owned),
    };
    if let Err(failure) = cx.io.git(restore).await {
        return Err(pause(cx, step, &failure).await);
    }
    cx.forks.left.push(fork.run.clone());
    Ok(match fork.failure {
        Some(failure) => Merged::Failed(Box::new(failure)),
        None if fork.conflicts.is_empty() => Merged::Done,
        None => Merged::Conflicts,
    })
}

fn fork_of(run: &Run, step: u32) -> &Fork {
    let fork = run.step(step).and_then(|record| record.fork.as_ref());
    fork.expect("callers name a step with a fork")
}

/// Pauses the run because git failed, which says nothing about the work of the step: the next driver
/// merges it again.
async fn pause(cx: &mut RunContext<'_>, step: u32, failure: &Failure) -> Halt {
    match failure.is_interrupted() {
        true => Halt::Interrupted,
        false => pause_because(cx, step, &failure.message).await,
    }
}

async fn pause_because(cx: &mut RunContext<'_>, step: u32, why: &str) -> Halt {
    cx.pause(&format!("step {step} was not merged: {}", text::one_line(why))).await
}

/// Merges without a checkout and records it; returns why the work cannot be merged.
async fn merge(
    cx: &mut RunContext<'_>,
    step: u32,
    fork: &Store,
    failure: Option<ForkFailure>,
) -> Result<Option<String>, Halt> {
    let id = fork.run().id.clone();
    // The checkpoint of a turn has what it did to protected files, which were brought back after it. That
    // of the last attempt is not there if git failed.
    let kept =
        fork.run().last_checkpoint().filter(|kept| failure.is_none() && is_last(fork.run(), kept));
    let theirs = match kept {
        Some(kept) => kept.clone(),
        None => match snapshot_work(cx.io, fork).await {
            Ok(now) => {
                let attempt = fork.run().steps.first().map_or(0, |record| record.attempts);
                Checkpoint::of(CheckpointMoment::Acted { step, attempt }, now)
            }
            Err(lost) if lost.is_interrupted() || lost.is_unknown() => {
                return Err(pause(cx, step, &lost).await);
            }
            Err(lost) => {
                let why = text::one_line(&lost.message);
                let why =
                    failure.map_or(why.clone(), |failure| format!("{}; {why}", failure.reason));
                return abandon(cx, step, fork, format!("run {id} cannot be merged: {why}")).await;
            }
        },
    };
    if let Some(why) = left_out(cx, step, &theirs).await? {
        let why = failure.map_or(why.clone(), |failure| format!("{}; {why}", failure.reason));
        return abandon(cx, step, fork, format!("run {id} cannot be merged: {why}")).await;
    }
    let attempt = cx.run().step(step).map_or(0, |record| record.attempts);
    let moment = CheckpointMoment::Started { step, attempt };
    match take_checkpoint(cx.io, cx.store, moment).await {
        CheckpointOutcome::Taken => {}
        CheckpointOutcome::Interrupted => return Err(Halt::Interrupted),
        CheckpointOutcome::NoRepository => {
            return Err(pause_because(cx, step, "the repository is gone").await);
        }
        CheckpointOutcome::Missed(why) => return Err(pause_because(cx, step, &why).await),
    }
    cx.store.commit().await?;
    let ours = cx.run().last_checkpoint().expect("it was just taken").clone();
    let made = match make_merge(cx.io, cx.run(), (&ours, &theirs), step).await {
        Ok(made) => made,
        Err(failure) => return Err(pause(cx, step, &failure).await),
    };
    if let Some(failure) = &failure
        && !made.conflicts.is_empty()
    {
        let count = text::counted(made.conflicts.len() as u64, "conflict");
        return abandon(cx, step, fork, format!("{}; its work has {count}", failure.reason)).await;
    }
    let used = fork.run().used_as_fork();
    let merge = ForkMerge { step, commit: made.commit, conflicts: made.conflicts, failure, used };
    cx.store.apply(Event::ForkMerged(Box::new(merge)))?;
    if let Some(entry) = cx.run().events.last().filter(|entry| !entry.detail.is_empty()) {
        let line = format!("{}\n    {}", entry.text, entry.detail.replace('\n', "\n    "));
        cx.store.note(line);
    }
    cx.store.commit().await?;
    Ok(None)
}

/// Whether a checkpoint of a fork was taken after its last attempt.
fn is_last(fork: &Run, kept: &Checkpoint) -> bool {
    let attempts = fork.steps.first().map_or(0, |record| record.attempts);
    match kept.moment {
        CheckpointMoment::Acted { attempt, .. } | CheckpointMoment::Verified { attempt, .. } => {
            attempt == attempts
        }
        CheckpointMoment::Started { .. } | CheckpointMoment::Undone { .. } => false,
        CheckpointMoment::Begun => attempts == 0,
    }
}

/// What a fork did that the checkpoint to be merged does not have.
async fn left_out(
    cx: &mut RunContext<'_>,
    step: u32,
    theirs: &Checkpoint,
) -> Result<Option<String>, Halt> {
    let Some(left) = theirs.left_out.first() else {
        return changed_repository(cx, step, theirs).await;
    };
    let more = theirs.left_out_count.saturating_sub(1);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Ok(Some(format!("its checkpoint leaves out {}{more}", left_out_line(left))))
}

/// A repository inside the work of a fork that it made or changed: its commits are in the worktree of the
/// fork alone.
async fn changed_repository(
    cx: &mut RunContext<'_>,
    step: u32,
    theirs: &Checkpoint,
) -> Result<Option<String>, Halt> {
    let run = cx.run();
    let base = &fork_of(run, step).base;
    let words = ["diff-tree", "-r", "-z", "--raw", "--no-renames", base, &theirs.commit];
    let root = &run.place.execution_root;
    let said = match says(cx.io, root, &words, None, limits::GIT_ACT_TIMEOUT_MS).await {
        Ok(said) => said,
        Err(failure) => return Err(pause(cx, step, &failure).await),
    };
    let said = String::from_utf8_lossy(&said);
    // `:OLDMODE MODE …`, then the path.
    let mut parts = said.split('\0');
    while let (Some(entry), Some(path)) = (parts.next(), parts.next()) {
        if entry.split(' ').nth(1) == Some(GITLINK_MODE) {
            let path = text::one_line(path);
            return Ok(Some(format!("`{path}` is a repository of its own, with other commits")));
        }
    }
    Ok(None)
}

/// Gives up a fork whose work cannot be merged, and keeps its worktree; returns what a person is told.
async fn abandon(
    cx: &mut RunContext<'_>,
    step: u32,
    fork: &Store,
    why: String,
) -> Result<Option<String>, Halt> {
    let (reason, used) = (why.clone(), Box::new(fork.run().used_as_fork()));
    cx.store.apply(Event::ForkDropped { step, reason, used })?;
    cx.store.commit().await?;
    let path = fork.run().place.worktree_path.clone().unwrap_or_default();
    Ok(Some(format!("{why}; what it did is in {path}")))
}

/// The first git that takes attributes from a tree instead of the checkout.
const GIT_WITH_ATTR_SOURCE: (u32, u32) = (2, 41);

/// A merge that no checkout has yet.
struct MadeMerge {
    commit: String,
    conflicts: Vec<Conflict>,
}

/// The names of the sides of a merge: the work of the other steps, and that of the step. They are in the
/// marks of conflicts, and whole, so that no branch or tag can have them.
pub(super) fn side_names(run: &Run, step: u32) -> [String; 2] {
    let name = |side: &str| format!("refs/onloop/{}/{side}step-{step}", run.id);
    [name("before-"), name("")]
}

/// Merges two checkpoints into a commit that `refs/onloop/` names. The work itself cannot choose how: its
/// attributes are not read. Neither can a driver that the configuration names for every file.
async fn make_merge(
    io: &Io,
    run: &Run,
    (ours, theirs): (&Checkpoint, &Checkpoint),
    step: u32,
) -> Result<MadeMerge, Failure> {
    // Elsewhere git names files relative to the folder.
    let root = run.place.worktree_path.as_ref().unwrap_or(&run.place.execution_root);
    let ask = async |folder: &str, words: &[&str]| {
        let said = says(io, folder, words, Some(Vec::new()), limits::GIT_ACT_TIMEOUT_MS).await?;
        Ok::<String, Failure>(String::from_utf8_lossy(&said).into_owned())
    };
    let (folder, without) = match git_version(io, root).await? >= GIT_WITH_ATTR_SOURCE {
        true => {
            let none = ask(root, &["hash-object", "-t", "tree", "--stdin"]).await?;
            (root.clone(), format!("--attr-source={}", none.trim()))
        }
        // Older ones take them from the folder that they work in.
        false => match checkout::find(io, root).await {
            Some(checkout) => {
                let common = checkout.common_folder(io).await;
                (common.clone(), format!("--git-dir={common}"))
            }
            None => return Err(Failure::new(FailureKind::NotFound, "the repository is gone")),
        },
    };
    let [our_name, their_name] = &side_names(run, step);
    for (name, side) in [(our_name, ours), (their_name, theirs)] {
        ask(root, &["update-ref", name, &side.commit]).await?;
    }
    let words = [
        &*without,
        "-c",
        "core.attributesFile=/dev/null",
        "-c",
        "merge.conflictStyle=merge",
        "-c",
        "merge.renames=true",
        "-c",
        "merge.directoryRenames=false",
        "-c",
        "merge.default=onloop-no-driver",
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        our_name,
        their_name,
    ];
    let merged = ask(&folder, &words).await?;
    let mut parts = merged.split('\0');
    let tree = parts.next().unwrap_or_default().to_owned();
    let mut conflicts = conflicts_of(parts);
    for conflict in &mut conflicts {
        let what = conflict.what.replace(our_name, "the steps before");
        conflict.what = text::one_line(&what.replace(their_name, &format!("step {step}")));
    }
    if tree.is_empty() {
        return Err(Failure::new(FailureKind::Other, "git says nothing about the merge"));
    }
    let message = format!("Merge step {step} of {}", run.id);
    let words = [
        "-c",
        "user.name=onloop",
        "-c",
        "user.email=onloop@localhost",
        "commit-tree",
        &tree,
        "-p",
        &ours.commit,
        "-p",
        &theirs.commit,
        "-m",
        &message,
    ];
    let commit = ask(root, &words).await?;
    let commit = commit.trim().to_owned();
    ask(root, &["update-ref", &format!("refs/onloop/{}/merge-{step}", run.id), &commit]).await?;
    Ok(MadeMerge { commit, conflicts })
}
