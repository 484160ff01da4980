//! The tree that an index stands for, made from the one before and from what has changed since.
//!
//! Git would read the whole index for it and write it again. Beside the index lies a note which tree was
//! made of it, which counts only as long as the index is that very file.

use std::fs;
use std::path::{Path, PathBuf};

use git2::Index;
use onloop_core::effect::Failure;

use super::super::libgit;
use super::GitProgram;
use super::changes::Changes;
use super::checkpoint::{NewCheckpoint, Work};
use super::command::{Aside, text};

impl GitProgram {
    /// The tree of the index with the changes of `work` taken in. The index may not have been written
    /// then.
    pub(super) fn tree(
        &self,
        root: &Path,
        new: &NewCheckpoint<'_>,
        work: &mut Work,
    ) -> Result<String, Failure> {
        let before = new.library.zip(noted(new.index));
        let changed = |index: &Index, changes: &Changes| {
            let (library, before) = before.as_ref()?;
            libgit::changed_tree(library, before, index, changes.paths())
        };
        if let Some(tree) = work.known.as_ref().and_then(|index| changed(index, &work.changes)) {
            return Ok(tree);
        }
        self.take_in(root, new, work)?;
        let written = Index::open(new.index).ok();
        if let Some(tree) = written.and_then(|index| changed(&index, &work.changes)) {
            return Ok(tree);
        }
        let aside = Aside { index: Some(new.index), ..Aside::default() };
        // What is missing here was missing before: a partial clone.
        let tree = self.answer_aside(root, &["write-tree", "--missing-ok"], &[], aside)?;
        Ok(text(&tree.success()?))
    }
}

/// The tree that `index` stands for, if that was noted and it has not been written since.
fn noted(index: &Path) -> Option<String> {
    let noted = fs::read_to_string(beside(index, ".tree")).ok()?;
    let (file, tree) = noted.strip_suffix('\n')?.split_once(' ')?;
    (file == identity(index)?).then(|| tree.to_owned())
}

/// Notes which tree `index` stands for.
pub(super) fn note(index: &Path, tree: &str) {
    if let Some(file) = identity(index) {
        // Without a note git makes the next tree.
        let _ = fs::write(beside(index, ".tree"), format!("{file} {tree}\n"));
    }
}

/// The file in which something is noted about `index`.
pub(super) fn beside(index: &Path, ending: &str) -> PathBuf {
    let mut path = index.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// Which file lies there: git replaces an index by another file and never writes into it.
#[cfg(unix)]
pub(super) fn identity(index: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let file = index.metadata().ok()?;
    let (modified, changed) = (file.mtime_nsec(), file.ctime_nsec());
    Some(format!(
        "{}-{}-{}.{modified}-{}.{changed}",
        file.ino(),
        file.len(),
        file.mtime(),
        file.ctime()
    ))
}

/// Elsewhere nothing tells one file from another for sure.
#[cfg(not(unix))]
fn identity(_index: &Path) -> Option<String> {
    None
}
