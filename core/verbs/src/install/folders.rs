//! The folders that an installation makes, so that a removal leaves none of them behind.
//!
//! An empty folder does not say who made it. The state home keeps a list.

use std::collections::BTreeSet;

use onloop_effect::{Durability, Expect, Io};
use onloop_syntax::limits;

/// The list, in the state home: a JSON array of absolute paths.
const LIST: &str = "installed-folders.json";

fn list_path(io: &Io) -> Option<String> {
    Some(format!("{}/{LIST}", io.start().state_home()?))
}

async fn listed(io: &Io, path: &str) -> BTreeSet<String> {
    match io.read(path, limits::CONFIG_BYTES as u64).await {
        Ok((bytes, _)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(_) => BTreeSet::new(),
    }
}

/// A list that cannot be written costs an empty folder, so that is no reason to fail.
async fn store(io: &Io, path: &str, folders: &BTreeSet<String>) {
    if folders.is_empty() {
        let _ = io.remove(path).await;
        return;
    }
    let bytes = serde_json::to_vec(folders).unwrap_or_default();
    let _ = io.write_private(path, bytes, Expect::Any, Durability::Relaxed).await;
}

/// Adds folders to the list.
pub(super) async fn remember(io: &Io, folders: &[String]) {
    let Some(path) = list_path(io).filter(|_| !folders.is_empty()) else { return };
    let mut known = listed(io, &path).await;
    known.extend(folders.iter().cloned());
    store(io, &path, &known).await;
}

/// Removes listed folders around these paths where nothing is left in them.
pub(super) async fn remove_emptied(io: &Io, paths: &[&str]) {
    let Some(list) = list_path(io) else { return };
    let known = listed(io, &list).await;
    let mut kept = known.clone();
    let is_around = |folder: &String| {
        let inside = |path: &&str| path.strip_prefix(folder).is_some_and(|p| p.starts_with('/'));
        paths.iter().any(inside)
    };
    // An inner folder comes after the one that it is in.
    for folder in known.iter().rev().filter(|folder| is_around(folder)) {
        if remove_if_empty(io, folder).await {
            kept.remove(folder);
        }
    }
    if kept.len() < known.len() {
        store(io, &list, &kept).await;
    }
}

/// Whether the folder is gone.
pub(super) async fn remove_if_empty(io: &Io, folder: &str) -> bool {
    match io.list(folder).await {
        Ok(names) => names.is_empty() && io.remove(folder).await.is_ok(),
        Err(failure) => failure.is_not_found(),
    }
}
