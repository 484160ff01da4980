//! Changes of files, as git tells them.

use super::Takes;
use onloop_effect::is_within;

/// Folders with files of agents in which projects keep much else.
const COMMON: [&str; 2] = [".github", ".vscode"];

/// A change of a file, as git tells it.
pub(super) struct Change<'t> {
    /// The kind of file before and after.
    modes: [&'t str; 2],
    status: &'t str,
    pub(super) path: &'t str,
}

/// The changes that `git diff --raw -z` tells, or as such the files that `git ls-tree -z` tells; `None`
/// where an answer is not understood.
pub(super) fn changes(said: &str) -> Option<Vec<Change<'_>>> {
    let mut fields = said.split_terminator('\0');
    let mut found = Vec::new();
    while let Some(field) = fields.next() {
        found.push(match field.strip_prefix(':') {
            Some(change) => {
                let parts: Vec<&str> = change.split(' ').collect();
                let [before, after, _, _, status] = *parts.as_slice() else { return None };
                Change { modes: [before, after], status, path: fields.next()? }
            }
            None => {
                let (mode, path) = field.split_once('\t')?;
                Change { modes: ["000000", mode.split(' ').next()?], status: "A", path }
            }
        });
    }
    Some(found)
}

impl Change<'_> {
    /// Whether it is one of a protected path, or may make one: by a link in the place of a folder above
    /// it, or because git puts files into a folder to which others have moved.
    pub(super) fn is_of(&self, protected: &[String]) -> bool {
        let path = self.path.to_lowercase();
        protected.iter().any(|protected| {
            let folder = protected.rsplit_once('/').map(|(folder, _)| folder);
            let moves = |folder: &str| {
                let is_common = COMMON.contains(&folder);
                path == folder || self.status != "M" && !is_common && is_within(&path, folder)
            };
            is_within(&path, protected) || folder.is_some_and(moves)
        })
    }

    /// Whether a protected path is not there any more.
    pub(super) fn lacks(&self, protected: &[String]) -> bool {
        self.status == "D" && self.is_of(protected)
    }

    /// Whether a file is new, or comes back, beside files that are not `here`: those are told as new.
    pub(super) fn is_new_where_others_left(&self, here: &[Change<'_>]) -> bool {
        let left = here.iter().filter(|change| change.status == "A");
        let mut folders = left.filter_map(|change| Some(change.path.rsplit_once('/')?.0));
        self.status != "M" && folders.any(|folder| is_within(self.path, folder))
    }

    /// Whether a repository is where none was. Changes are also taken back.
    pub(super) fn brings_repository(&self, takes: Takes) -> bool {
        let [before, after] = self.modes.map(|mode| mode == "160000");
        before != after && (after || takes == Takes::Changes)
    }
}
