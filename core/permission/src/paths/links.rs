//! Paths that lead through links.

use super::{Link, PathClass, Places, goes_up, normal};

impl Places {
    /// Every absolute path that `path` may name: the one that its text says, and where links lead.
    pub(crate) fn named(&self, path: &str) -> Vec<String> {
        let absolute = self.absolute(path);
        let spellings = [self.unfolded(path), Some(absolute.clone())].into_iter().flatten();
        let targets = spellings.filter_map(|spelling| match self.links.get(&spelling)? {
            Link::To(target) => Some(normal(target, &self.cwd)),
            Link::Dangling => None,
        });
        std::iter::once(absolute).chain(targets).collect()
    }

    /// The absolute path with every `..` in it: the system goes up from where a link leads, some
    /// programs from where the link is.
    pub(super) fn unfolded(&self, path: &str) -> Option<String> {
        goes_up(path).then(|| match path.starts_with(['/', '~']) {
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
