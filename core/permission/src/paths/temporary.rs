//! Folders whose content nobody misses.

use super::{Access, PathClass, Places, TEMPORARY, below, below_any_case};
use crate::expand::{Arg, Shape};

impl Places {
    /// The part of a path in lower case below the run's own temporary folder.
    pub(super) fn in_own_temporary<'p>(&self, lower: &'p str) -> Option<&'p str> {
        below_any_case(lower, self.own_temporary.as_deref()?)
    }

    /// Whether everything that `arg` names lies below the run's own temporary folder.
    pub(crate) fn is_lost_with_run(&self, arg: &Arg) -> bool {
        let lower = self.absolute(&arg.text).to_lowercase();
        matches!(arg.shape, Shape::Exact | Shape::Pattern)
            && self.in_own_temporary(&lower).is_some_and(|inside| !inside.is_empty())
            && self.class(&arg.text) == PathClass::OwnTemporary
            && self.judge(arg, Access::Write).is_none()
    }

    /// Whether a path is in a temporary folder: code there is as held as code of the checkout.
    pub(crate) fn is_temporary(&self, path: &str) -> bool {
        matches!(self.class(path), PathClass::Temporary | PathClass::OwnTemporary)
    }

    /// Whether what `arg` names lies below a temporary folder, of which a sandbox has its own.
    pub(crate) fn is_below_temporary(&self, arg: &Arg) -> bool {
        let path = arg.guessed();
        let absolute = self.absolute(path).to_lowercase();
        // What a pattern matches may lie around the checkout.
        let first = absolute.find(['*', '?', '[', '{']).unwrap_or(absolute.len());
        let certain = match first == absolute.len() {
            true => absolute.as_str(),
            false => &absolute[..absolute[..first].rfind('/').unwrap_or(0)],
        };
        let around = [self.root.as_ref(), self.ledger_home.as_ref(), self.user_home.as_ref()];
        let mut around = around.into_iter().flatten().chain(&self.state_homes);
        if around.any(|kept| below_any_case(&kept.to_lowercase(), certain).is_some()) {
            return false;
        }
        let is_inside =
            |folder: &&str| below(&absolute, folder).is_some_and(|in_it| !in_it.is_empty());
        self.is_temporary(path)
            && (TEMPORARY.iter().any(is_inside) || self.is_lost_with_run(arg))
            && arg.shape != Shape::Splits
            && !path.contains("..")
    }
}
