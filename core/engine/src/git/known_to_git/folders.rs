//! Folders below the root of the checkout that are no repositories of their own.

use onloop_effect::Io;
use onloop_permission::{Call, Context, git_folders};

/// What makes git take a folder for a repository: `.git` in it, or what a bare one consists of.
const MARKS: [&str; 3] = [".git", "HEAD", "objects"];

/// Adds to `context` the folders in which `call` runs git and which belong to the repository of the
/// root. Whether there are any, and all of them do.
pub(super) async fn learn(io: &Io, call: &Call, context: &mut Context) -> bool {
    let folders = git_folders(call, context);
    let Some(root) = context.places.root.clone() else { return false };
    for folder in &folders {
        if !is_plain(io, &root, folder).await {
            return false;
        }
    }
    let are_there = !folders.is_empty();
    context.places.plain_folders.extend(folders);
    are_there
}

/// Whether git uses the repository of `root` in `folder`. Git looks for one from where the folder
/// really is.
pub(super) async fn is_plain(io: &Io, root: &str, folder: &str) -> bool {
    let real = async |path: &str| io.canonical(path).await.unwrap_or_else(|_| path.to_owned());
    let (root, folder) = (real(root).await, real(folder).await);
    let mut path = folder.as_str();
    while path.len() > root.len() {
        if is_repository(io, path).await {
            return false;
        }
        path = path.rsplit_once('/').map_or("", |(above, _)| above);
    }
    path == root
}

/// Whether git may take `folder` itself for a repository.
pub(super) async fn is_repository(io: &Io, folder: &str) -> bool {
    for mark in MARKS {
        if io.stat(&format!("{folder}/{mark}")).await.is_ok() {
            return true;
        }
    }
    false
}
