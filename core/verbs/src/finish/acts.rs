//! Doing what was intended. Every act is preceded by a look at whether it has been done, so
//! that a crash at any point leaves something that the same command can bring to an end.

use super::Intended;
use super::context::{FinishContext, TargetBranch};
use super::plan::{self, Wish};
use super::pull_request;
use super::verified;
use onloop_effect::{Failure, FailureKind, GitRequest, Io, OptionalExt};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_engine::run::forks;
use onloop_engine::state::recover::rescue_records;
use onloop_engine::state::store::Store;
use onloop_run::{Disposition, Event, FinishAct, FinishIntent, FinishOutcome, PullRequest, Run};
use onloop_syntax::text;

/// How far something that an earlier process intended has come.
pub(super) enum HowFar {
    /// It is what is asked for now: continue it.
    Continue,
    /// Nothing of it has happened, for this reason it will not.
    NotBegun(String),
    /// Something of it has happened, and something else is asked for now.
    Elsewhere,
}

/// Looks at what came of an intention.
pub(super) async fn look(
    io: &Io,
    run: &Run,
    context: &FinishContext,
    intent: &FinishIntent,
    wish: &Wish,
) -> Result<HowFar, CommandError> {
    let act = &intent.act;
    let target = match act {
        FinishAct::Merge { target, .. } => Some(target.as_str()),
        FinishAct::Publish { pull_request, .. } => pull_request.target(),
        FinishAct::Discard { .. } => None,
    };
    let other_target = wish.target.as_deref().is_some_and(|named| Some(named) != target);
    let other_remote = match act {
        FinishAct::Publish { remote, .. } => *remote != wish.remote,
        FinishAct::Merge { .. } | FinishAct::Discard { .. } => false,
    };
    let same = act.disposition() == wish.disposition && !other_target && !other_remote;
    if let FinishAct::Publish { pull_request, .. } = act
        && act.disposition() == wish.disposition
        && !other_remote
        && !wish.asks_for(pull_request)
    {
        // The branch may be pushed; asking for it once more changes nothing about that.
        return Ok(HowFar::NotBegun("another pull request is asked for".to_owned()));
    }
    let moved = context.commit.is_some() && context.commit.as_deref() != act.commit();
    if same && moved {
        return Ok(HowFar::NotBegun("the branch has other commits now".to_owned()));
    }
    if same {
        return match wish.objection() {
            None => Ok(HowFar::Continue),
            Some(objection) => Err(objection),
        };
    }
    if has_begun(io, run, context, act).await? {
        return Ok(HowFar::Elsewhere);
    }
    Ok(HowFar::NotBegun(format!("'{}' is asked for instead", wish.disposition.imperative())))
}

async fn has_begun(
    io: &Io,
    run: &Run,
    context: &FinishContext,
    act: &FinishAct,
) -> Result<bool, CommandError> {
    let worktree_gone = run.place.worktree_path.is_some() && context.worktree.is_none();
    Ok(match act {
        FinishAct::Merge { pull_request: Some(_), .. } => true,
        FinishAct::Merge { commit, target, pull_request: None } => {
            worktree_gone
                || context.commit.is_none()
                || is_merged(io, context, commit, target).await?
        }
        FinishAct::Publish { commit, remote, .. } => is_pushed(io, context, commit, remote).await?,
        FinishAct::Discard { commit } => {
            worktree_gone || (commit.is_some() && context.commit.is_none())
        }
    })
}

async fn is_merged(
    io: &Io,
    context: &FinishContext,
    commit: &str,
    target: &str,
) -> Result<bool, Failure> {
    let base = io.git_merge_base(&context.home, commit, target).await?;
    Ok(base.as_deref() == Some(commit))
}

async fn is_pushed(
    io: &Io,
    context: &FinishContext,
    commit: &str,
    remote: &str,
) -> Result<bool, Failure> {
    let there = io.git_remote_branch(&context.home, remote, &context.branch).await?;
    Ok(there.as_deref() == Some(commit))
}

/// Does what was intended, records what came of it and returns the record, wherever it is by
/// then.
pub(super) async fn perform(
    io: &Io,
    store: Store,
    context: &FinishContext,
    intended: &Intended,
) -> Result<Store, CommandError> {
    let intent = &intended.intent;
    let notes = intent.notes.clone();
    let (mut store, outcome) = match &intent.act {
        FinishAct::Merge { commit, target, pull_request: None } => {
            merge(io, store, context, (commit, target), intended.earlier).await?
        }
        FinishAct::Merge { commit, target, pull_request: Some(url) } => {
            let (store, outcome) = remove_merged(io, store, context, (commit, target)).await?;
            (store, FinishOutcome { pr_url: Some(url.clone()), ..outcome })
        }
        FinishAct::Publish { commit, remote, pull_request } => {
            publish(io, store, context, commit, remote, pull_request).await?
        }
        FinishAct::Discard { commit } => discard(io, store, context, commit.as_deref()).await?,
    };
    let outcome = FinishOutcome { notes, ..outcome };
    store.apply(Event::FinishRecorded { outcome, replace: true })?;
    store.commit().await?;
    Ok(store)
}

async fn merge(
    io: &Io,
    mut store: Store,
    context: &FinishContext,
    (commit, target): (&str, &str),
    earlier: bool,
) -> Result<(Store, FinishOutcome), CommandError> {
    if !is_merged(io, context, commit, target).await? {
        if context.commit.is_none() {
            let word = text::shell_word(&context.branch);
            return Err(CommandError::failed(format!(
                "branch `{}` is gone and `{target}` does not have its commit",
                context.branch
            ))
            .fix_by("bring it back", format!("git branch {word} {commit}")));
        }
        // What an earlier, killed merge left was restored before.
        if !earlier && let Some(objection) = plan::in_the_way(context) {
            return Err(objection);
        }
        let request = GitRequest::Merge {
            cwd: context.home.clone(),
            branch: context.branch.clone(),
            commit: commit.to_owned(),
            into: target.to_owned(),
        };
        if let Err(failure) = unlocked(io, &request).await {
            if failure.kind == FailureKind::Busy {
                // Whatever has the lock ends, and then the same command does what is missing.
                return Err(still_locked(failure));
            }
            let what = "merge failed; HOTL left the execution branch/worktree intact";
            return Err(give_up(&mut store, what, failure).await);
        }
    }
    remove_merged(io, store, context, (commit, target)).await
}

/// Restores the main checkout where a merge that was intended was killed, whatever is asked for now.
///
/// # Errors
///
/// A git is at work there, or a person changed files since; the intention stays.
pub(super) async fn recover(
    io: &Io,
    context: &FinishContext,
    act: &FinishAct,
) -> Result<(), CommandError> {
    let FinishAct::Merge { commit, target, pull_request: None } = act else { return Ok(()) };
    let request = GitRequest::RecoverMerge {
        cwd: context.home.clone(),
        branch: context.branch.clone(),
        commit: commit.clone(),
        into: target.clone(),
    };
    unlocked(io, &request).await.map_err(|failure| match failure.kind {
        FailureKind::Busy => still_locked(failure),
        _ => failure.into(),
    })
}

/// Performs a request again for as long as another git has a lock, within bounds.
async fn unlocked(io: &Io, request: &GitRequest) -> Result<(), Failure> {
    let mut left_ms = LOCK_WAIT_MS;
    loop {
        match io.git(request.clone()).await {
            Err(failure) if failure.kind == FailureKind::Busy && left_ms > 0 => {
                let pause_ms = left_ms.min(LOCK_PAUSE_MS);
                io.sleep(pause_ms).await?;
                left_ms -= pause_ms;
            }
            answered => return answered,
        }
    }
}

/// How long a lock of git is waited for, and left alone before the next try.
const LOCK_WAIT_MS: u64 = 3_000;
const LOCK_PAUSE_MS: u64 = 500;

fn still_locked(failure: Failure) -> CommandError {
    CommandError::from(failure)
        .fix("wait until that git has ended, then run the same command again; it continues")
}

/// Removes worktree and branch of work that is merged.
async fn remove_merged(
    io: &Io,
    store: Store,
    context: &FinishContext,
    (commit, target): (&str, &str),
) -> Result<(Store, FinishOutcome), CommandError> {
    let (mut store, mut outcome) =
        Box::pin(put_away(io, store, context, Disposition::Merged)).await?;
    let kind = outcome.disposition;
    let action = delete_branch(io, &mut store, context, Some(commit), kind).await?;
    outcome.branch_action = Some(action.to_owned());
    outcome.target_branch = Some(target.to_owned());
    Ok((store, outcome))
}

async fn discard(
    io: &Io,
    mut store: Store,
    context: &FinishContext,
    commit: Option<&str>,
) -> Result<(Store, FinishOutcome), CommandError> {
    if context.is_shared() {
        let target = context.target(io, store.run(), None).await?;
        let TargetBranch { name, .. } = plan::demand_target(store.run(), context, target.as_ref())?;
        let (cwd, branch) = (context.home.clone(), name.clone());
        if let Err(failure) = io.git(GitRequest::Switch { cwd, branch, create: false }).await {
            let what = format!("could not switch to `{name}`; nothing was discarded");
            return Err(give_up(&mut store, &what, failure).await);
        }
        store.note(format!("Switched {} to {name}", context.home));
    }
    let (mut store, mut outcome) =
        Box::pin(put_away(io, store, context, Disposition::Discarded)).await?;
    let kind = outcome.disposition;
    let action = delete_branch(io, &mut store, context, commit, kind).await?;
    outcome.branch_action = Some(action.to_owned());
    Ok((store, outcome))
}

async fn publish(
    io: &Io,
    mut store: Store,
    context: &FinishContext,
    commit: &str,
    remote: &str,
    pull_request: &PullRequest,
) -> Result<(Store, FinishOutcome), CommandError> {
    let branch = &context.branch;
    let pushed = match is_pushed(io, context, commit, remote).await {
        Ok(pushed) => pushed,
        Err(failure) => {
            let what = format!("could not ask `{remote}` for `{branch}`; nothing was published");
            return Err(give_up(&mut store, &what, failure).await);
        }
    };
    if !pushed {
        if let Some(error) = verified::other_hook(io, &store, context, remote).await? {
            return Err(give_up(&mut store, &format!("`{branch}` was not published"), error).await);
        }
        let cwd = context.home.clone();
        let request = GitRequest::Push { cwd, remote: remote.to_owned(), branch: branch.clone() };
        if let Err(failure) = io.git(request).await {
            unpublished(io, &mut store, context, (commit, remote), failure).await?;
        }
    }
    let pr_url = match pull_request {
        PullRequest::NotAsked { .. } => None,
        PullRequest::Existing { url, .. } => {
            if store.run().pull_request.as_ref().is_some_and(|tracked| tracked.url == *url) {
                pull_request::update(io, &mut store, context, url).await?;
            }
            Some(url.clone())
        }
        PullRequest::Create { target } => {
            let ends = (target.as_str(), remote);
            Some(pull_request::open(io, &store, context, ends, pushed).await?)
        }
    };
    let outcome = FinishOutcome {
        target_branch: pull_request.target().map(str::to_owned),
        remote: Some(remote.to_owned()),
        pr_url,
        branch_action: Some("pushed".to_owned()),
        worktree_action: context.worktree.as_ref().map(|_| "kept".to_owned()),
        ..FinishOutcome::new(Disposition::Published)
    };
    Ok((store, outcome))
}

/// What came of a push that ended with a failure: the remote reports that it took the branch, and then it is
/// published, whatever else went wrong.
async fn unpublished(
    io: &Io,
    store: &mut Store,
    context: &FinishContext,
    (commit, remote): (&str, &str),
    failure: Failure,
) -> Result<(), CommandError> {
    if failure.is_interrupted() {
        return Err(failure.into());
    }
    let branch = &context.branch;
    match is_pushed(io, context, commit, remote).await {
        Ok(true) => {
            let message = text::printable(&failure.message).trim_end().replace('\n', "\n  ");
            store.note(format!("warning: {remote} has {branch}, but:\n  {message}"));
            Ok(())
        }
        Ok(false) => Err(give_up(store, &format!("`{branch}` was not published"), failure).await),
        Err(asking) if asking.is_interrupted() => Err(asking.into()),
        Err(_) => Err(CommandError::from(failure)
            .context(format!("it is not known whether `{branch}` was published"))
            .fix("run the same command again; it asks the remote first")),
    }
}

/// Records that what was intended did not happen.
async fn give_up(store: &mut Store, what: &str, why: impl Into<CommandError>) -> CommandError {
    let error = why.into();
    if error.kind() == ErrorKind::Interrupted {
        return error;
    }
    let reason = text::ellipsis(&text::one_line(&error.to_string()), 500);
    if let Err(refusal) = store.apply(Event::FinishAbandoned { reason }) {
        return refusal.into();
    }
    match store.commit().await {
        Ok(()) => error.context(what),
        Err(unwritten) => CommandError::from(unwritten).context(error.to_string()).context(what),
    }
}

/// Moves the records out of the run's worktree, durably, and then removes it, after those of its forks.
async fn put_away(
    io: &Io,
    store: Store,
    context: &FinishContext,
    disposition: Disposition,
) -> Result<(Store, FinishOutcome), CommandError> {
    let mut outcome = FinishOutcome::new(disposition);
    let Some(recorded) = store.run().place.worktree_path.clone() else {
        return Ok((store, outcome));
    };
    forks::remove_all(io, &store).await;
    let path = context.worktree.as_ref().map_or(&recorded, |worktree| &worktree.path);
    let mut store = store;
    if context.worktree.is_some() {
        rescue_records(io, path, &context.home, Some(&store.run().id)).await?;
    }
    store = store.move_to(&context.home).await?;
    // Asked also where nothing is left: git may still have the worktree on its list.
    let request = GitRequest::RemoveWorktree { cwd: context.home.clone(), path: path.clone() };
    if let Err(failure) = io.git(request).await.optional() {
        return Err(half_way(&store, failure));
    }
    if io.stat(path).await.is_ok() {
        store.note(format!("warning: {path} is not a worktree any more, but has files in it"));
    }
    let inside = format!("{path}/");
    let cwd = &io.start().cwd;
    if cwd == path || cwd.starts_with(&inside) {
        store.note(format!("The folder you are in was removed; continue in {}", context.home));
    }
    outcome.worktree_action = Some("removed".to_owned());
    outcome.artifacts_preserved_at = Some(format!("{}/.hotl", context.home));
    Ok((store, outcome))
}

fn half_way(store: &Store, why: impl Into<CommandError>) -> CommandError {
    let (run, error) = (store.run(), why.into());
    match &run.finish_intent {
        Some(intent) if error.kind() != ErrorKind::Interrupted => error
            .fix_by("when that is fixed, continue where it stopped", intent.act.command(&run.id)),
        Some(_) | None => error,
    }
}

/// Deletes the run's branch, unless it is somebody else's; returns what was done. What is merged
/// may stay under its name where somebody has it checked out or has committed to it since. What
/// is to be discarded may not: it would be said to be gone.
async fn delete_branch(
    io: &Io,
    store: &mut Store,
    context: &FinishContext,
    commit: Option<&str>,
    disposition: Disposition,
) -> Result<&'static str, CommandError> {
    let branch = &context.branch;
    let here = io.git_survey(&context.home, branch).await?.repository;
    let holder = here.as_ref().and_then(|here| here.target_checked_out_at.clone());
    let Some(now) = here.and_then(|here| here.target_commit) else { return Ok("deleted") };
    if !context.owns_branch {
        return Ok("kept");
    }
    let moved = (Some(now.as_str()) != commit)
        .then(|| CommandError::failed(format!("branch `{branch}` has other commits now ({now})")));
    let in_use = holder.map(|at| plan::branch_in_use(branch, &at));
    if let Some(why) = moved.or(in_use) {
        if disposition == Disposition::Discarded {
            return Err(half_way(store, why));
        }
        store.note(format!("note: {why}; it was kept"));
        return Ok("kept");
    }
    let request = GitRequest::DeleteBranch { cwd: context.home.clone(), branch: branch.clone() };
    if let Err(failure) = io.git(request).await {
        return Err(half_way(store, failure));
    }
    Ok("deleted")
}
