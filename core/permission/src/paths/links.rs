//! Paths that lead through links.

use super::{Link, PathClass, Places};

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

    /// Where the link at an absolute path leads.
    pub(crate) fn target(&self, absolute: &str) -> Option<String> {
        match self.links.get(absolute)? {
            Link::To(target) => Some(self.absolute(target)),
            Link::Dangling => None,
        }
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
