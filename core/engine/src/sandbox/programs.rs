//! Programs that a hook starts itself, unconfined: none that an agent may have written.

use crate::git::links::real_path;
use crate::session::origin::top_folder;
use onloop_effect::{Io, is_within};
use onloop_permission::paths::Link;

/// A handle whose processes find no programs in the checkout that is worked in, nor by relative entries
/// of `PATH`.
pub async fn outside_of_checkout(io: &Io) -> Io {
    let (Some(path), cwd) = (io.env("PATH"), &io.start().cwd) else { return io.clone() };
    // Other systems have no sandbox whose commands would write there.
    if !cwd.starts_with('/') {
        return io.clone();
    }
    let mut tops = Vec::new();
    let project = io.env("CLAUDE_PROJECT_DIR").filter(|project| project != cwd);
    for folder in [Some(cwd.as_str()), project].into_iter().flatten() {
        let top = top_folder(io, folder).await;
        tops.push(io.canonical_once(&top).await.unwrap_or(top));
    }
    let mut kept = Vec::new();
    for entry in path.split(':').filter(|entry| entry.starts_with('/')) {
        if !is_in_any(io, entry, &tops).await {
            kept.push(entry);
        }
    }
    let kept = kept.join(":");
    if kept == path { io.clone() } else { io.with_path(&kept) }
}

/// Whether a folder of `PATH` lies in one of `tops`, also through links.
pub(crate) async fn is_in_any(io: &Io, entry: &str, tops: &[String]) -> bool {
    let is_in = |entry: &str| tops.iter().any(|top| is_within(entry, top));
    if is_in(entry) && !entry.contains("/..") {
        return true;
    }
    // A link of a system leads nowhere that a checkout is below.
    let is_of_system = |path: &str| SYSTEM.iter().any(|folder| is_within(path, folder));
    if is_of_system(entry) && !tops.iter().any(|top| is_of_system(top)) {
        return false;
    }
    // The same folders are looked at for the hook's own programs and for those of a line.
    match io.canonical_once(entry).await {
        Ok(real) => is_in(&real),
        Err(_) => matches!(real_path(io, entry).await, Some(Link::To(real)) if is_in(&real)),
    }
}

/// Folders in which only administrators write.
const SYSTEM: [&str; 4] = ["/usr", "/bin", "/sbin", "/opt"];
