//! Git requests one by one: their names, ids and paths are checked before git gets them.

use onloop_effect::{BranchName, Failure, FailureKind, GitRequest, GitSurvey, Outcome};
use onloop_effect::{RefUpdate, WorktreeEntry};
use onloop_syntax::text::one_line;

use crate::checkpoint::{NewCheckpoint, Wanted};
use crate::command::GitProgram;
use crate::commit::NewCommit;
use crate::import::NewImport;
use crate::merge::NewMerge;
use crate::paths::is_utf8;
use crate::references::CHECKPOINTS;
use crate::shared::NewFiles;
use crate::worktree::{NewWorktree, Registered};

/// Performs one request, whose paths are absolute.
pub(crate) async fn outcome(
    program: &GitProgram,
    request: &GitRequest,
) -> Result<Outcome, Failure> {
    match request {
        GitRequest::Survey { cwd, branch } => {
            survey(program, cwd, branch).await.map(Outcome::Survey)
        }
        GitRequest::Worktrees { cwd } => {
            worktrees(program, cwd).await.map(|worktrees| Outcome::Worktrees { worktrees })
        }
        GitRequest::Head { cwd } => {
            head(program, cwd).await.map(|commit| Outcome::Commit { commit })
        }
        GitRequest::CreateWorktree { cwd, path, branch, create_at } => {
            let new = NewWorktree {
                path,
                branch: &branch_name(branch)?,
                create_at: create_at.as_deref().map(commit_id).transpose()?,
            };
            create_worktree(program, cwd, &new).await.map(done)
        }
        GitRequest::RemoveWorktree { cwd, path } => {
            remove_worktree(program, cwd, path).await.map(done)
        }
        GitRequest::Switch { cwd, branch, create } => {
            program.switch(cwd, &branch_name(branch)?, *create).await.map(done)
        }
        GitRequest::DeleteBranch { cwd, branch } => {
            program.delete_branch(cwd, &branch_name(branch)?).await.map(done)
        }
        GitRequest::MergeBase { cwd, commit, branch } => {
            let branch = branch_name(branch)?;
            program
                .merge_base(cwd, commit_id(commit)?, &branch)
                .await
                .map(|commit| Outcome::Commit { commit })
        }
        GitRequest::RemoteBranch { cwd, remote, branch } => {
            let (remote, branch) = (remote_name(remote)?, branch_name(branch)?);
            program
                .remote_branch(cwd, remote, &branch)
                .await
                .map(|commit| Outcome::Commit { commit })
        }
        GitRequest::Merge { cwd, branch, commit, into }
        | GitRequest::RecoverMerge { cwd, branch, commit, into } => {
            let merge = NewMerge {
                branch: &branch_name(branch)?,
                commit: commit_id(commit)?,
                into: &branch_name(into)?,
            };
            match request {
                GitRequest::Merge { .. } => program.merge(cwd, &merge).await.map(done),
                _ => program.undo_killed_merge(cwd, &merge).await.map(done),
            }
        }
        GitRequest::Push { cwd, remote, branch } => {
            let (remote, branch) = (remote_name(remote)?, branch_name(branch)?);
            program.push(cwd, remote, &branch).await.map(done)
        }
        GitRequest::Stash { cwd, message, paths } => {
            program.stash(cwd, message, paths).await.map(done)
        }
        GitRequest::Checkpoint { cwd, index, name, parent, message, at, limit_bytes, programs } => {
            let new = NewCheckpoint {
                index,
                reference: &checkpoint_name(name)?,
                parent: parent.as_deref().map(commit_id).transpose()?,
                message,
                at: *at,
                limit_bytes: *limit_bytes,
                programs: programs.as_deref(),
            };
            program.checkpoint(cwd, &new).await.map(Outcome::Checkpoint)
        }
        GitRequest::Restore { cwd, index, commit, paths, programs } => {
            let wanted = Wanted { commit: commit_id(commit)?, paths };
            let restored = program.restore(cwd, index, wanted, programs.as_deref()).await;
            restored.map(done)
        }
        GitRequest::CommitKept { cwd, index, branch, head, kept, without, message } => {
            let new = NewCommit {
                index,
                branch: &branch_name(branch)?,
                head: commit_id(head)?,
                kept: commit_id(kept)?,
                without,
                message,
            };
            let commit = program.commit_kept(cwd, &new).await;
            commit.map(|commit| Outcome::Commit { commit: Some(commit) })
        }
        GitRequest::Diff { cwd, from, to, stat, paths, limit_bytes } => {
            let ends = (commit_id(from)?, commit_id(to)?);
            let bytes = program.diff(cwd, ends, *stat, paths, *limit_bytes).await;
            Ok(Outcome::Diff { bytes: bytes?.into() })
        }
        GitRequest::ChangedPaths { cwd, from, to } => {
            let names = program.changed_paths(cwd, commit_id(from)?, commit_id(to)?).await;
            Ok(Outcome::Names { names: names? })
        }
        GitRequest::Checkpoints { cwd } => {
            let checkpoints =
                program.if_any(cwd, program.checkpoints(cwd).await).await?.unwrap_or_default();
            Ok(Outcome::Checkpoints { checkpoints })
        }
        GitRequest::ForgetCheckpoint { cwd, name, commit } => {
            let reference = checkpoint_name(name)?;
            let forgotten = program.forget_checkpoint(cwd, &reference, commit_id(commit)?).await;
            forgotten.map(done)
        }
        GitRequest::Note { cwd, commit, text, at } => {
            let noted = program.note(cwd, commit_id(commit)?, text, *at).await;
            noted.map(done)
        }
        GitRequest::ImportPack { cwd, pack, branch, head, commit, tree } => {
            let new = NewImport {
                pack,
                branch: &branch_name(branch)?,
                head: commit_id(head)?,
                commit: commit_id(commit)?,
                tree: commit_id(tree)?,
            };
            program.import_pack(cwd, &new).await.map(done)
        }
        GitRequest::KeepFiles { cwd, files, name, parent, message, at } => {
            for file in files {
                demand_plain(&file.name)?;
            }
            let parent = parent.as_deref().map(commit_id).transpose()?;
            let reference = name.as_deref().map(checkpoint_name).transpose()?;
            let reference = reference.as_deref();
            let new = NewFiles { files, reference, parent, message, at: *at };
            let commit = program.keep_files(cwd, &new).await?;
            Ok(Outcome::Commit { commit: Some(commit) })
        }
        GitRequest::ReadKept { cwd, commit, name, limit_bytes } => {
            demand_plain(name)?;
            let read = program.read_kept(cwd, commit_id(commit)?, name, *limit_bytes).await;
            Ok(Outcome::KeptFile { bytes: read?.into() })
        }
        GitRequest::PushRefs { cwd, remote, updates } => {
            for RefUpdate { name, expected, commit } in updates {
                checkpoint_name(name)?;
                expected.as_deref().map(commit_id).transpose()?;
                commit.as_deref().map(commit_id).transpose()?;
            }
            let remote = program.known_remote(cwd, remote_name(remote)?).await?;
            let pushed = program.push_refs(cwd, &remote, updates).await;
            pushed.map(done)
        }
        GitRequest::FetchRefs { cwd, remote, prefix } => {
            checkpoint_name(prefix)?;
            let remote = program.known_remote(cwd, remote_name(remote)?).await?;
            let fetched = program.fetch_refs(cwd, remote.name, prefix).await;
            let checkpoints = fetched?;
            Ok(Outcome::Checkpoints { checkpoints })
        }
    }
}

async fn survey(program: &GitProgram, cwd: &str, branch: &str) -> Result<GitSurvey, Failure> {
    // An invalid name cannot be a branch, so git is not asked.
    let branch = branch.parse::<BranchName>().ok();
    let found = program.survey(cwd, branch.as_ref()).await;
    Ok(GitSurvey { repository: program.if_any(cwd, found).await?.flatten() })
}

async fn worktrees(program: &GitProgram, cwd: &str) -> Result<Vec<WorktreeEntry>, Failure> {
    let registered = program.registered(cwd).await;
    let registered = program.if_any(cwd, registered).await?.unwrap_or_default();
    let usable = registered.into_iter().filter(Registered::holds_its_branch);
    usable
        .map(|entry| Ok(WorktreeEntry { path: utf8(&entry.path)?, branch: entry.branch }))
        .collect()
}

async fn head(program: &GitProgram, cwd: &str) -> Result<Option<String>, Failure> {
    Ok(program.if_any(cwd, program.commit(cwd, "HEAD").await).await?.flatten())
}

async fn create_worktree(
    program: &GitProgram,
    cwd: &str,
    new: &NewWorktree<'_>,
) -> Result<(), Failure> {
    if program.is_there(new.path).await {
        let message = format!("`{}` already exists", new.path);
        return Err(Failure::new(FailureKind::Exists, message));
    }
    program.create_worktree(cwd, new).await
}

async fn remove_worktree(program: &GitProgram, cwd: &str, path: &str) -> Result<(), Failure> {
    program.remove_rest(&program.resolved(path).await).await?;
    let removed = program.remove_worktree(cwd, path).await;
    // An earlier removal can have been killed before this.
    if removed.as_ref().err().is_none_or(Failure::is_not_found) {
        program.remove_empty_ancestors(path).await;
    }
    removed
}

fn branch_name(name: &str) -> Result<BranchName, Failure> {
    name.parse().map_err(|reason| {
        let name = name.escape_debug();
        Failure::new(FailureKind::Invalid, format!("`{name}` is not a branch name: it {reason}"))
    })
}

/// Git has the same rules for remotes as for branches; an address is not a name.
fn remote_name(name: &str) -> Result<&str, Failure> {
    match name.parse::<BranchName>() {
        Ok(_) => Ok(name),
        Err(reason) => {
            let name = name.escape_debug();
            let message = format!("`{name}` is not the name of a remote: it {reason}");
            Err(Failure::new(FailureKind::Invalid, message))
        }
    }
}

/// Accepts only a full id, which git does not have to interpret.
fn commit_id(id: &str) -> Result<&str, Failure> {
    let whole = matches!(id.len(), 40 | 64);
    if whole && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(id);
    }
    let id = id.escape_debug();
    Err(Failure::new(FailureKind::Invalid, format!("`{id}` is not the id of a commit")))
}

/// A path for an outcome.
pub(crate) fn utf8(path: &str) -> Result<String, Failure> {
    if is_utf8(path) {
        return Ok(path.to_owned());
    }
    let message = format!("the path `{}` is not UTF-8", one_line(path));
    Err(Failure::new(FailureKind::Invalid, message))
}

fn done((): ()) -> Outcome {
    Outcome::Done
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
