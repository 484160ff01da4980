//! Linked worktrees with the git program.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind};

use super::super::rollback::{self, Parents};
use super::super::{NewWorktree, Registered, resolved, utf8};
use super::{Answer, GitProgram};

impl GitProgram {
    /// Returns every registered worktree, the main checkout first unless the repository is bare.
    pub(crate) fn registered(&self, cwd: &Path) -> Result<Vec<Registered>, Failure> {
        self.registered_around(cwd, || self.main_root(&self.layout(cwd)?))
    }

    /// Does the same with the main checkout's top folder from `main_root`, which is not called for
    /// a bare repository.
    pub(super) fn registered_around(
        &self,
        cwd: &Path,
        main_root: impl FnOnce() -> Result<PathBuf, Failure>,
    ) -> Result<Vec<Registered>, Failure> {
        let args = ["worktree", "list", "--porcelain", "-z"];
        let output = until_written(|| self.answer(cwd, &args)?.success())?;
        let mut all: Vec<Registered> = Vec::new();
        let mut bare = false;
        for attribute in output.split(|&byte| byte == 0) {
            let attribute = String::from_utf8_lossy(attribute);
            let (key, value) = attribute.split_once(' ').unwrap_or((&attribute, ""));
            let current = all.last_mut();
            match (key, current) {
                ("worktree", _) => all.push(Registered {
                    path: resolved(Path::new(value)),
                    branch: None,
                    locked: None,
                    present: Path::new(value).join(".git").exists(),
                }),
                ("branch", Some(entry)) => {
                    entry.branch = value.strip_prefix("refs/heads/").map(str::to_owned);
                }
                ("locked", Some(entry)) => entry.locked = Some(value.to_owned()),
                ("bare", Some(_)) => bare = true,
                // Commits, and lines of later versions.
                (_, _) => {}
            }
        }
        match all.first_mut() {
            // Git names a submodule's repository here, not its checkout.
            Some(main) if !bare => {
                main.path = main_root()?;
                main.present = true;
            }
            Some(_) => drop(all.remove(0)),
            None => {}
        }
        Ok(all)
    }

    /// Creates a worktree, or nothing at all.
    pub(crate) fn create_worktree(&self, cwd: &Path, new: &NewWorktree<'_>) -> Result<(), Failure> {
        let path = utf8(new.path)?;
        for stale in self.registered(cwd)? {
            let same_branch = stale.branch.as_deref() == Some(new.branch.as_str());
            if (stale.path == new.path || same_branch) && !stale.present {
                stale.unlocked()?;
                self.forget(cwd, &stale.path)?;
            }
        }
        let branch = format!("refs/heads/{}", new.branch);
        let is_new = new.create_at.is_some() && self.commit(cwd, &branch)?.is_none();
        let parents = Parents::make(new.path)?;
        if let Err(failure) = self.add_worktree(cwd, new, &path) {
            let undisturbed = self.undisturbed();
            let _ = fs::remove_dir_all(new.path);
            let _ = undisturbed.forget(cwd, new.path);
            if is_new {
                let _ = undisturbed.delete_branch(cwd, new.branch);
            }
            return Err(failure);
        }
        parents.keep();
        Ok(())
    }

    fn add_worktree(&self, cwd: &Path, new: &NewWorktree<'_>, path: &str) -> Result<(), Failure> {
        if let Some(commit) = new.create_at {
            // On its own, `worktree add -b` leaves its branch behind when the checkout fails.
            let args = ["branch", "--quiet", "--no-track", "--", new.branch.as_str(), commit];
            self.answer(cwd, &args)?.success()?;
        }
        let args = ["worktree", "add", "--quiet", "--", path, new.branch.as_str()];
        // Git reads the other records before it writes its own.
        until_written(|| self.act(cwd, &args).and_then(Answer::success).map(drop))
    }

    /// Removes a linked worktree with everything in it.
    pub(crate) fn remove_worktree(&self, cwd: &Path, path: &Path) -> Result<(), Failure> {
        let wanted = resolved(path);
        let registered = self.registered(cwd)?;
        let main = self.main_root(&self.layout(cwd)?)?;
        let found = registered.iter().find(|entry| entry.path == wanted && entry.path != main);
        let Some(entry) = found else {
            let message =
                format!("`{}` is not a linked worktree of this repository", path.display());
            return Err(Failure::new(FailureKind::NotFound, message));
        };
        entry.unlocked()?;
        if entry.present {
            rollback::remove_folder(&wanted)?;
        }
        self.forget(cwd, &wanted)
    }

    fn forget(&self, cwd: &Path, path: &Path) -> Result<(), Failure> {
        let path = utf8(path)?;
        let args = ["worktree", "remove", "--force", "--", &path];
        until_written(|| self.answer(cwd, &args)?.success().map(drop))
    }
}

/// How often git is asked again while another git writes the record of a worktree, and the pause
/// between.
const RECORD_TRIES: u32 = 20;
const RECORD_PAUSE: Duration = Duration::from_millis(50);

/// Repeats what reads the records of all worktrees. Git fails while another process, such as the
/// person's own `git worktree add`, has written a part of one.
fn until_written<T>(ask: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 1..RECORD_TRIES {
        match ask() {
            Err(failure) if is_half_written(&failure.message) => thread::sleep(RECORD_PAUSE),
            answered => return answered,
        }
    }
    ask()
}

/// Whether git could not read a file of a worktree's record that is not complete yet.
fn is_half_written(said: &str) -> bool {
    let of_a_record = |file: &str| said.contains("/worktrees/") && said.contains(file);
    said.contains("failed to read")
        && ["/commondir", "/gitdir", "/HEAD"].into_iter().any(of_a_record)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_record_that_another_git_writes_is_read_again() {
        let said = "`git worktree add` in `/r` ended with 128: fatal: failed to read \
                    .git/worktrees/x/commondir: Success";
        let asked = Cell::new(0);
        let answered = until_written(|| {
            asked.set(asked.get() + 1);
            match asked.get() {
                3 => Ok(()),
                _ => Err(Failure::new(FailureKind::Other, said)),
            }
        });
        assert_eq!((answered, asked.get()), (Ok(()), 3));
        let other = || -> Result<(), Failure> {
            asked.set(asked.get() + 1);
            Err(Failure::new(FailureKind::Other, "fatal: failed to read /r/x: Success"))
        };
        assert!(until_written(other).is_err());
        assert_eq!(asked.get(), 4, "another error is not repeated");
    }
}
