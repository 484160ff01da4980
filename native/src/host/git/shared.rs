//! Requests about refs that several machines share through a remote.

use std::path::Path;

use onloop_core::effect::{Failure, FailureKind, GitRequest, Outcome, RefUpdate};

use super::checkpoints::{CHECKPOINT_REASON, checkpoint_name};
use super::program::{KnownRemote, NewFiles};
use super::{Access, OsGit, absolute, commit_id, done, libgit, needed, no_repository, remote_name};

impl OsGit {
    /// Performs a request about shared refs. Only the git program supports every transport.
    pub(super) fn perform_shared(&self, request: &GitRequest) -> Result<Outcome, Failure> {
        let program = &self.program;
        match request {
            GitRequest::KeepFiles { cwd, files, name, parent, message, at } => {
                let cwd = absolute(cwd)?;
                for file in files {
                    demand_plain(&file.name)?;
                }
                let parent = parent.as_deref().map(commit_id).transpose()?;
                let reference = name.as_deref().map(checkpoint_name).transpose()?;
                let reference = reference.as_deref();
                let new = NewFiles { files, reference, parent, message, at: *at };
                let kept = match self.access(&cwd)? {
                    Access::Nothing => return Err(no_repository(&cwd)),
                    Access::Library(repository) => libgit::keep_files(&repository, &new),
                    Access::Program(_) => None,
                };
                let commit = match kept {
                    Some(commit) => commit,
                    None => needed(program.keep_files(&cwd, &new), CHECKPOINT_REASON)?,
                };
                Ok(Outcome::Commit { commit: Some(commit) })
            }
            GitRequest::ReadKept { cwd, commit, name, limit_bytes } => {
                let cwd = self.demand_repository(cwd)?;
                demand_plain(name)?;
                let read = program.read_kept(&cwd, commit_id(commit)?, name, *limit_bytes);
                Ok(Outcome::KeptFile { bytes: needed(read, CHECKPOINT_REASON)?.into() })
            }
            GitRequest::PushRefs { cwd, remote, updates } => {
                let cwd = self.demand_repository(cwd)?;
                for RefUpdate { name, expected, commit } in updates {
                    checkpoint_name(name)?;
                    expected.as_deref().map(commit_id).transpose()?;
                    commit.as_deref().map(commit_id).transpose()?;
                }
                let remote = self.known_remote(&cwd, remote)?;
                let pushed = program.push_refs(&cwd, &remote, updates);
                needed(pushed, "a remote is asked").map(done)
            }
            GitRequest::FetchRefs { cwd, remote, prefix } => {
                let cwd = self.demand_repository(cwd)?;
                checkpoint_name(prefix)?;
                let remote = self.known_remote(&cwd, remote)?;
                let fetched = program.fetch_refs(&cwd, remote.name, prefix);
                let checkpoints = needed(fetched, "a remote is asked")?;
                Ok(Outcome::Checkpoints { checkpoints })
            }
            _ => unreachable!("performed by the callers"),
        }
    }

    /// Returns a configured remote; git would take an unknown name for a folder.
    fn known_remote<'n>(&self, cwd: &Path, name: &'n str) -> Result<KnownRemote<'n>, Failure> {
        let name = remote_name(name)?;
        // Each step of a fleet run asks this, and libgit2 is faster than starting git.
        if let Access::Library(repository) = self.access(cwd)?
            && let Some(known) = libgit::known_remote(&repository, name)
        {
            return Ok(known);
        }
        needed(self.program.demand_remote(cwd, name), "a remote is asked")?;
        Ok(KnownRemote { name, is_folder: false })
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
