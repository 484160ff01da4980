//! Cleanup after a worktree that could not be created or removed.

use onloop_effect::{Failure, OptionalExt};

use crate::Step;
use crate::command::GitProgram;
use crate::paths::{ancestors, file_name, join, parent};

impl GitProgram {
    /// Creates the missing parents of a worktree, and returns them.
    pub(crate) async fn make_parents(&self, worktree: &str) -> Result<Vec<String>, Failure> {
        let mut missing = Vec::new();
        for folder in ancestors(worktree).skip(1) {
            if self.target_of(folder).await.is_some() {
                break;
            }
            missing.push(folder);
        }
        let mut made = Vec::new();
        for folder in missing.into_iter().rev().map(str::to_owned) {
            match self.done(Step::MakeFolder { path: folder.clone() }).await {
                Ok(()) => made.push(folder),
                // Another process created it and owns it.
                Err(failure) if failure.is_exists() => {}
                Err(failure) => {
                    self.remove_folders(&made).await;
                    return Err(failure);
                }
            }
        }
        Ok(made)
    }

    /// Removes folders that were made in this order. One that is not empty is in use by now.
    pub(crate) async fn remove_folders(&self, made: &[String]) {
        for folder in made.iter().rev() {
            let _ = self.done(Step::RemoveFolder { path: folder.clone() }).await;
        }
    }

    /// Removes empty folders of worktrees, up to `.hotl-worktrees`.
    pub(crate) async fn remove_empty_ancestors(&self, worktree: &str) {
        const WORKTREES_FOLDER: &str = ".hotl-worktrees";
        let named = |folder: &str| file_name(folder) == Some(WORKTREES_FOLDER);
        if !ancestors(worktree).any(named) {
            return;
        }
        for folder in ancestors(worktree).skip(1) {
            let removed = self.done(Step::RemoveFolder { path: folder.to_owned() }).await;
            if removed.is_err() || named(folder) {
                return;
            }
        }
    }

    /// Removes the folder of a worktree. It is renamed first, so a killed removal leaves no partial
    /// worktree under its name; the next removal deletes the rest.
    pub(crate) async fn remove_folder(&self, worktree: &str) -> Result<(), Failure> {
        self.remove_rest(worktree).await?;
        let Some(to) = removal_path(worktree) else { return Ok(()) };
        let path = worktree.to_owned();
        match self.done(Step::Rename { from: path.clone(), to }).await {
            Ok(()) => self.remove_rest(worktree).await,
            Err(failure) if failure.is_not_found() => Ok(()),
            // A mount point, or a folder that another process has open.
            Err(_) => self.done(Step::RemoveTree { path }).await,
        }
    }

    /// Removes what a killed removal has left.
    pub(crate) async fn remove_rest(&self, worktree: &str) -> Result<(), Failure> {
        let Some(path) = removal_path(worktree) else { return Ok(()) };
        self.done(Step::RemoveTree { path }).await.optional().map(drop)
    }
}

/// Name of a worktree during its removal.
fn removal_path(worktree: &str) -> Option<String> {
    let name = format!(".onloop-removing-{}", file_name(worktree)?);
    Some(join(parent(worktree)?, &name))
}
