//! Pushes to a repository in a folder of this machine. `git push` starts six more programs for one, and most of
//! its time is their beginning. Half of them are spared where nothing is configured that only it knows how to
//! heed, and little is to be sent: then the other side's own git is handed the objects at once. Whatever
//! that does not take as it is, `git push` tries again, and says what is wrong.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use git2::Oid;
use onloop_core::effect::{Failure, RefUpdate};

use super::program::KnownRemote;
use super::{Access, OsGit, libgit};

/// What is known of a remote that was pushed to.
#[derive(Debug)]
pub(super) struct Nearby {
    cwd: PathBuf,
    remote: String,
    /// What was configured then, as libgit2 reads it.
    configured: Vec<u8>,
    /// The repository; `None`: it takes `git push`.
    folder: Option<PathBuf>,
    /// Commits that it has, with everything below them.
    commits: BTreeSet<Oid>,
}

impl Nearby {
    fn is_about(&self, cwd: &Path, remote: &str) -> bool {
        self.cwd == cwd && self.remote == remote
    }
}

impl OsGit {
    /// Changes names in a remote repository, if each names there what is expected.
    pub(super) fn push_refs(
        &self,
        cwd: &Path,
        remote: &KnownRemote<'_>,
        updates: &[RefUpdate],
    ) -> Result<(), Failure> {
        if !remote.is_folder {
            return self.program.push_refs(cwd, remote, updates);
        }
        if !self.hand_over(cwd, remote.name, updates)? {
            self.program.push_refs(cwd, remote, updates)?;
        }
        if let Some(known) = self.nearby.borrow_mut().as_mut()
            && known.is_about(cwd, remote.name)
        {
            known.commits.extend(ids(updates));
        }
        Ok(())
    }

    /// Whether the other side's git has taken it; where it has not, nothing is known.
    fn hand_over(&self, cwd: &Path, remote: &str, updates: &[RefUpdate]) -> Result<bool, Failure> {
        let Access::Library(repository) = self.access(cwd)? else { return Ok(false) };
        let mut nearby = self.nearby.borrow_mut();
        let Some(configured) = libgit::configured(&repository) else { return Ok(false) };
        let is_same =
            |known: &&mut Nearby| known.is_about(cwd, remote) && known.configured == configured;
        let Some(known) = nearby.as_mut().filter(is_same) else {
            let folder = match self.program.folder_to_push_to(cwd, remote) {
                Err(failure) if failure.is_interrupted() => return Err(failure),
                // `git push` says what is wrong.
                asked => asked.unwrap_or_default(),
            };
            let (cwd, remote, commits) = (cwd.to_owned(), remote.to_owned(), BTreeSet::new());
            *nearby = Some(Nearby { cwd, remote, configured, folder, commits });
            return Ok(false);
        };
        let Some(folder) = &known.folder else { return Ok(false) };
        // It guards what leaves, and large files would stay behind without it.
        let has_hook = repository.commondir().join("hooks/pre-push").symlink_metadata().is_ok();
        if has_hook || updates.iter().any(|update| update.commit.is_none()) {
            return Ok(false);
        }
        let Some(pack) = libgit::parcel(&repository, ids(updates), &known.commits) else {
            return Ok(false);
        };
        match self.program.hand_over(cwd, folder, updates, &pack) {
            Err(failure) if failure.is_interrupted() => Err(failure),
            taken => Ok(taken.unwrap_or(false)),
        }
    }
}

fn ids(updates: &[RefUpdate]) -> impl Iterator<Item = Oid> {
    updates.iter().filter_map(|update| update.commit.as_deref()?.parse().ok())
}
