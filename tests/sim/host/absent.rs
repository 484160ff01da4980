//! What answers for a network and a repository that a machine does not have.

use onloop_core::effect::{
    Failure, FailureKind, GitRequest, GitSurvey, HttpAnswer, HttpSpec, Outcome,
};

use crate::Disk;

/// Servers where there is no network.
pub(super) fn no_network(_disk: &mut Disk, _spec: &HttpSpec) -> Result<HttpAnswer, Failure> {
    Err(Failure::new(FailureKind::Closed, "there is no network"))
}

/// Git where there is no repository.
pub(super) fn no_repository(_disk: &mut Disk, request: &GitRequest) -> Result<Outcome, Failure> {
    match request {
        GitRequest::Survey { .. } => Ok(Outcome::Survey(GitSurvey::default())),
        GitRequest::Worktrees { .. } => Ok(Outcome::Worktrees { worktrees: Vec::new() }),
        GitRequest::Checkpoints { .. } => Ok(Outcome::Checkpoints { checkpoints: Vec::new() }),
        GitRequest::Head { .. } => Ok(Outcome::Commit { commit: None }),
        GitRequest::MergeBase { .. }
        | GitRequest::CreateWorktree { .. }
        | GitRequest::RemoveWorktree { .. }
        | GitRequest::Switch { .. }
        | GitRequest::DeleteBranch { .. }
        | GitRequest::RemoteBranch { .. }
        | GitRequest::Merge { .. }
        | GitRequest::RecoverMerge { .. }
        | GitRequest::Push { .. }
        | GitRequest::Stash { .. }
        | GitRequest::Checkpoint { .. }
        | GitRequest::Restore { .. }
        | GitRequest::Diff { .. }
        | GitRequest::ChangedPaths { .. }
        | GitRequest::ForgetCheckpoint { .. }
        | GitRequest::Note { .. }
        | GitRequest::KeepFiles { .. }
        | GitRequest::ReadKept { .. }
        | GitRequest::PushRefs { .. }
        | GitRequest::FetchRefs { .. }
        | GitRequest::ImportPack { .. }
        | GitRequest::CommitKept { .. } => {
            Err(Failure::new(FailureKind::NotFound, "there is no repository"))
        }
    }
}
