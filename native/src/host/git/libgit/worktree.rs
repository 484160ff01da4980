//! Linked worktrees with libgit2.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{BranchType, Oid, Repository, WorktreeAddOptions, WorktreePruneOptions};
use onloop_core::effect::{Failure, FailureKind};

use super::super::rollback::{self, Parents};
use super::super::{NewWorktree, Registered, resolved};
use super::failure;

/// A worktree on record and the name of its record.
struct Named {
    name: String,
    entry: Registered,
}

/// Every worktree on record, the main checkout first unless the repository is bare.
pub(crate) fn registered(repository: &Repository) -> Result<Vec<Registered>, Failure> {
    let mut all = Vec::new();
    // A submodule's repository is outside of its checkout, which its configuration names.
    let opened;
    let main = if repository.is_worktree() {
        opened = Repository::open(repository.commondir()).map_err(|e| failure(repository, &e))?;
        &opened
    } else {
        repository
    };
    if !main.is_bare() {
        all.push(Registered {
            path: resolved(main.workdir().unwrap_or(main.path())),
            branch: branch_in(&main.path().join("HEAD")),
            locked: None,
            present: true,
        });
    }
    all.extend(linked(repository)?.into_iter().map(|named| named.entry));
    Ok(all)
}

fn linked(repository: &Repository) -> Result<Vec<Named>, Failure> {
    let names = repository.worktrees().map_err(|error| failure(repository, &error))?;
    let mut linked = Vec::new();
    for name in names.iter_bytes() {
        // A record under a name that is not UTF-8 was not made by us, and git2 cannot look it up.
        let Ok(name) = std::str::from_utf8(name) else { continue };
        let Ok(worktree) = repository.find_worktree(name) else { continue };
        let record = record(repository, name);
        let present = worktree.path().join(".git").exists();
        linked.push(Named {
            name: name.to_owned(),
            entry: Registered {
                path: resolved(worktree.path()),
                branch: branch_in(&record.join("HEAD")),
                locked: lock_reason(&record.join("locked")),
                present,
            },
        });
    }
    Ok(linked)
}

fn record(repository: &Repository, name: &str) -> PathBuf {
    repository.commondir().join("worktrees").join(name)
}

fn branch_in(head: &Path) -> Option<String> {
    let content = fs::read(head).ok()?;
    let content = String::from_utf8_lossy(&content);
    let name = content.strip_prefix("ref: ")?.trim_end();
    name.strip_prefix("refs/heads/").map(str::to_owned)
}

fn lock_reason(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|reason| String::from_utf8_lossy(&reason).trim().to_owned())
}

/// Creates a worktree, or nothing at all.
pub(crate) fn create_worktree(
    repository: &Repository,
    new: &NewWorktree<'_>,
) -> Result<(), Failure> {
    for stale in linked(repository)? {
        let same_path = stale.entry.path == new.path;
        let same_branch = stale.entry.branch.as_deref() == Some(new.branch.as_str());
        if (same_path || same_branch) && !stale.entry.present {
            stale.entry.unlocked()?;
            forget(repository, &stale.name)?;
        }
    }
    let parents = Parents::make(new.path)?;
    let mut branch = match new.create_at {
        Some(commit) => Oid::from_str(commit)
            .and_then(|id| repository.find_commit(id))
            .and_then(|commit| repository.branch(new.branch.as_str(), &commit, false)),
        None => repository.find_branch(new.branch.as_str(), BranchType::Local),
    }
    .map_err(|error| failure(repository, &error))?;
    let name = free_name(repository, new.path);
    let made = add(repository, &name, new.path, branch.get());
    if let Err(error) = made {
        let _ = fs::remove_dir_all(new.path);
        let _ = fs::remove_dir_all(record(repository, &name));
        let _ = fs::remove_dir(repository.commondir().join("worktrees"));
        if new.create_at.is_some() {
            let _ = branch.delete();
        }
        return Err(error);
    }
    parents.keep();
    Ok(())
}

fn add(
    repository: &Repository,
    name: &str,
    path: &Path,
    branch: &git2::Reference<'_>,
) -> Result<(), Failure> {
    let mut options = WorktreeAddOptions::new();
    options.reference(Some(branch));
    repository.worktree(name, path, Some(&options)).map_err(|error| failure(repository, &error))?;
    Ok(())
}

/// A name for the record: that of the folder, numbered where another worktree has it.
fn free_name(repository: &Repository, path: &Path) -> String {
    let base = path.file_name().map_or_else(|| "worktree".into(), |name| name.to_string_lossy());
    let taken = |name: &str| record(repository, name).exists();
    let numbered = (1u32..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.to_string()).chain(numbered);
    names.find(|name| !taken(name)).expect("the numbers do not end")
}

/// Removes a linked worktree with everything in it.
pub(crate) fn remove_worktree(repository: &Repository, path: &Path) -> Result<(), Failure> {
    let wanted = resolved(path);
    let Some(named) = linked(repository)?.into_iter().find(|named| named.entry.path == wanted)
    else {
        let message = format!("`{}` is not a linked worktree of this repository", path.display());
        return Err(Failure::new(FailureKind::NotFound, message));
    };
    named.entry.unlocked()?;
    if named.entry.present {
        rollback::remove_folder(&wanted)?;
    }
    forget(repository, &named.name)
}

fn forget(repository: &Repository, name: &str) -> Result<(), Failure> {
    let mut options = WorktreePruneOptions::new();
    options.valid(true);
    repository
        .find_worktree(name)
        .and_then(|worktree| worktree.prune(Some(&mut options)))
        .map_err(|error| failure(repository, &error))
}
