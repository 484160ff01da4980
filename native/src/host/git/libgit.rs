//! Requests that libgit2 performs without the git program.

mod attributes;
mod worktree;

use std::path::{Path, PathBuf};

use git2::{
    BranchType, ErrorCode, FileMode, Oid, Repository, RepositoryOpenFlags, RepositoryState,
    Signature, StatusOptions,
};
use onloop_core::effect;
use onloop_core::effect::{BranchName, Failure, FailureKind, KeptFile};
use onloop_core::time::Timestamp;

use super::discovery::Bounds;
use super::program::{KnownRemote, NewFiles};
use super::{Registered, known_failures, resolved, utf8};

pub(super) use attributes::{checkout_needs_program, needs_program};
pub(super) use worktree::{create_worktree, registered, remove_worktree};

/// The repository around `cwd`. The search ends where git's own does.
pub(super) fn open(cwd: &Path) -> Result<Repository, git2::Error> {
    let Bounds { ceilings, crosses } = Bounds::of_environment();
    let mut flags = RepositoryOpenFlags::empty();
    flags.set(RepositoryOpenFlags::CROSS_FS, crosses);
    Repository::open_ext(cwd, flags, ceilings)
}

/// Everything preflight needs to know about a checkout that is not bare.
pub(super) fn survey(
    repository: &Repository,
    branch: Option<&BranchName>,
) -> Result<effect::Repository, Failure> {
    let main = main_root(repository)?;
    let linked = repository.is_worktree();
    let target_commit = match branch {
        Some(branch) => branch_commit(repository, branch)?,
        None => None,
    };
    let target_blocked_by = match branch.filter(|_| target_commit.is_none()) {
        Some(branch) => blocking_branch(repository, branch)?,
        None => None,
    };
    let target_checked_out_at = match branch {
        Some(branch) => checked_out_at(repository, branch)?,
        None => None,
    };
    Ok(effect::Repository {
        root: utf8(&workdir(repository)?)?,
        main_root: utf8(&main)?,
        linked,
        branch: head_branch(repository)?,
        head: head(repository)?,
        dirty: dirty(repository)?,
        target_commit,
        target_checked_out_at,
        target_blocked_by,
    })
}

/// The top folder of the checkout, symbolic links resolved.
fn workdir(repository: &Repository) -> Result<PathBuf, Failure> {
    match repository.workdir() {
        Some(path) => Ok(resolved(path)),
        None => {
            let message = format!("`{}` is a bare repository", repository.path().display());
            Err(Failure::new(FailureKind::Invalid, message))
        }
    }
}

/// Top folder of the main checkout; of a bare repository, its own folder.
fn main_root(repository: &Repository) -> Result<PathBuf, Failure> {
    if !repository.is_worktree() {
        return workdir(repository);
    }
    let main =
        Repository::open(repository.commondir()).map_err(|error| failure(repository, &error))?;
    Ok(resolved(main.workdir().unwrap_or(main.path())))
}

/// The commit at HEAD.
pub(super) fn head(repository: &Repository) -> Result<Option<String>, Failure> {
    match repository.head().and_then(|head| head.peel_to_commit()) {
        Ok(commit) => Ok(Some(commit.id().to_string())),
        Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => {
            Ok(None)
        }
        Err(error) => Err(failure(repository, &error)),
    }
}

/// The branch at HEAD, even before its first commit.
fn head_branch(repository: &Repository) -> Result<Option<String>, Failure> {
    let head = repository.find_reference("HEAD").map_err(|error| failure(repository, &error))?;
    let target = head.symbolic_target().map_err(|error| failure(repository, &error))?;
    Ok(target.and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned))
}

fn branch_commit(repository: &Repository, branch: &BranchName) -> Result<Option<String>, Failure> {
    let found = repository.find_branch(branch.as_str(), BranchType::Local);
    match found.and_then(|branch| branch.get().peel_to_commit()) {
        Ok(commit) => Ok(Some(commit.id().to_string())),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(failure(repository, &error)),
    }
}

/// A branch whose name is a leading part of `branch`, or has it as one.
fn blocking_branch(
    repository: &Repository,
    branch: &BranchName,
) -> Result<Option<String>, Failure> {
    for above in branch.leading_parts() {
        match repository.find_branch(above, BranchType::Local) {
            Ok(_) => return Ok(Some(above.to_owned())),
            Err(error) if error.code() == ErrorCode::NotFound => {}
            Err(error) => return Err(failure(repository, &error)),
        }
    }
    let below = repository
        .references_glob(&format!("refs/heads/{branch}/*"))
        .and_then(|mut found| found.next().transpose());
    let below = below.map_err(|error| failure(repository, &error))?;
    let name = below.as_ref().and_then(|reference| reference.name().ok());
    Ok(name.and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned))
}

fn checked_out_at(repository: &Repository, branch: &BranchName) -> Result<Option<String>, Failure> {
    let holds = |entry: &Registered| {
        entry.branch.as_deref() == Some(branch.as_str()) && entry.holds_its_branch()
    };
    match registered(repository)?.iter().find(|entry| holds(entry)) {
        Some(entry) => utf8(&entry.path).map(Some),
        None => Ok(None),
    }
}

fn dirty(repository: &Repository) -> Result<Vec<String>, Failure> {
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false);
    let statuses =
        repository.statuses(Some(&mut options)).map_err(|error| failure(repository, &error))?;
    let mut paths: Vec<String> = statuses
        .iter()
        .filter(|entry| !is_dirty_only(entry))
        .map(|entry| String::from_utf8_lossy(entry.path_bytes()).into_owned())
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Whether the entry is a submodule at the commit of the index, with uncommitted files inside. The git
/// program does not look inside either.
fn is_dirty_only(entry: &git2::StatusEntry<'_>) -> bool {
    let inside = |delta: git2::DiffDelta<'_>| {
        let (old, new) = (delta.old_file(), delta.new_file());
        old.mode() == git2::FileMode::Commit && old.id() == new.id()
    };
    entry.head_to_index().is_none() && entry.index_to_workdir().is_some_and(inside)
}

/// A commit without a ref.
fn commit(
    repository: &Repository,
    tree: Oid,
    parent: Option<&str>,
    message: &str,
    at: Timestamp,
) -> Result<Oid, git2::Error> {
    let time = git2::Time::new(at.as_millis().div_euclid(1000), 0);
    let ours = Signature::new("onloop", "onloop@localhost", &time)?;
    let tree = repository.find_tree(tree)?;
    let parent = parent.map(|id| repository.find_commit(Oid::from_str(id)?)).transpose()?;
    let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
    repository.commit(None, &ours, &ours, message, &tree, &parents)
}

/// Makes a commit of these files, byte for byte as the git program does; `None`: git itself has to.
pub(super) fn keep_files(repository: &Repository, new: &NewFiles<'_>) -> Option<String> {
    let made = || {
        let mut tree = repository.treebuilder(None)?;
        for KeptFile { name, bytes } in new.files {
            tree.insert(name, repository.blob(bytes)?, FileMode::Blob.into())?;
        }
        let id = commit(repository, tree.write()?, new.parent, new.message, new.at)?;
        if let Some(name) = new.reference {
            repository.reference(name, id, true, "")?;
        }
        Ok::<_, git2::Error>(id)
    };
    made().ok().map(|id: Oid| id.to_string())
}

/// Creates `branch` at HEAD and checks it out; no file changes.
pub(super) fn switch_to_new(repository: &Repository, branch: &BranchName) -> Result<(), Failure> {
    if repository.state() != RepositoryState::Clean {
        return Err(Failure::new(
            FailureKind::Conflict,
            format!("`{}` is in the middle of a merge or rebase", repository.path().display()),
        ));
    }
    let created = repository
        .head()
        .and_then(|head| head.peel_to_commit())
        .and_then(|commit| repository.branch(branch.as_str(), &commit, false));
    let mut created = created.map_err(|error| failure(repository, &error))?;
    repository.set_head(&format!("refs/heads/{branch}")).map_err(|error| {
        let _ = created.delete();
        failure(repository, &error)
    })
}

/// Refuses to touch a branch that is checked out somewhere.
pub(super) fn demand_free(repository: &Repository, branch: &BranchName) -> Result<(), Failure> {
    match checked_out_at(repository, branch)? {
        None => Ok(()),
        Some(at) => {
            let message = format!("branch `{branch}` is checked out at `{at}`");
            Err(Failure::new(FailureKind::Busy, message))
        }
    }
}

/// Deletes a branch that nothing has checked out.
pub(super) fn delete_branch(repository: &Repository, branch: &BranchName) -> Result<(), Failure> {
    repository
        .find_branch(branch.as_str(), BranchType::Local)
        .and_then(|mut branch| branch.delete())
        .map_err(|error| failure(repository, &error))
}

/// The best common ancestor of a commit and a branch.
pub(super) fn merge_base(
    repository: &Repository,
    commit: &str,
    branch: &BranchName,
) -> Result<Option<String>, Failure> {
    let base = Oid::from_str(commit).and_then(|commit| {
        let tip = repository.find_branch(branch.as_str(), BranchType::Local)?;
        repository
            .merge_base(repository.find_commit(commit)?.id(), tip.get().peel_to_commit()?.id())
    });
    match base {
        Ok(base) => Ok(Some(base.to_string())),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(failure(repository, &error)),
    }
}

/// Returns the paths that differ between two commits, as git lists them; `None`: an object is
/// unreadable.
pub(super) fn changed_paths(repository: &Repository, from: &str, to: &str) -> Option<Vec<String>> {
    let tree = |id: &str| repository.find_object(id.parse().ok()?, None).ok()?.peel_to_tree().ok();
    let (from, to) = (tree(from)?, tree(to)?);
    let diff = repository.diff_tree_to_tree(Some(&from), Some(&to), None).ok()?;
    let path = |delta: git2::DiffDelta<'_>| {
        delta.new_file().path_bytes().map(|path| String::from_utf8_lossy(path).into_owned())
    };
    let mut paths: Vec<String> = diff.deltas().filter_map(path).collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// Returns the remote with this name; `None`: unknown, or git has to check.
pub(super) fn known_remote<'n>(repository: &Repository, name: &'n str) -> Option<KnownRemote<'n>> {
    let remote = repository.find_remote(name).ok()?;
    let address = match remote.pushurl() {
        Ok(Some(address)) => address,
        _ => remote.url().unwrap_or_default(),
    };
    // One of several addresses can be remote, and a setting can replace the receiving program.
    let is_plain = Path::new(address).is_absolute() && !has_more_to_it(repository, name)?;
    Some(KnownRemote { name, is_folder: is_plain })
}

/// Whether a remote has several addresses, or its own receiving program.
fn has_more_to_it(repository: &Repository, name: &str) -> Option<bool> {
    let config = repository.config().ok()?.snapshot().ok()?;
    let count = |what: &str| {
        let mut count = 0_usize;
        let values = config.multivar(&format!("remote.{name}.{what}"), None).ok()?;
        values.for_each(|_| count += 1).ok()?;
        Some(count)
    };
    Some(count("url")? > 1 || count("pushurl")? > 1 || count("receivepack")? > 0)
}

/// An error of libgit2 as a failure that names the repository.
fn failure(repository: &Repository, error: &git2::Error) -> Failure {
    let folder = repository.workdir().unwrap_or(repository.path());
    if let Some(named) = known_failures::recognize(error.message(), folder) {
        return named;
    }
    let kind = match error.code() {
        ErrorCode::NotFound => FailureKind::NotFound,
        ErrorCode::Exists => FailureKind::Exists,
        ErrorCode::Locked => FailureKind::Busy,
        ErrorCode::Conflict | ErrorCode::Modified | ErrorCode::Uncommitted => FailureKind::Conflict,
        ErrorCode::Owner => FailureKind::Denied,
        ErrorCode::InvalidSpec | ErrorCode::Invalid => FailureKind::Invalid,
        _ => FailureKind::Other,
    };
    Failure::new(kind, format!("git in `{}`: {}", folder.display(), error.message()))
}
