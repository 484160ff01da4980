//! Configurations of git that a confined program sees without their credentials.

use std::fs;
use std::path::{Path, PathBuf};

use onloop_core::confine::without_credentials;
use onloop_core::effect::Confinement;
use onloop_core::limits::{GIT_CONFIG_BYTES, SUBMODULES_LOOKED_AT};

/// The configurations of a repository.
const NAMES: [&str; 2] = ["config", "config.worktree"];

/// Folders with git folders of their own: those of submodules, and of linked worktrees, which may have
/// submodules for themselves.
const INNER: [&str; 2] = ["modules", "worktrees"];

/// Returns the configurations of git that have credentials, and what the program sees instead. A
/// private git folder has a clean one, and the submodules of the repository.
pub(super) fn clean_configurations(confinement: &Confinement) -> Vec<(PathBuf, String)> {
    let mut ahead = match &confinement.git {
        Some(git) => {
            vec![Path::new(&git.common).join("modules"), Path::new(&git.own).join("modules")]
        }
        None => confinement.without_credentials.iter().map(PathBuf::from).collect(),
    };
    // A main checkout has one folder in both places.
    ahead.dedup();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    while let Some(folder) = ahead.pop().filter(|_| looked_at < SUBMODULES_LOOKED_AT) {
        looked_at += 1;
        if !folder.join("HEAD").is_file() {
            // The name of a submodule may have `/` in it.
            ahead.extend(folders_in(&folder));
            continue;
        }
        ahead.extend(INNER.iter().flat_map(|name| folders_in(&folder.join(name))));
        let paths = NAMES.iter().map(|name| folder.join(name));
        found.extend(paths.filter_map(|path| clean(&path).map(|text| (path, text))));
    }
    found
}

/// Returns a configuration without its credentials; `None`: it has none.
fn clean(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > GIT_CONFIG_BYTES {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let clean = without_credentials(&text);
    (clean != text).then_some(clean)
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}
