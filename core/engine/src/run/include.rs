//! The uncommitted changes of a checkout as the beginning of a run in its worktree.

use crate::error::CommandError;
use crate::run::change::change;
use crate::run::checkpoint::{forget_snapshot, left_out_line, snapshot_work};
use crate::state::store::Store;
use onloop_effect::{Failure, GitRequest, Io, KeptWork};
use onloop_run::Event;
use onloop_syntax::limits;

/// Copies the files of the checkout in which the run was started to its worktree, uncommitted ones
/// included and ignored ones left out. The checkout stays as it is.
///
/// # Errors
///
/// Git cannot keep or restore the files, and the run is abandoned; or the person interrupted.
pub(super) async fn include_changes(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    match copied(io, store).await {
        Ok(kept) => {
            for left in &kept.left_out {
                io.note(format!("warning: not included: {}", left_out_line(left))).await;
            }
            Ok(())
        }
        Err(failure) if failure.is_interrupted() => Err(CommandError::interrupted()),
        Err(failure) => {
            let what = "the uncommitted changes could not be included";
            let reason = format!("{what}: {}", failure.message);
            change(io, store, Event::RunAbandoned { reason }).await?;
            Err(CommandError::from(failure).context(what).fix("commit them, or use --dirty ignore"))
        }
    }
}

async fn copied(io: &Io, store: &Store) -> Result<KeptWork, Failure> {
    let run = store.run();
    let place = &run.place;
    let from = place.repo_root.clone().unwrap_or_else(|| place.execution_root.clone());
    let name = format!("{}/included", run.id);
    let kept = io
        .git_checkpoint(GitRequest::Checkpoint {
            cwd: from.clone(),
            // The index of the run is that of its worktree.
            index: format!("{}-included", store.paths().index()),
            name: name.clone(),
            parent: None,
            message: format!("Uncommitted changes that begin {}\n", run.id),
            at: io.now(),
            limit_bytes: limits::CHECKPOINT_FILE_BYTES,
            programs: None,
        })
        .await?;
    // The run's index has to agree with the worktree first.
    let before = snapshot_work(io, store).await?;
    let restored = GitRequest::Restore {
        cwd: place.execution_root.clone(),
        index: store.paths().index(),
        commit: kept.commit.clone(),
        paths: Vec::new(),
        programs: None,
    };
    io.git(restored).await?;
    forget_snapshot(io, store, before.commit).await;
    // The first checkpoint of the run has the same files.
    let commit = kept.commit.clone();
    let _ = io.git(GitRequest::ForgetCheckpoint { cwd: from, name, commit }).await;
    Ok(kept)
}
