//! The worktree and the record of a fork.

use crate::git::hardened::says;
use crate::git::submodules;
use crate::run::checkpoint::{CheckpointOutcome, checkpoint_left_out, take_checkpoint};
use crate::run::context::{Halt, RunContext};
use crate::run::decider::decider;
use crate::run::forks::fork_progress;
use crate::state::store::{Paths, StateHome, Store, StoreError};
use onloop_documents::ledger::Origin;
use onloop_effect::{Durability, Expect, Failure, GitRequest, Io, OptionalExt};
use onloop_run::{
    Checkpoint, CheckpointKind, CheckpointMoment, DecisionChannel, Event, ForkBeginning, Place, Run,
};
use onloop_syntax::limits;
use onloop_syntax::text;

/// The oldest git that merges without a checkout.
const GIT_THAT_MERGES: (u32, u32) = (2, 38);

/// The version of git, as its first two numbers.
pub(super) async fn git_version(io: &Io, root: &str) -> Result<(u32, u32), Failure> {
    let said = says(io, root, &["version"], None, limits::GIT_QUESTION_TIMEOUT_MS).await?;
    let said = String::from_utf8_lossy(&said);
    let version = said.split_whitespace().nth(2).unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    Ok((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
}

/// Whether git can merge forks.
///
/// # Errors
///
/// It is too old, or does not answer: why, as a clause.
pub(super) async fn can_merge(io: &Io, root: &str) -> Result<(), String> {
    let found = git_version(io, root).await.map_err(|failure| failure.message)?;
    if found >= GIT_THAT_MERGES {
        return Ok(());
    }
    let ((major, minor), (wanted, least)) = (found, GIT_THAT_MERGES);
    Err(format!("git {major}.{minor} cannot merge them; they need git {wanted}.{least}"))
}

/// The commit of the last work of which all checks held, for `step`; `None`: there is none now.
async fn base(cx: &mut RunContext<'_>, step: u32) -> Result<Option<String>, Halt> {
    if cx.run().stale_step().is_some() {
        return Ok(None);
    }
    // One that could not be taken is tried again: the last one lacks its step.
    match checkpoint_left_out(cx.io, cx.store).await? {
        CheckpointOutcome::Taken => {}
        CheckpointOutcome::Interrupted => return Err(Halt::Interrupted),
        CheckpointOutcome::NoRepository | CheckpointOutcome::Missed(_) => return Ok(None),
    }
    let is_base = |taken: &&Checkpoint| match taken.moment.kind() {
        CheckpointKind::Begun | CheckpointKind::Verified | CheckpointKind::Undone => true,
        CheckpointKind::Started | CheckpointKind::Acted => false,
    };
    let mut verified = cx.run().checkpoints.iter().rev().find(is_base);
    if verified.is_some_and(|taken| taken.moment.kind() == CheckpointKind::Undone) {
        // Every check holds on what a person went back to, which no checkpoint since then has.
        if cx.run().is_changing_its_worktree() {
            return Ok(None);
        }
        let attempt = cx.run().step(step).map_or(0, |record| record.attempts) + 1;
        let moment = CheckpointMoment::Started { step, attempt };
        match take_checkpoint(cx.io, cx.store, moment).await {
            CheckpointOutcome::Taken => verified = cx.run().last_checkpoint(),
            CheckpointOutcome::Interrupted => return Err(Halt::Interrupted),
            CheckpointOutcome::NoRepository | CheckpointOutcome::Missed(_) => return Ok(None),
        }
    }
    // A step may need a file that the checkpoint leaves out.
    let complete = verified.filter(|taken| taken.complete);
    Ok(complete.map(|taken| taken.commit.clone()))
}

/// Removes what a process left that ended between making the fork of a step and recording it. Nothing has
/// worked in it.
pub(crate) async fn remove_unrecorded(io: &Io, home: &StateHome, run: &Run, step: u32) {
    let id = run.fork_id(step);
    let Some(place) = place_of(&run.place, &id).filter(|_| run.may_fork()) else { return };
    let worktree = place.worktree_path.as_deref().unwrap_or_default();
    if io.stat(worktree).await.is_ok() {
        remove_worktree(io, &place).await;
    }
    let _ = io.remove(Paths::new(home, "", &id).folder()).await;
}

/// Begins the fork of a step and starts its driver. `false`: there is no work to begin with, or no room
/// for another worktree; the step waits for its turn in the worktree of the run.
pub(super) async fn begin_fork(cx: &mut RunContext<'_>, step: u32) -> Result<bool, Halt> {
    let Some(base) = base(cx, step).await? else { return Ok(false) };
    let (io, run) = (cx.io, cx.run());
    let id = run.fork_id(step);
    let Some(place) = place_of(&run.place, &id) else { return Ok(false) };
    if let Err(failure) = make_worktree(cx, &place, &base).await {
        if failure.is_interrupted() {
            return Err(Halt::Interrupted);
        }
        let why = text::one_line(&failure.message);
        cx.store.note(format!("warning: step {step} gets no worktree of its own: {why}"));
        return Ok(false);
    }
    let beginning = ForkBeginning { id: id.clone(), step, place, base: base.clone(), at: io.now() };
    let forked = cx.run().fork(beginning);
    let by = decider(io, DecisionChannel::Command);
    let fork = match Store::create(io, forked, &Origin::Begun, Some(&by)).await {
        // An earlier driver ended before it could record the fork, so nothing has worked in it.
        Err(StoreError::Failed(failure)) if failure.is_exists() => Store::open(io, &id).await?,
        created => created?,
    };
    cx.store.apply(Event::StepForked { step, run: id, base })?;
    let line = cx.run().events.last().map(|entry| entry.text.clone()).unwrap_or_default();
    cx.store.note(line);
    cx.store.commit().await?;
    fork_progress(cx, step, fork).await?;
    Ok(true)
}

/// The place of a fork beside the worktree of its run; `None`: the run has none.
pub(super) fn place_of(run: &Place, id: &str) -> Option<Place> {
    let worktree = run.worktree_path.as_deref()?.trim_end_matches('/');
    let (folder, _) = worktree.rsplit_once('/')?;
    let path = format!("{folder}/{id}");
    let moved = |place: &str| match place.strip_prefix(worktree) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{path}{rest}"),
        _ => place.to_owned(),
    };
    Some(Place {
        workflow_path: moved(&run.workflow_path),
        execution_root: moved(&run.execution_root),
        branch: Some(format!("onloop/{id}")),
        worktree_path: Some(path.clone()),
        report_path: format!(".hotl/reports/{id}.md"),
        ..run.clone()
    })
}

async fn make_worktree(cx: &RunContext<'_>, place: &Place, base: &str) -> Result<(), Failure> {
    let io = cx.io;
    let Place { worktree_path: Some(path), branch: Some(branch), .. } = place else {
        return Ok(());
    };
    // What a process left that ended before it recorded the fork.
    remove_worktree(io, place).await;
    let lock = cx.store.home().worktree_lock(root_of(&cx.run().place));
    let locked = io.lock(&lock, limits::GIT_ACT_TIMEOUT_MS).await.is_ok();
    let created = io
        .git(GitRequest::CreateWorktree {
            cwd: cx.run().place.execution_root.clone(),
            path: path.clone(),
            branch: branch.clone(),
            create_at: Some(base.to_owned()),
        })
        .await;
    if locked {
        // A lock that stays ends with this process.
        let _ = io.unlock(&lock).await;
    }
    created?;
    submodules::fill(io, path).await?;
    bring_workflow(io, &cx.run().place, place).await
}

/// Writes the workflow file where git ignores it, and so no checkpoint has it.
async fn bring_workflow(io: &Io, from: &Place, to: &Place) -> Result<(), Failure> {
    if io.stat(&to.workflow_path).await.optional()?.is_some() {
        return Ok(());
    }
    let (bytes, _) = io.read(&from.workflow_path, limits::WORKFLOW_BYTES as u64).await?;
    io.write(&to.workflow_path, bytes, Expect::Absent, Durability::Durable).await.map(drop)
}

fn root_of(place: &Place) -> &str {
    place.repo_root.as_deref().unwrap_or(&place.execution_root)
}

/// Removes the worktree and the branch of a fork. What cannot be removed does no harm.
pub(super) async fn remove_worktree(io: &Io, fork: &Place) {
    let Place { worktree_path: Some(path), branch: Some(branch), .. } = fork else { return };
    let cwd = root_of(fork).to_owned();
    let request = GitRequest::RemoveWorktree { cwd: cwd.clone(), path: path.clone() };
    let _ = io.git(request).await;
    let _ = io.git(GitRequest::DeleteBranch { cwd, branch: branch.clone() }).await;
}
