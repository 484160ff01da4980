//! `onloop doctor --prune`: removes checkpoints, kept files of sessions, logs and worktrees of parallel steps
//! that are not needed any more.

use std::collections::BTreeMap;

use super::retention;
use onloop_effect::{Exit, Failure, GitRequest, Io, NamedCheckpoint};
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout;
use onloop_engine::run::forks;
use onloop_engine::sandbox::leftovers;
use onloop_engine::session::kept_files::SESSIONS;
use onloop_engine::state::config;
use onloop_engine::state::store::{Store, StoreError};
use onloop_run::{CheckpointKind, Disposition, Run, RunStatus, is_run_id};
use onloop_syntax::text;

/// Removes the logs of finished runs that are old; and here, the checkpoints of those and of runs whose
/// work is in a branch.
pub(super) async fn prune(io: &Io) -> Result<Exit, CommandError> {
    let cwd = io.start().cwd.clone();
    let days = config::own(io, &cwd).await.retention_days;
    retention::remove_logs(io, days).await?;
    for folder in leftovers::sweep(io).await {
        io.result(format!("Removed {folder}, which a killed run has left\n")).await;
    }
    match checkout::find(io, &cwd).await {
        Some(_) => {
            for id in forks::remove_unneeded(io, &cwd).await? {
                io.result(format!("Removed the worktree of {id}, which is not needed\n")).await;
            }
            remove_checkpoints(io, cwd, days).await?;
        }
        None => io.note("Checkpoints are removed in their repository; here is none.").await,
    }
    Ok(Exit::Done)
}

async fn remove_checkpoints(io: &Io, cwd: String, days: u32) -> Result<(), Failure> {
    let mut runs: BTreeMap<String, Vec<NamedCheckpoint>> = BTreeMap::new();
    for checkpoint in io.git_checkpoints(&cwd).await? {
        // What is kept for a session has a name in a folder of the session.
        let owner = match checkpoint.name.rsplit_once('/') {
            Some((session, _)) if is_of_a_session(session) => Some(session),
            _ => checkpoint.name.split_once('/').map(|(id, _)| id),
        };
        if let Some(owner) = owner.map(str::to_owned) {
            runs.entry(owner).or_default().push(checkpoint);
        }
    }
    let (mut removed, mut kept) = (0, 0);
    for (id, checkpoints) in runs {
        let Some(why) = unneeded(io, &cwd, &id, &checkpoints, days).await? else {
            kept += checkpoints.len() as u64;
            continue;
        };
        for NamedCheckpoint { name, commit, .. } in checkpoints {
            io.git(GitRequest::ForgetCheckpoint { cwd: cwd.clone(), name, commit }).await?;
            removed += 1;
        }
        io.result(format!("{}: {why}\n", text::one_line(&id))).await;
    }
    let (removed, kept) = (text::counted(removed, "checkpoint"), text::counted(kept, "checkpoint"));
    io.result(format!("Removed {removed}, kept {kept}.\n")).await;
    Ok(())
}

/// Whether `owner` is a session, and not a run.
fn is_of_a_session(owner: &str) -> bool {
    owner.strip_prefix(SESSIONS).is_some_and(|rest| rest.starts_with('/'))
}

/// Why the checkpoints of a run or session are not needed; `None`: they are.
async fn unneeded(
    io: &Io,
    cwd: &str,
    id: &str,
    checkpoints: &[NamedCheckpoint],
    days: u32,
) -> Result<Option<String>, Failure> {
    let opened = match is_run_id(id) {
        true => Store::open(io, id).await,
        false => Err(StoreError::Missing),
    };
    let newest = checkpoints.iter().map(|checkpoint| checkpoint.at).max();
    let old = newest.is_some_and(|at| retention::is_over(io.now(), at, days));
    if is_of_a_session(id) {
        return Ok(old.then(|| format!("not changed for {days} days")));
    }
    match opened {
        Ok(store) if !store.run().is_over() => Ok(None),
        Ok(store) => match is_reachable(io, cwd, store.run()).await? {
            true => Ok(Some("finished, and its work is in a branch".to_owned())),
            // Nothing else may have the work.
            false if is_undelivered(store.run()) => Ok(None),
            false => Ok(old.then(|| format!("finished more than {days} days ago"))),
        },
        // Of another state home, or of a record that was removed.
        Err(StoreError::Missing) => {
            Ok(old.then(|| format!("not known here, and older than {days} days")))
        }
        // Who knows what it says.
        Err(_) => Ok(None),
    }
}

/// Whether the work is verified, and nobody has said what becomes of it.
fn is_undelivered(run: &Run) -> bool {
    run.status == RunStatus::Completed && run.finish.is_none()
}

/// Whether a branch has the files that the run ended with.
async fn is_reachable(io: &Io, cwd: &str, run: &Run) -> Result<bool, Failure> {
    let Some(finish) = &run.finish else { return Ok(false) };
    let branch = match finish.outcome.disposition {
        Disposition::Merged => finish.outcome.target_branch.as_ref(),
        Disposition::Published => run.place.branch.as_ref(),
        Disposition::Kept | Disposition::Discarded => None,
    };
    let (Some(branch), Some(commit)) = (branch, &run.finished_commit) else { return Ok(false) };
    // What a person undid before the end may be nowhere else.
    if run.checkpoints.iter().any(|c| c.moment.kind() == CheckpointKind::Undone) {
        return Ok(false);
    }
    let base = io.git_merge_base(cwd, commit, branch).await?;
    Ok(base.as_ref() == Some(commit))
}
