//! Programs that commands of agents may have written. A hook starts none of them, unconfined.

use crate::git::checkout;
use crate::git::links::real_path;
use crate::session::origin::top_folder;
use onloop_agents::confine::{ToolFolder, tool_folders};
use onloop_effect::{FileKind, Io, is_of_system, is_within};
use onloop_permission::paths::Link;

/// Programs that a hook starts by their names.
const OF_HOOKS: [&str; 2] = ["git", "claude"];

/// A handle whose processes find no programs where commands of agents write that work in `folders`, nor
/// by relative entries of `PATH`.
pub fn outside_of(io: &Io, folders: &[&str]) -> Io {
    // Other systems have no sandbox whose commands would write there.
    if !io.start().cwd.starts_with('/') {
        return io.clone();
    }
    let folders: Vec<String> = folders.iter().map(|folder| (*folder).to_owned()).collect();
    io.with_search_path(move |io| {
        let folders = folders.clone();
        async move {
            let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
            let open = OpenFolders::around(&io, &folders).await;
            let path = io.env("PATH")?;
            let mut kept = Vec::new();
            for entry in path.split(':').filter(|entry| entry.starts_with('/')) {
                if !open.has(&io, entry).await
                    && open.led_from(&io, entry, &OF_HOOKS).await.is_empty()
                {
                    kept.push(entry);
                }
            }
            Some(kept.join(":")).filter(|kept| kept != path)
        }
    })
}

/// Folders in which commands of agents may write.
pub(crate) struct OpenFolders(Vec<String>);

impl OpenFolders {
    /// The checkouts around `folders`, with all their worktrees, and the caches of tools.
    pub(crate) async fn around(io: &Io, folders: &[&str]) -> OpenFolders {
        let mut open = Vec::new();
        for (at, folder) in folders.iter().enumerate() {
            if folders[..at].contains(folder) {
                continue;
            }
            open.push(top_folder(io, folder).await);
            if let Some(checkout) = checkout::own(io, folder).await {
                open.extend(checkout.worktrees(io).await);
            }
        }
        for at in 0..open.len() {
            open.extend(io.canonical_once(&open[at]).await);
        }
        let tools = tool_folders(io.env("HOME"), |name| io.env(name));
        open.extend(tools.iter().flat_map(ToolFolder::caches));
        OpenFolders(open)
    }

    /// Whether `path` is in one of them, also through links.
    pub(crate) async fn has(&self, io: &Io, path: &str) -> bool {
        let is_in = |path: &str| self.0.iter().any(|open| is_within(path, open));
        if is_in(path) && !path.contains("/..") {
            return true;
        }
        if is_of_system(path) {
            return false;
        }
        match io.canonical_once(path).await {
            Ok(real) => is_in(&real),
            Err(_) => matches!(real_path(io, path).await, Some(Link::To(real)) if is_in(&real)),
        }
    }

    /// Which of `programs` are links in a folder of `PATH` that lead there.
    pub(crate) async fn led_from(&self, io: &Io, folder: &str, programs: &[&str]) -> Vec<String> {
        let mut led = Vec::new();
        if is_of_system(folder) {
            return led;
        }
        for program in programs {
            let path = format!("{}/{program}", folder.trim_end_matches('/'));
            let is_link = io.stat(&path).await.is_ok_and(|stat| stat.kind == FileKind::Link);
            if is_link && self.has(io, &path).await {
                led.push((*program).to_owned());
            }
        }
        led
    }
}
