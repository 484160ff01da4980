//! Paths that lead through links.

use super::{PathClass, Places, below, normal};

impl Places {
    /// The absolute path with every `..` in it: the system goes up from where a link leads, some
    /// programs from where the link is.
    pub(super) fn unfolded(&self, path: &str) -> Option<String> {
        let goes_up = path.split('/').any(|part| part == "..");
        goes_up.then(|| match path.starts_with(['/', '~']) {
            true => path.to_owned(),
            false => format!("{}/{path}", self.cwd),
        })
    }

    /// Whether `path` has `..` behind a link: the system goes up from where the link leads.
    pub(super) fn goes_up_from_link(&self, path: &str) -> bool {
        /// Folders that are links, or hold links that change.
        const LINKS: [&str; 4] = ["/proc", "/dev", "/run", "/var/run"];
        if !path.contains("..") {
            return false;
        }
        let is_whole = path.starts_with(['/', '~']);
        let whole = if is_whole { path.to_owned() } else { format!("{}/{path}", self.cwd) };
        let (begin, rest) = whole.split_once('/').unwrap_or((&whole, ""));
        let mut folder = if begin.is_empty() { "/" } else { begin }.to_owned();
        let mut behind_link = false;
        rest.split('/').any(|part| {
            let goes_up = part == ".." && behind_link;
            folder = normal(&format!("./{part}"), &folder);
            let lower = folder.to_lowercase();
            behind_link |= self.links.contains_key(&folder)
                || LINKS.iter().any(|link| below(&lower, link).is_some());
            goes_up
        })
    }
}

/// A link is judged as the worse of its name and its target.
pub(super) fn worse(name: PathClass, target: PathClass) -> PathClass {
    match name {
        PathClass::Repository => target,
        PathClass::Secret | PathClass::Git | PathClass::GitHook | PathClass::Control => name,
        // On some systems the standard streams are links to what a process has open.
        PathClass::Stream => name,
        _ if target == PathClass::Repository => name,
        _ => target,
    }
}
