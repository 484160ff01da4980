//! Patterns for paths: those that the shell expands, and those by which programs look for files.

use super::found::{self, asks, containable, secret_finding};
use super::{Access, PathClass, Places, braces, git_folder, secret};
use crate::expand::{Arg, HOLE, Shape};
use crate::verdict::{Finding, PathRule};

/// The worst of several findings.
fn worst(found: impl Iterator<Item = Finding>) -> Option<Finding> {
    found.max_by_key(|finding| (finding.decision, !finding.containable))
}

impl Places {
    /// Judges a pattern by which a program chooses the files that it reads, hidden and ignored ones among
    /// them.
    pub(crate) fn judge_chosen(&self, arg: &Arg) -> Option<Finding> {
        let shape = if arg.shape == Shape::Exact { Shape::Pattern } else { arg.shape };
        let read = self.judge(&Arg { shape, ..arg.clone() }, Access::Read);
        let pattern = arg.guessed().replace(HOLE, "");
        let mut alternatives = braces::alternatives(&pattern).unwrap_or_default().into_iter();
        let may_be_git = alternatives.any(|one| git_folder::chosen_reaches_settings(&one));
        let of_git = may_be_git
            .then(|| asks(PathRule::Git, format!("`{pattern}` may stand for the folder of git")))
            .flatten();
        worst([self.judge_glob(arg), read, of_git].into_iter().flatten())
    }

    /// Judges a pattern that a program looks for files with; there a star matches a leading dot.
    pub(crate) fn judge_glob(&self, arg: &Arg) -> Option<Finding> {
        let pattern = arg.guessed().replace(HOLE, "");
        let Some(alternatives) = braces::alternatives(&pattern) else {
            return found::too_many(&pattern);
        };
        if alternatives.iter().any(|pattern| secret::glob_hits_secret(&pattern.to_lowercase())) {
            return secret_finding(&pattern, Access::Read);
        }
        if matches!(arg.shape, Shape::Holes | Shape::Splits) {
            return containable(PathRule::Unknown, "it looks for files that are not known");
        }
        None
    }

    pub(super) fn judge_pattern(&self, pattern: &str, access: Access) -> Option<Finding> {
        if pattern.contains('{') {
            let Some(alternatives) = braces::alternatives(pattern) else {
                return found::too_many(pattern);
            };
            let plain = alternatives.iter().filter(|pattern| !pattern.contains('{'));
            return worst(plain.filter_map(|pattern| self.judge_pattern(pattern, access)));
        }
        if access != Access::List && secret::pattern_hits_secret(&pattern.to_lowercase()) {
            return secret_finding(pattern, access);
        }
        if access == Access::Read && git_folder::reaches_settings(pattern) {
            return asks(PathRule::Git, format!("`{pattern}` may hold credentials"));
        }
        // The folder before the first wildcard is certain, and `..` behind one is not.
        let first = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
        let behind_parent = pattern[first..].contains("..");
        if access == Access::Write
            && !behind_parent
            && self.class(pattern) == PathClass::OwnTemporary
        {
            return None;
        }
        let folder = &pattern[..pattern[..first].rfind('/').map_or(0, |at| at + 1)];
        if access == Access::Write || access == Access::Run || behind_parent {
            return containable(
                PathRule::Pattern,
                format!("`{pattern}` may match files that should not be touched"),
            );
        }
        let last = pattern.rsplit('/').next().unwrap_or(pattern);
        if access == Access::Read && !last.bytes().any(|b| b.is_ascii_alphanumeric()) {
            return containable(
                PathRule::Pattern,
                format!("`{pattern}` stands for whatever is there, and some of it may be secret"),
            );
        }
        let literal = pattern.replace(['*', '?', '[', ']'], "");
        let literal = match pattern.starts_with('/') {
            true => literal.as_str(),
            false => literal.trim_start_matches('/'),
        };
        let folder = if folder.is_empty() { "." } else { folder };
        let literal = if literal.is_empty() { "." } else { literal };
        self.judge_text(folder, access).or_else(|| self.judge_text(literal, access))
    }
}
