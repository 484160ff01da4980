//! Requests about checkpoints: commits that no branch contains.

use onloop_core::effect::{BranchName, Failure, FailureKind, GitRequest, Outcome};

use super::program::{CHECKPOINTS, NewCheckpoint, NewCommit, NewImport, Wanted};
use super::{OsGit, absolute, branch_name, commit_id, done, if_any};

impl OsGit {
    /// Performs a request about checkpoints.
    pub(super) fn perform_checkpoint(&self, request: &GitRequest) -> Result<Outcome, Failure> {
        let program = &self.program;
        match request {
            GitRequest::Diff { cwd, from, to, stat, paths, limit_bytes } => {
                let (cwd, ends) = (absolute(cwd)?, (commit_id(from)?, commit_id(to)?));
                let bytes = program.diff(&cwd, ends, *stat, paths, *limit_bytes);
                Ok(Outcome::Diff { bytes: bytes?.into() })
            }
            GitRequest::ChangedPaths { cwd, from, to } => {
                let names =
                    program.changed_paths(&absolute(cwd)?, commit_id(from)?, commit_id(to)?);
                Ok(Outcome::Names { names: names? })
            }
            GitRequest::Checkpoints { cwd } => {
                let cwd = absolute(cwd)?;
                let checkpoints = if_any(&cwd, program.checkpoints(&cwd))?.unwrap_or_default();
                Ok(Outcome::Checkpoints { checkpoints })
            }
            GitRequest::ForgetCheckpoint { cwd, name, commit } => {
                let (cwd, reference) = (absolute(cwd)?, checkpoint_name(name)?);
                let forgotten = program.forget_checkpoint(&cwd, &reference, commit_id(commit)?);
                forgotten.map(done)
            }
            GitRequest::Note { cwd, commit, text, at } => {
                let noted = program.note(&absolute(cwd)?, commit_id(commit)?, text, *at);
                noted.map(done)
            }
            GitRequest::Checkpoint { .. }
            | GitRequest::Restore { .. }
            | GitRequest::CommitKept { .. } => self.perform_with_index(request),
            GitRequest::ImportPack { cwd, pack, branch, head, commit, tree } => {
                let cwd = absolute(cwd)?;
                let new = NewImport {
                    pack: &absolute(pack)?,
                    branch: &branch_name(branch)?,
                    head: commit_id(head)?,
                    commit: commit_id(commit)?,
                    tree: commit_id(tree)?,
                };
                program.import_pack(&cwd, &new).map(done)
            }
            GitRequest::Survey { .. }
            | GitRequest::Worktrees { .. }
            | GitRequest::Head { .. }
            | GitRequest::CreateWorktree { .. }
            | GitRequest::RemoveWorktree { .. }
            | GitRequest::Switch { .. }
            | GitRequest::DeleteBranch { .. }
            | GitRequest::MergeBase { .. }
            | GitRequest::RemoteBranch { .. }
            | GitRequest::Merge { .. }
            | GitRequest::RecoverMerge { .. }
            | GitRequest::Push { .. }
            | GitRequest::Stash { .. }
            | GitRequest::KeepFiles { .. }
            | GitRequest::ReadKept { .. }
            | GitRequest::PushRefs { .. }
            | GitRequest::FetchRefs { .. } => unreachable!("performed by the caller"),
        }
    }

    /// Performs a request that uses an index of its own.
    fn perform_with_index(&self, request: &GitRequest) -> Result<Outcome, Failure> {
        let program = &self.program;
        match request {
            GitRequest::Checkpoint {
                cwd,
                index,
                name,
                parent,
                message,
                at,
                limit_bytes,
                programs,
            } => {
                let cwd = absolute(cwd)?;
                let new = NewCheckpoint {
                    index: &absolute(index)?,
                    reference: &checkpoint_name(name)?,
                    parent: parent.as_deref().map(commit_id).transpose()?,
                    message,
                    at: *at,
                    limit_bytes: *limit_bytes,
                    programs: programs.as_deref(),
                };
                program.checkpoint(&cwd, &new).map(Outcome::Checkpoint)
            }
            GitRequest::Restore { cwd, index, commit, paths, programs } => {
                let (cwd, index) = (absolute(cwd)?, absolute(index)?);
                let wanted = Wanted { commit: commit_id(commit)?, paths };
                let restored = program.restore(&cwd, &index, wanted, programs.as_deref());
                restored.map(done)
            }
            GitRequest::CommitKept { cwd, index, branch, head, kept, without, message } => {
                let new = NewCommit {
                    index: &absolute(index)?,
                    branch: &branch_name(branch)?,
                    head: commit_id(head)?,
                    kept: commit_id(kept)?,
                    without,
                    message,
                };
                let commit = program.commit_kept(&absolute(cwd)?, &new);
                commit.map(|commit| Outcome::Commit { commit: Some(commit) })
            }
            _ => unreachable!("performed by the callers"),
        }
    }
}

/// Returns the ref of a checkpoint; git has the same rules for all refs.
pub(super) fn checkpoint_name(name: &str) -> Result<String, Failure> {
    match name.parse::<BranchName>() {
        Ok(name) => Ok(format!("{CHECKPOINTS}{name}")),
        Err(reason) => {
            let name = name.escape_debug();
            let message = format!("`{name}` is not the name of a checkpoint: it {reason}");
            Err(Failure::new(FailureKind::Invalid, message))
        }
    }
}
