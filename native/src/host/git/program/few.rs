//! Taking few changes into a large index.
//!
//! Git reads and writes a whole index for each change of it, but what it makes of a file depends on that
//! file, on what the index had in its place, and on the attributes of the folders around it. An index
//! with nothing else in it is quick to read and to write; what git has put there goes into the large
//! one in this process, which has read it already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, str};

use git2::{Index, IndexEntry, IndexTime, Repository};
use onloop_core::effect::Failure;

use super::super::rollback;
use super::GitProgram;
use super::changes::Changes;
use super::checkpoint::below;
use super::command::{Aside, until_nul};

/// More changes than this are left to git, which then reads no more than it has to.
const FEW: usize = 1000;

const ATTRIBUTES: &str = ".gitattributes";

impl GitProgram {
    /// Takes `changes` into `known`, which is what lies at `path` and is not written here. `None`: git has
    /// to do it.
    pub(super) fn take_in_few(
        &self,
        library: &Repository,
        root: &Path,
        path: &Path,
        mut known: Index,
        changes: &Changes,
    ) -> Result<Option<Index>, Failure> {
        if changes.is_empty() {
            return Ok(Some(known));
        }
        let Some(few) = Few::of(library, root, &known, changes) else { return Ok(None) };
        let mut small = path.as_os_str().to_owned();
        small.push(".few");
        let small = PathBuf::from(small);
        let read = self.read_files(root, &small, &few);
        let _ = fs::remove_file(&small);
        Ok(read?.and_then(|read| few.put_into(&mut known, &read)).map(|()| known))
    }

    /// An index at `small` with the files as they are now; `None`: libgit2 cannot make it.
    fn read_files(
        &self,
        root: &Path,
        small: &Path,
        few: &Few<'_>,
    ) -> Result<Option<Index>, Failure> {
        match fs::remove_file(small) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(rollback::failure(small, &error));
            }
            Ok(()) | Err(_) => {}
        }
        if few.present.is_empty() {
            return Ok(Index::open(small).ok());
        }
        if few.before(small).is_none() {
            return Ok(None);
        }
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        let aside = Aside { index: Some(small), ..Aside::default() };
        let list = until_nul(few.present.iter().map(|path| path.as_bytes()));
        self.answer_aside(root, &args, &list, aside)?.success()?;
        Ok(Index::open(small).ok())
    }
}

/// Changes of which each concerns one entry and no other.
struct Few<'a> {
    present: Vec<&'a str>,
    gone: Vec<&'a str>,
    /// What the index had in the places of those that are there, and the attributes around them.
    entries: Vec<IndexEntry>,
}

impl<'a> Few<'a> {
    fn of(
        library: &Repository,
        root: &Path,
        known: &Index,
        changes: &'a Changes,
    ) -> Option<Few<'a>> {
        let text = |paths: &'a BTreeSet<Vec<u8>>| {
            paths.iter().map(|path| str::from_utf8(path).ok()).collect::<Option<Vec<_>>>()
        };
        let (present, gone) = (text(&changes.present)?, text(&changes.gone)?);
        let ignores_case = library.config().ok()?.get_bool("core.ignorecase").unwrap_or(false);
        if ignores_case || present.len() + gone.len() > FEW {
            return None;
        }
        let mut attributes = BTreeSet::from([ATTRIBUTES.to_owned()]);
        let mut entries = Vec::new();
        for path in &present {
            let is_folder =
                below(root, path.as_bytes()).symlink_metadata().is_ok_and(|f| f.is_dir());
            if is_folder || known.find_prefix(format!("{path}/")).is_ok() {
                return None;
            }
            for (end, _) in path.match_indices('/') {
                let folder = &path[..end];
                if known.get_path(Path::new(folder), 0).is_some() {
                    return None;
                }
                attributes.insert(format!("{folder}/{ATTRIBUTES}"));
            }
            entries.extend(known.get_path(Path::new(path), 0));
        }
        let named: BTreeSet<&str> = present.iter().chain(&gone).copied().collect();
        attributes.retain(|path| !named.contains(path.as_str()));
        entries.extend(attributes.iter().filter_map(|path| known.get_path(Path::new(path), 0)));
        Some(Few { present, gone, entries })
    }

    /// Writes what the index had. Nothing of it counts as read: this index is younger than every file
    /// that may have been changed since.
    fn before(&self, small: &Path) -> Option<()> {
        let mut index = Index::open(small).ok()?;
        let never = IndexTime::new(0, 0);
        for entry in &self.entries {
            let path = entry.path.clone();
            let unread = IndexEntry {
                ctime: never,
                mtime: never,
                dev: 0,
                ino: 0,
                uid: 0,
                gid: 0,
                file_size: 0,
                path,
                ..*entry
            };
            index.add(&unread).ok()?;
        }
        index.write().ok()
    }

    /// Puts what `read` has of the files into the large index.
    fn put_into(&self, known: &mut Index, read: &Index) -> Option<()> {
        for path in &self.present {
            match read.get_path(Path::new(path), 0) {
                Some(entry) => known.add(&entry).ok()?,
                // It has gone since.
                None => remove(known, path)?,
            }
        }
        for path in &self.gone {
            remove(known, path)?;
        }
        Some(())
    }
}

fn remove(index: &mut Index, path: &str) -> Option<()> {
    match index.get_path(Path::new(path), 0) {
        Some(_) => index.remove(Path::new(path), 0).ok(),
        None => Some(()),
    }
}
