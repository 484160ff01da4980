//! Requests about refs that several machines share through a remote.

use onloop_core::effect::{Failure, FailureKind, GitRequest, Outcome, RefUpdate};

use super::checkpoints::checkpoint_name;
use super::program::NewFiles;
use super::{OsGit, absolute, commit_id, done, remote_name};

impl OsGit {
    /// Performs a request about shared refs.
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
            _ => unreachable!("performed by the callers"),
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
