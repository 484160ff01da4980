//! Git repositories, through the git program of the machine.
//!
//! Git can hang in a hook, a filter, a remote or a credential helper. So each command has a time
//! limit, a person can interrupt it, and onloop undoes what it left half done.
//!
//! The configuration of a repository is untrusted. Hooks and the file system monitor are off.
//! Filters stay on, because without them the files would be wrong. The `pre-push` hook runs when a
//! person asks for a push: it guards what leaves the machine, and it uploads large files. The
//! environment cannot point git at another repository.

mod discovery;
mod known_failures;
mod program;
mod requests;
mod rollback;
mod settings;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use onloop_core::effect::{BranchName, Failure, FailureKind, GitRequest, Outcome};
use onloop_core::effect::{GitSurvey, WorktreeEntry};

use super::{Interrupts, RunningGroup};
use program::GitProgram;

/// Answers [`GitRequest`]s.
#[derive(Debug)]
pub struct OsGit {
    program: GitProgram,
}

impl Default for OsGit {
    fn default() -> OsGit {
        OsGit::new()
    }
}

/// A worktree that the repository has registered.
#[derive(Clone, Debug)]
struct Registered {
    /// Its top folder; symbolic links resolved where it exists.
    path: PathBuf,
    /// Its branch.
    branch: Option<String>,
    /// The reason it is locked for; empty where none was given.
    locked: Option<String>,
    /// Whether the folder is there.
    present: bool,
}

/// A worktree to create.
struct NewWorktree<'a> {
    path: &'a Path,
    branch: &'a BranchName,
    create_at: Option<&'a str>,
}

/// A merge to make.
struct NewMerge<'a> {
    branch: &'a BranchName,
    commit: &'a str,
    into: &'a BranchName,
}

impl OsGit {
    /// Uses the `git` on `PATH`.
    pub fn new() -> OsGit {
        OsGit::with_program("git")
    }

    /// Uses `executable`.
    pub fn with_program(executable: impl Into<OsString>) -> OsGit {
        OsGit { program: GitProgram::new(executable.into()) }
    }

    /// Lets `interrupts` end a command, and adds each command to `running`.
    #[must_use]
    pub fn among(self, interrupts: &Interrupts, running: &RunningGroup) -> OsGit {
        OsGit { program: self.program.among(interrupts, running) }
    }

    /// Bounds the time of each git command.
    #[must_use]
    pub fn at_most_ms(self, timeout_ms: u64) -> OsGit {
        OsGit { program: self.program.at_most_ms(timeout_ms) }
    }

    /// Performs one request. Paths in it are absolute, or relative to the current folder of
    /// the process.
    pub fn perform(&mut self, request: &GitRequest) -> Result<Outcome, Failure> {
        let outcome = self.outcome(request);
        if outcome.as_ref().is_err_and(Failure::is_interrupted) {
            // Every command of the request has ended.
            self.program.take_interrupt();
        }
        outcome
    }

    /// Returns every branch, tag and remote branch, as a line of an id and a name.
    #[cfg(target_os = "linux")]
    pub(super) fn reference_lines(&self, git_folder: &Path) -> Result<Vec<u8>, Failure> {
        self.program.reference_lines(git_folder)
    }

    /// Returns what the file `HEAD` of a git folder says, wherever the repository keeps its refs.
    #[cfg(target_os = "linux")]
    pub(super) fn head_line(&self, git_folder: &Path) -> Result<Vec<u8>, Failure> {
        self.program.head_line(git_folder)
    }

    fn survey(&self, cwd: &Path, branch: &str) -> Result<GitSurvey, Failure> {
        // An invalid name cannot be a branch, so git is not asked.
        let branch = branch.parse::<BranchName>().ok();
        let repository = if_any(cwd, self.program.survey(cwd, branch.as_ref()))?.flatten();
        Ok(GitSurvey { repository })
    }

    fn worktrees(&self, cwd: &Path) -> Result<Vec<WorktreeEntry>, Failure> {
        let registered = if_any(cwd, self.program.registered(cwd))?.unwrap_or_default();
        let usable = registered.into_iter().filter(Registered::holds_its_branch);
        usable
            .map(|entry| Ok(WorktreeEntry { path: utf8(&entry.path)?, branch: entry.branch }))
            .collect()
    }

    fn head(&self, cwd: &Path) -> Result<Option<String>, Failure> {
        Ok(if_any(cwd, self.program.commit(cwd, "HEAD"))?.flatten())
    }

    fn create_worktree(&self, cwd: &Path, new: &NewWorktree<'_>) -> Result<(), Failure> {
        let shown = new.path.display();
        if new.path.symlink_metadata().is_ok() {
            return Err(Failure::new(FailureKind::Exists, format!("`{shown}` already exists")));
        }
        self.program.create_worktree(cwd, new)
    }

    fn remove_worktree(&self, cwd: &Path, path: &Path) -> Result<(), Failure> {
        rollback::remove_rest(&resolved(path))?;
        let removed = self.program.remove_worktree(cwd, path);
        // An earlier removal can have been killed before this.
        if removed.as_ref().err().is_none_or(Failure::is_not_found) {
            rollback::remove_empty_ancestors(path);
        }
        removed
    }
}

/// What git answered about the repository around `cwd`; `None`: there is none.
fn if_any<T>(cwd: &Path, answered: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answered {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.is_not_found() => Ok(None),
        // A machine without git can run workflows outside of repositories.
        Err(failure) if failure.kind == FailureKind::Unsupported => {
            match discovery::git_entry(cwd) {
                None => Ok(None),
                Some(_) => Err(failure),
            }
        }
        Err(failure) => Err(failure),
    }
}

/// The failure where git finds no repository around `cwd`: there is none, or its `.git` file points to a
/// missing one.
fn no_repository(cwd: &Path) -> Failure {
    match discovery::git_entry(cwd).filter(|entry| entry.is_file()) {
        None => {
            let message = format!("`{}` is not inside a git repository", cwd.display());
            Failure::new(FailureKind::NotFound, message)
        }
        Some(link) => Failure::new(
            FailureKind::Invalid,
            format!(
                "`{}` points to a repository that is not there; `git worktree repair`, run in the \
                 main checkout, may fix it",
                link.display()
            ),
        ),
    }
}

impl Registered {
    /// A worktree whose folder is gone still holds its branch while it is locked: the folder
    /// may be on a disk that is not mounted.
    fn holds_its_branch(&self) -> bool {
        self.present || self.locked.is_some()
    }

    /// Refuses to touch a locked worktree.
    fn unlocked(&self) -> Result<(), Failure> {
        let Some(reason) = &self.locked else { return Ok(()) };
        let shown = self.path.display();
        let reason = if reason.is_empty() { "no reason given" } else { reason };
        Err(Failure::new(
            FailureKind::Busy,
            format!("the worktree `{shown}` is locked ({reason}); `git worktree unlock` frees it"),
        ))
    }
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

/// Git would look for a relative path below the repository that it works in.
fn absolute(path: &str) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| rollback::failure(Path::new(path), &error))
}

fn utf8(path: &Path) -> Result<String, Failure> {
    let Some(text) = path.to_str() else {
        let message = format!("the path `{}` is not UTF-8", path.display());
        return Err(Failure::new(FailureKind::Invalid, message));
    };
    Ok(text.to_owned())
}

/// `path` with symbolic links resolved, where it exists.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn done((): ()) -> Outcome {
    Outcome::Done
}
