//! Git repositories, through libgit2 where possible and the git program where necessary.
//!
//! libgit2 answers questions quickly, without a process. It cannot open every repository (SHA-256
//! objects, reftable, split or sparse indexes), and it has no configured filters, so files of an
//! LFS repository would look changed. There the git program answers behind the same functions. The
//! git program also writes the files of a checkout, if it is installed.
//!
//! Git can hang in a hook, a filter, a remote or a credential helper. So each command has a time
//! limit, a person can interrupt it, and onloop undoes what it left half done.
//!
//! The configuration of a repository is untrusted. Hooks and the file system monitor are off.
//! Filters stay on, because without them the files would be wrong. The `pre-push` hook runs when a
//! person asks for a push: it guards what leaves the machine, and it uploads large files. The
//! environment cannot point git at another repository.

mod checkpoints;
mod discovery;
mod known_failures;
mod libgit;
mod program;
mod rollback;
mod settings;
mod shared;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use onloop_core::effect::{BranchName, Failure, FailureKind, GitRequest, Outcome};
use onloop_core::effect::{GitSurvey, Repository, WorktreeEntry};

use super::{Interrupts, RunningGroup};
use program::GitProgram;

/// Answers [`GitRequest`]s.
#[derive(Debug)]
pub struct OsGit {
    program: GitProgram,
    /// Whether the git program answers every request.
    program_only: bool,
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

/// How onloop reads a repository.
enum Access {
    /// No repository was found.
    Nothing,
    /// libgit2.
    Library(git2::Repository),
    /// The git program, for this reason.
    Program(String),
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
    /// Uses the `git` on `PATH` if libgit2 is not enough.
    pub fn new() -> OsGit {
        OsGit::with_program("git")
    }

    /// Uses `executable` if libgit2 is not enough.
    pub fn with_program(executable: impl Into<OsString>) -> OsGit {
        OsGit { program: GitProgram::new(executable.into()), program_only: false }
    }

    /// Lets `interrupts` end a command, and adds each command to `running`.
    #[must_use]
    pub fn among(self, interrupts: &Interrupts, running: &RunningGroup) -> OsGit {
        OsGit { program: self.program.among(interrupts, running), ..self }
    }

    /// Bounds the time of each git command.
    #[must_use]
    pub fn at_most_ms(self, timeout_ms: u64) -> OsGit {
        OsGit { program: self.program.at_most_ms(timeout_ms), ..self }
    }

    /// Uses the git program for every request, as for a repository that libgit2 cannot open.
    #[must_use]
    pub fn without_library(self) -> OsGit {
        OsGit { program_only: true, ..self }
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

    fn outcome(&self, request: &GitRequest) -> Result<Outcome, Failure> {
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
                self.switch(&absolute(cwd)?, &branch_name(branch)?, *create).map(done)
            }
            GitRequest::DeleteBranch { cwd, branch } => {
                self.delete_branch(&absolute(cwd)?, &branch_name(branch)?).map(done)
            }
            GitRequest::MergeBase { cwd, commit, branch } => {
                let branch = branch_name(branch)?;
                self.merge_base(&absolute(cwd)?, commit_id(commit)?, &branch)
                    .map(|commit| Outcome::Commit { commit })
            }
            GitRequest::RemoteBranch { cwd, remote, branch } => {
                let (remote, branch) = (remote_name(remote)?, branch_name(branch)?);
                self.remote_branch(&absolute(cwd)?, remote, &branch)
                    .map(|commit| Outcome::Commit { commit })
            }
            GitRequest::Merge { cwd, branch, commit, into } => {
                let merge = NewMerge {
                    branch: &branch_name(branch)?,
                    commit: commit_id(commit)?,
                    into: &branch_name(into)?,
                };
                self.merge(&absolute(cwd)?, &merge).map(done)
            }
            GitRequest::Push { cwd, remote, branch } => {
                let (remote, branch) = (remote_name(remote)?, branch_name(branch)?);
                self.push(&absolute(cwd)?, remote, &branch).map(done)
            }
            GitRequest::Stash { cwd, message, paths } => {
                self.stash(&absolute(cwd)?, message, paths).map(done)
            }
            GitRequest::Checkpoint { .. }
            | GitRequest::Restore { .. }
            | GitRequest::Diff { .. }
            | GitRequest::ChangedPaths { .. }
            | GitRequest::Checkpoints { .. }
            | GitRequest::ForgetCheckpoint { .. }
            | GitRequest::Note { .. }
            | GitRequest::ImportPack { .. }
            | GitRequest::CommitKept { .. } => self.perform_checkpoint(request),
            GitRequest::KeepFiles { .. }
            | GitRequest::ReadKept { .. }
            | GitRequest::PushRefs { .. }
            | GitRequest::FetchRefs { .. } => self.perform_shared(request),
        }
    }

    /// Returns every branch, tag and remote branch, as a line of an id and a name.
    #[cfg(target_os = "linux")]
    pub(super) fn reference_lines(&self, cwd: &Path) -> Result<Vec<u8>, Failure> {
        self.program.reference_lines(cwd)
    }

    fn survey(&self, cwd: &Path, branch: &str) -> Result<GitSurvey, Failure> {
        // An invalid name cannot be a branch, so git is not asked.
        let branch = branch.parse::<BranchName>().ok();
        let repository = match self.access(cwd)? {
            Access::Nothing => None,
            Access::Library(repository) if repository.is_bare() => None,
            Access::Library(repository) => match libgit::needs_program(&repository) {
                Some(reason) => needed(self.program.survey(cwd, branch.as_ref()), &reason)?,
                None => Some(self.survey_with_library(&repository, cwd, branch.as_ref())?),
            },
            Access::Program(reason) => needed(self.program.survey(cwd, branch.as_ref()), &reason)?,
        };
        Ok(GitSurvey { repository })
    }

    /// Falls back to the git program, because an index can have extensions that libgit2 cannot
    /// read.
    fn survey_with_library(
        &self,
        repository: &git2::Repository,
        cwd: &Path,
        branch: Option<&BranchName>,
    ) -> Result<Repository, Failure> {
        let failure = match libgit::survey(repository, branch) {
            Ok(survey) => return Ok(survey),
            Err(failure) => failure,
        };
        match self.program.survey(cwd, branch) {
            Ok(Some(survey)) => Ok(survey),
            Ok(None) | Err(_) => Err(failure),
        }
    }

    fn worktrees(&self, cwd: &Path) -> Result<Vec<WorktreeEntry>, Failure> {
        let registered = match self.access(cwd)? {
            Access::Nothing => return Ok(Vec::new()),
            Access::Library(repository) => libgit::registered(&repository)?,
            Access::Program(reason) => needed(self.program.registered(cwd), &reason)?,
        };
        let usable = registered.into_iter().filter(Registered::holds_its_branch);
        usable
            .map(|entry| Ok(WorktreeEntry { path: utf8(&entry.path)?, branch: entry.branch }))
            .collect()
    }

    fn head(&self, cwd: &Path) -> Result<Option<String>, Failure> {
        match self.access(cwd)? {
            Access::Nothing => Ok(None),
            Access::Library(repository) => libgit::head(&repository),
            Access::Program(reason) => needed(self.program.commit(cwd, "HEAD"), &reason),
        }
    }

    fn create_worktree(&self, cwd: &Path, new: &NewWorktree<'_>) -> Result<(), Failure> {
        let shown = new.path.display();
        if new.path.symlink_metadata().is_ok() {
            return Err(Failure::new(FailureKind::Exists, format!("`{shown}` already exists")));
        }
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            // The git program writes every file correctly, and a timeout can end it.
            Access::Library(repository) => match self.program.create_worktree(cwd, new) {
                Err(failure) if failure.kind == FailureKind::Unsupported => {
                    match libgit::checkout_needs_program(&repository, new)? {
                        None => libgit::create_worktree(&repository, new),
                        Some(reason) => needed(Err(failure), &reason),
                    }
                }
                created => created,
            },
            Access::Program(reason) => needed(self.program.create_worktree(cwd, new), &reason),
        }
    }

    fn remove_worktree(&self, cwd: &Path, path: &Path) -> Result<(), Failure> {
        let access = self.access(cwd)?;
        rollback::remove_rest(&resolved(path))?;
        let removed = match access {
            Access::Nothing => Err(no_repository(cwd)),
            Access::Library(repository) => libgit::remove_worktree(&repository, path),
            Access::Program(reason) => needed(self.program.remove_worktree(cwd, path), &reason),
        };
        // An earlier removal can have been killed before this.
        if removed.as_ref().err().is_none_or(Failure::is_not_found) {
            rollback::remove_empty_ancestors(path);
        }
        removed
    }

    fn switch(&self, cwd: &Path, branch: &BranchName, create: bool) -> Result<(), Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            // A new branch at HEAD changes no file, so filters do not matter.
            Access::Library(repository) if create => libgit::switch_to_new(&repository, branch),
            // Every other switch changes files, and only the git program has all rules about
            // overwriting.
            Access::Library(_) => {
                let reason = "an existing branch is checked out";
                needed(self.program.switch(cwd, branch, create), reason)
            }
            Access::Program(reason) => needed(self.program.switch(cwd, branch, create), &reason),
        }
    }

    fn delete_branch(&self, cwd: &Path, branch: &BranchName) -> Result<(), Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            Access::Library(repository) => {
                libgit::demand_free(&repository, branch)?;
                // Git survives our death; libgit2 would leave its locks behind.
                match self.program.delete_branch(cwd, branch) {
                    Err(failure) if failure.kind == FailureKind::Unsupported => {
                        libgit::delete_branch(&repository, branch)
                    }
                    deleted => deleted,
                }
            }
            Access::Program(reason) => needed(self.program.delete_branch(cwd, branch), &reason),
        }
    }

    fn merge_base(
        &self,
        cwd: &Path,
        commit: &str,
        branch: &BranchName,
    ) -> Result<Option<String>, Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            Access::Library(repository) => libgit::merge_base(&repository, commit, branch),
            Access::Program(reason) => {
                needed(self.program.merge_base(cwd, commit, branch), &reason)
            }
        }
    }

    fn remote_branch(
        &self,
        cwd: &Path,
        remote: &str,
        branch: &BranchName,
    ) -> Result<Option<String>, Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            // Only the git program supports every transport and login.
            Access::Library(_) | Access::Program(_) => {
                needed(self.program.remote_branch(cwd, remote, branch), "a remote is asked")
            }
        }
    }

    fn merge(&self, cwd: &Path, merge: &NewMerge<'_>) -> Result<(), Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            Access::Library(_) | Access::Program(_) => {
                needed(self.program.merge(cwd, merge), "branches are merged")
            }
        }
    }

    fn push(&self, cwd: &Path, remote: &str, branch: &BranchName) -> Result<(), Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            Access::Library(_) | Access::Program(_) => {
                needed(self.program.push(cwd, remote, branch), "a branch is pushed")
            }
        }
    }

    fn stash(&self, cwd: &Path, message: &str, paths: &[String]) -> Result<(), Failure> {
        match self.access(cwd)? {
            Access::Nothing => Err(no_repository(cwd)),
            Access::Library(_) | Access::Program(_) => {
                needed(self.program.stash(cwd, message, paths), "something is stashed")
            }
        }
    }

    /// Opens the repository around `cwd`, as git itself would find it.
    fn access(&self, cwd: &Path) -> Result<Access, Failure> {
        if self.program_only {
            return match self.program.is_in_repository(cwd)? {
                true => Ok(Access::Program("libgit2 is not asked".to_owned())),
                false => nothing(cwd),
            };
        }
        let error = match libgit::open(cwd) {
            Ok(repository) => return Ok(Access::Library(repository)),
            Err(error) => error,
        };
        match error.code() {
            git2::ErrorCode::NotFound => nothing(cwd),
            // Only git reads every setting that allows this.
            git2::ErrorCode::Owner => {
                Ok(Access::Program("the repository belongs to another user".to_owned()))
            }
            _ => Ok(Access::Program(error.message().to_owned())),
        }
    }
}

/// No repository is around `cwd`, or its `.git` file points to a missing one.
fn nothing(cwd: &Path) -> Result<Access, Failure> {
    match broken_git_file(cwd) {
        None => Ok(Access::Nothing),
        Some(link) => Err(Failure::new(
            FailureKind::Invalid,
            format!(
                "`{}` points to a repository that is not there; `git worktree repair`, run in the \
                 main checkout, may fix it",
                link.display()
            ),
        )),
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

/// Returns the `.git` file whose repository is missing, if that is why none was found.
fn broken_git_file(cwd: &Path) -> Option<PathBuf> {
    let folders = discovery::Bounds::of_environment().folders(cwd);
    let link = folders.iter().map(|folder| folder.join(".git")).find(|path| path.exists())?;
    link.is_file().then_some(link)
}

/// Adds to the failure why the missing git program is needed.
fn needed<T>(result: Result<T, Failure>, reason: &str) -> Result<T, Failure> {
    result.map_err(|failure| {
        if failure.kind != FailureKind::Unsupported {
            return failure;
        }
        let message = format!("{}; it is needed because {reason}", failure.message);
        Failure::new(failure.kind, message)
    })
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

fn no_repository(cwd: &Path) -> Failure {
    let message = format!("`{}` is not inside a git repository", cwd.display());
    Failure::new(FailureKind::NotFound, message)
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
