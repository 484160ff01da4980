//! Requests about checkpoints: commits that no branch contains.

use std::path::PathBuf;

use onloop_core::effect::{BranchName, Failure, FailureKind, GitRequest, Outcome};

use super::program::{CHECKPOINTS, NewCheckpoint, NewCommit, NewImport, Wanted};
use super::{Access, OsGit, absolute, branch_name, commit_id, done, libgit, needed, no_repository};

impl OsGit {
    /// Performs a request about checkpoints with the git program, because libgit2 applies no
    /// filters.
    pub(super) fn perform_checkpoint(&self, request: &GitRequest) -> Result<Outcome, Failure> {
        let program = &self.program;
        match request {
            GitRequest::Diff { cwd, from, to, stat, paths, limit_bytes } => {
                let (cwd, ends) =
                    (self.demand_repository(cwd)?, (commit_id(from)?, commit_id(to)?));
                let bytes = program.diff(&cwd, ends, *stat, paths, *limit_bytes);
                Ok(Outcome::Diff { bytes: needed(bytes, CHECKPOINT_REASON)?.into() })
            }
            GitRequest::ChangedPaths { cwd, from, to } => {
                let cwd = absolute(cwd)?;
                let (from, to) = (commit_id(from)?, commit_id(to)?);
                let library = match self.access(&cwd)? {
                    Access::Nothing => return Err(no_repository(&cwd)),
                    // The program may fetch an object that libgit2 cannot read.
                    Access::Library(repository) => libgit::changed_paths(&repository, from, to),
                    Access::Program(_) => None,
                };
                let names = match library {
                    Some(names) => names,
                    None => needed(program.changed_paths(&cwd, from, to), CHECKPOINT_REASON)?,
                };
                Ok(Outcome::Names { names })
            }
            GitRequest::Checkpoints { cwd } => {
                let cwd = absolute(cwd)?;
                let checkpoints = match self.access(&cwd)? {
                    Access::Nothing => Vec::new(),
                    Access::Library(_) | Access::Program(_) => {
                        needed(program.checkpoints(&cwd), CHECKPOINT_REASON)?
                    }
                };
                Ok(Outcome::Checkpoints { checkpoints })
            }
            GitRequest::ForgetCheckpoint { cwd, name, commit } => {
                let (cwd, reference) = (self.demand_repository(cwd)?, checkpoint_name(name)?);
                let forgotten = program.forget_checkpoint(&cwd, &reference, commit_id(commit)?);
                needed(forgotten, CHECKPOINT_REASON).map(done)
            }
            GitRequest::Note { cwd, commit, text, at } => {
                let noted =
                    program.note(&self.demand_repository(cwd)?, commit_id(commit)?, text, *at);
                needed(noted, CHECKPOINT_REASON).map(done)
            }
            GitRequest::Checkpoint { .. }
            | GitRequest::Restore { .. }
            | GitRequest::CommitKept { .. } => self.perform_with_index(request),
            GitRequest::ImportPack { cwd, pack, branch, head, commit, tree } => {
                let cwd = self.demand_repository(cwd)?;
                let new = NewImport {
                    pack: &absolute(pack)?,
                    branch: &branch_name(branch)?,
                    head: commit_id(head)?,
                    commit: commit_id(commit)?,
                    tree: commit_id(tree)?,
                };
                needed(program.import_pack(&cwd, &new), CHECKPOINT_REASON).map(done)
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
                let cwd = self.demand_repository(cwd)?;
                let new = NewCheckpoint {
                    index: &absolute(index)?,
                    reference: &checkpoint_name(name)?,
                    parent: parent.as_deref().map(commit_id).transpose()?,
                    message,
                    at: *at,
                    limit_bytes: *limit_bytes,
                    programs: programs.as_deref(),
                };
                needed(program.checkpoint(&cwd, &new), CHECKPOINT_REASON).map(Outcome::Checkpoint)
            }
            GitRequest::Restore { cwd, index, commit, paths, programs } => {
                let (cwd, index) = (self.demand_repository(cwd)?, absolute(index)?);
                let wanted = Wanted { commit: commit_id(commit)?, paths };
                let restored = program.restore(&cwd, &index, wanted, programs.as_deref());
                needed(restored, CHECKPOINT_REASON).map(done)
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
                let commit = needed(
                    program.commit_kept(&self.demand_repository(cwd)?, &new),
                    CHECKPOINT_REASON,
                );
                commit.map(|commit| Outcome::Commit { commit: Some(commit) })
            }
            _ => unreachable!("performed by the callers"),
        }
    }

    /// Returns `cwd`, which must be inside a repository.
    pub(super) fn demand_repository(&self, cwd: &str) -> Result<PathBuf, Failure> {
        let cwd = absolute(cwd)?;
        match self.access(&cwd)? {
            Access::Nothing => Err(no_repository(&cwd)),
            Access::Library(_) | Access::Program(_) => Ok(cwd),
        }
    }
}

/// Why the git program is needed for checkpoints.
pub(super) const CHECKPOINT_REASON: &str = "files are kept as git would";

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
