//! The caches of tools: those that a confined process shares with others, or new ones.

use super::homes::{HomeView, configuration};
use super::{CacheUse, Temporary, fresh_folder, make_folder};
use onloop_agents::confine::ToolFolder;
use onloop_effect::{Durability, Expect, Io, is_within};

/// What a confined process finds as caches.
#[derive(Default)]
pub(super) struct FoundCaches {
    /// What it may write.
    pub(super) writable: Vec<String>,
    /// Variables that move the folders of tools.
    pub(super) moved: Vec<(&'static str, String)>,
    /// What of it is there and shared with others.
    pub(super) shared: Vec<String>,
    /// Caches of others that look empty.
    pub(super) emptied: Vec<String>,
}

/// The caches of the tools, and those that the configuration names.
pub(super) async fn caches(io: &Io, view: &HomeView, temporary: Temporary<'_>) -> FoundCaches {
    let mut found = match temporary.caches {
        CacheUse::Shared => shared(io, &view.tools, temporary).await,
        CacheUse::Fresh => fresh(io, &view.tools, temporary).await,
    };
    for path in &view.declared_caches {
        if io.stat(path).await.is_ok() {
            match temporary.caches {
                CacheUse::Shared => found.shared.push(path.clone()),
                CacheUse::Fresh => found.emptied.push(path.clone()),
            }
        }
    }
    match temporary.caches {
        CacheUse::Shared => {
            found.writable.extend(view.tools.iter().flat_map(ToolFolder::caches));
            found.writable.extend_from_slice(&view.declared_caches);
        }
        CacheUse::Fresh => {}
    }
    found.writable.extend(found.moved.iter().map(|(_, path)| path.clone()));
    found
}

/// Makes what is missing in the folders of tools that are there, since nothing that is not there can
/// be written; for the others, the variables that move them to the folders for temporary files.
async fn shared(io: &Io, tools: &[ToolFolder], temporary: Temporary<'_>) -> FoundCaches {
    let mut found = FoundCaches::default();
    for tool in tools {
        let is_in_other = found.shared.iter().any(|cache| is_within(&tool.folder, cache));
        let is_there = is_in_other || io.stat(&tool.folder).await.is_ok();
        found.shared.extend(tool.caches().filter(|_| is_there && !is_in_other));
        for folder in tool.to_make(is_there) {
            make_folder(io, &folder).await;
        }
        let elsewhere = tool.elsewhere(temporary.own, temporary.shared);
        let Some((name, folder)) = elsewhere.filter(|_| !is_there) else { continue };
        if tool.is_one_cache() {
            make_folder(io, &folder).await;
        }
        found.moved.push((name, folder));
    }
    found
}

/// Variables that move the tools to new folders with the user's configuration of the tool; caches
/// that no variable moves look empty.
async fn fresh(io: &Io, tools: &[ToolFolder], temporary: Temporary<'_>) -> FoundCaches {
    let mut found = FoundCaches::default();
    for tool in tools {
        let Some((name, folder)) = tool.fresh(&fresh_folder(temporary.shared)) else {
            if io.stat(&tool.folder).await.is_ok() {
                found.emptied.extend(tool.caches());
            }
            continue;
        };
        make_folder(io, &folder).await;
        for path in tool.configurations() {
            if let Some((_, clean)) = configuration(io, &path).await
                && let Some(part) = path.strip_prefix(&tool.folder)
            {
                // Another process of this kind has written it before.
                let (to, bytes) = (format!("{folder}{part}"), clean.into_bytes());
                let _ = io.write_private(&to, bytes, Expect::Absent, Durability::Relaxed).await;
            }
        }
        found.moved.push((name, folder));
    }
    found
}
