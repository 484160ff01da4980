//! Paths that lead through links.

use std::sync::PoisonError;

use super::{Link, PathClass, Places, goes_up};

impl Places {
    /// Every absolute path that `path` may name: the one that its text says, and where links lead.
    pub(crate) fn named(&self, path: &str) -> Vec<String> {
        let targets = self.spellings(path).filter_map(|it| self.target(&it)).collect();
        [vec![self.absolute(path)], targets].concat()
    }

    /// Where the system goes up to, if it is somewhere else than the text of `path` says.
    pub(crate) fn physical(&self, path: &str) -> Option<String> {
        self.target(&self.unfolded(path)?)
    }

    /// The absolute paths of which the host says whether a link is behind them.
    pub(super) fn spellings(&self, path: &str) -> impl Iterator<Item = String> {
        let spellings = [self.unfolded(path), Some(self.absolute(path))].into_iter().flatten();
        spellings.inspect(|spelling| {
            if let Some(classified) = &self.classified {
                let mut known = classified.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(spelling.clone());
            }
        })
    }

    /// The absolute path with every `..` in it: the system goes up from where a link leads, some
    /// programs from where the link is.
    fn unfolded(&self, path: &str) -> Option<String> {
        goes_up(path).then(|| match path.starts_with(['/', '~']) {
            true => path.to_owned(),
            false => format!("{}/{path}", self.cwd),
        })
    }

    /// Where the link at an absolute path leads.
    fn target(&self, absolute: &str) -> Option<String> {
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
