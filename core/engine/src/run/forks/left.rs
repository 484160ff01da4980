//! Worktrees of forks that are not needed any more. Removing one takes longer than merging its work, so
//! that nothing waits for it.

use crate::git::hardened::says;
use crate::run::forks::begin::{place_of, remove_unrecorded, remove_worktree};
use crate::run::forks::{Forks, stop};
use crate::state::store::Store;
use onloop_effect::{Failure, Io};
use onloop_run::{Disposition, Run};
use onloop_syntax::limits;

/// Removes the worktrees of the forks that are merged. What they did is in their checkpoints.
pub(crate) async fn remove_merged(io: &Io, run: &Run, forks: &mut Forks) {
    for id in std::mem::take(&mut forks.left) {
        remove(io, run, &id).await;
    }
}

/// Ends the forks of a run whose worktree goes, and removes theirs, those of dropped forks as well.
pub async fn remove_all(io: &Io, store: &Store) {
    let run = store.run();
    stop(io, run).await;
    for record in run.steps.iter().filter(|record| record.is_new() && record.fork.is_none()) {
        remove_unrecorded(io, store.home(), run, record.step.number).await;
    }
    for id in run.fork_ids() {
        remove(io, run, &id).await;
    }
}

/// The folder is not looked for: a removal that was killed has renamed it.
async fn remove(io: &Io, run: &Run, id: &str) {
    if let Some(place) = place_of(&run.place, id) {
        remove_worktree(io, &place).await;
    }
}

/// Removes the worktrees that processes have left in the repository of `cwd` which ended too early: of
/// forks that are merged, or whose run was merged or discarded. Returns the ids of these forks.
///
/// # Errors
///
/// Git fails.
pub async fn remove_unneeded(io: &Io, cwd: &str) -> Result<Vec<String>, Failure> {
    let words = ["for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/onloop/"];
    let said = says(io, cwd, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await?;
    let mut removed = Vec::new();
    // The branch of a fork goes last.
    for id in String::from_utf8_lossy(&said).lines() {
        let Some((run, _)) = id.split_once(".step-") else { continue };
        let Ok(store) = Store::open(io, run).await else { continue };
        let run = store.run();
        let is_gone = run.finish.as_ref().is_some_and(|finish| match finish.outcome.disposition {
            Disposition::Merged | Disposition::Discarded => true,
            Disposition::Kept | Disposition::Published => false,
        });
        let is_of_run = || run.fork_ids().iter().any(|fork| fork == id);
        let is_merged = || run.merged_forks().iter().any(|fork| fork == id);
        if (is_gone && is_of_run()) || is_merged() {
            remove(io, run, id).await;
            removed.push(id.to_owned());
        }
    }
    Ok(removed)
}
