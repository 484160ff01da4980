//! Git requests one by one: their names, ids and paths are checked before git gets them.

use onloop_core::effect::{BranchName, Failure, FailureKind, GitRequest, Outcome, RefUpdate};

use super::program::{CHECKPOINTS, NewCheckpoint, NewCommit, NewFiles, NewImport, Wanted};
use super::{
    NewMerge, NewWorktree, OsGit, absolute, branch_name, commit_id, done, if_any, remote_name,
};

impl OsGit {
    /// Performs one request.
    pub(super) fn outcome(&self, request: &GitRequest) -> Result<Outcome, Failure> {
        let program = &self.program;
        match request {
            GitRequest::Survey { cwd, branch } => {
                self.survey(&absolute(cwd)?, branch).map(Outcome::Survey)
            }
            GitRequest::Worktrees { cwd } => {
                self.worktrees(&absolute(cwd)?).map(|worktrees| Outcome::Worktrees { worktrees })
            }
            GitRequest::Head { cwd } => {
                self.head(&absolute(cwd)?).map(|commit| Outcome::Commit { commit })
            }
            GitRequest::CreateWorktree { cwd, path, branch, create_at } => {
                let new = NewWorktree {
                    path: &absolute(path)?,
                    branch: &branch_name(branch)?,
                    create_at: create_at.as_deref().map(commit_id).transpose()?,
                };
                self.create_worktree(&absolute(cwd)?, &new).map(done)
            }
            GitRequest::RemoveWorktree { cwd, path } => {
                self.remove_worktree(&absolute(cwd)?, &absolute(path)?).map(done)
            }
            GitRequest::Switch { cwd, branch, create } => {
                program.switch(&absolute(cwd)?, &branch_name(branch)?, *create).map(done)
            }
            GitRequest::DeleteBranch { cwd, branch } => {
                program.delete_branch(&absolute(cwd)?, &branch_name(branch)?).map(done)
            }
            GitRequest::MergeBase { cwd, commit, branch } => {
                let branch = branch_name(branch)?;
                program
                    .merge_base(&absolute(cwd)?, commit_id(commit)?, &branch)
                    .map(|commit| Outcome::Commit { commit })
            }
            GitRequest::RemoteBranch { cwd, remote, branch } => {
                let (remote, branch) = (remote_name(remote)?, branch_name(branch)?);
                program
                    .remote_branch(&absolute(cwd)?, remote, &branch)
                    .map(|commit| Outcome::Commit { commit })
            }
            GitRequest::Merge { cwd, branch, commit, into }
            | GitRequest::RecoverMerge { cwd, branch, commit, into } => {
                let merge = NewMerge {
                    branch: &branch_name(branch)?,
                    commit: commit_id(commit)?,
                    into: &branch_name(into)?,
                };
                let cwd = absolute(cwd)?;
                match request {
                    GitRequest::Merge { .. } => program.merge(&cwd, &merge).map(done),
                    _ => program.undo_killed_merge(&cwd, &merge).map(done),
                }
            }
            GitRequest::Push { cwd, remote, branch } => {
                let (remote, branch) = (remote_name(remote)?, branch_name(branch)?);
                program.push(&absolute(cwd)?, remote, &branch).map(done)
            }
            GitRequest::Stash { cwd, message, paths } => {
                program.stash(&absolute(cwd)?, message, paths).map(done)
            }
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
            GitRequest::KeepFiles { cwd, files, name, parent, message, at } => {
                let cwd = absolute(cwd)?;
                for file in files {
                    demand_plain(&file.name)?;
                }
                let parent = parent.as_deref().map(commit_id).transpose()?;
                let reference = name.as_deref().map(checkpoint_name).transpose()?;
                let reference = reference.as_deref();
                let new = NewFiles { files, reference, parent, message, at: *at };
                let commit = program.keep_files(&cwd, &new)?;
                Ok(Outcome::Commit { commit: Some(commit) })
            }
            GitRequest::ReadKept { cwd, commit, name, limit_bytes } => {
                let cwd = absolute(cwd)?;
                demand_plain(name)?;
                let read = program.read_kept(&cwd, commit_id(commit)?, name, *limit_bytes);
                Ok(Outcome::KeptFile { bytes: read?.into() })
            }
            GitRequest::PushRefs { cwd, remote, updates } => {
                let cwd = absolute(cwd)?;
                for RefUpdate { name, expected, commit } in updates {
                    checkpoint_name(name)?;
                    expected.as_deref().map(commit_id).transpose()?;
                    commit.as_deref().map(commit_id).transpose()?;
                }
                let remote = program.known_remote(&cwd, remote_name(remote)?)?;
                let pushed = program.push_refs(&cwd, &remote, updates);
                pushed.map(done)
            }
            GitRequest::FetchRefs { cwd, remote, prefix } => {
                let cwd = absolute(cwd)?;
                checkpoint_name(prefix)?;
                let remote = program.known_remote(&cwd, remote_name(remote)?)?;
                let fetched = program.fetch_refs(&cwd, remote.name, prefix);
                let checkpoints = fetched?;
                Ok(Outcome::Checkpoints { checkpoints })
            }
        }
    }
}

/// Returns the ref of a checkpoint; git has the same rules for all refs.
fn checkpoint_name(name: &str) -> Result<String, Failure> {
    match name.parse::<BranchName>() {
        Ok(name) => Ok(format!("{CHECKPOINTS}{name}")),
        Err(reason) => {
            let name = name.escape_debug();
            let message = format!("`{name}` is not the name of a checkpoint: it {reason}");
            Err(Failure::new(FailureKind::Invalid, message))
        }
    }
}

/// Rejects a name with a path in it, because a caller other than core may not check names.
fn demand_plain(name: &str) -> Result<(), Failure> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if !name.is_empty() && name.bytes().all(plain) && !name.starts_with(['.', '-']) {
        return Ok(());
    }
    let name = name.escape_debug();
    Err(Failure::new(FailureKind::Invalid, format!("`{name}` is not the name of a kept file")))
}
