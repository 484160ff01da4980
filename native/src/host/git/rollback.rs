//! Cleanup after a worktree that could not be created or removed.

use std::fs;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind};

use crate::host::files::remove_tree;

/// New parent folders of a worktree, removed on drop unless the worktree was created.
#[derive(Debug)]
pub(super) struct Parents {
    made: Vec<PathBuf>,
}

impl Parents {
    /// Creates the missing parents of `path`.
    pub(super) fn make(path: &Path) -> Result<Parents, Failure> {
        let mut parents = Parents { made: Vec::new() };
        let missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => parents.made.push(folder.to_owned()),
                // Another process created it and owns it.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failure(folder, &error)),
            }
        }
        Ok(parents)
    }

    /// Keeps the folders.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Parents {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // A folder that is not empty is in use by now.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes empty folders of worktrees, up to `.hotl-worktrees`.
pub(super) fn remove_empty_ancestors(worktree: &Path) {
    const WORKTREES_FOLDER: &str = ".hotl-worktrees";
    let named = |folder: &Path| folder.file_name().is_some_and(|name| name == WORKTREES_FOLDER);
    if !worktree.ancestors().any(named) {
        return;
    }
    for folder in worktree.ancestors().skip(1) {
        if fs::remove_dir(folder).is_err() || named(folder) {
            return;
        }
    }
}

/// Removes the folder of a worktree. It is renamed first, so a killed removal leaves no partial
/// worktree under its name; the next removal deletes the rest.
pub(super) fn remove_folder(worktree: &Path) -> Result<(), Failure> {
    remove_rest(worktree)?;
    let Some(removal_path) = removal_path(worktree) else { return Ok(()) };
    match fs::rename(worktree, &removal_path) {
        Ok(()) => remove_rest(worktree),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        // A mount point, or a folder that another process has open.
        Err(_) => remove_tree(worktree).map_err(|error| failure(worktree, &error)),
    }
}

/// Removes what a killed removal has left.
pub(super) fn remove_rest(worktree: &Path) -> Result<(), Failure> {
    let Some(removal_path) = removal_path(worktree) else { return Ok(()) };
    match remove_tree(&removal_path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failure(&removal_path, &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Name of a worktree during its removal.
fn removal_path(worktree: &Path) -> Option<PathBuf> {
    let mut name = std::ffi::OsString::from(".onloop-removing-");
    name.push(worktree.file_name()?);
    Some(worktree.with_file_name(name))
}

/// An error of the file system as a failure that names the path.
pub(super) fn failure(path: &Path, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::NotFound => FailureKind::NotFound,
        ErrorKind::AlreadyExists => FailureKind::Exists,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FailureKind::Denied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FailureKind::Full,
        ErrorKind::NotADirectory | ErrorKind::InvalidFilename => FailureKind::Invalid,
        _ => FailureKind::Other,
    };
    Failure::new(kind, format!("`{}`: {error}", path.display()))
}
