//! What may be read and not changed, and lies in a folder that may be written, where the kernel
//! cannot hold that: compared afterwards and put right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind, Reach};

use super::impossible;
use super::places::Places;
use crate::host::failure;
use crate::host::files::remove_tree;

/// Most bytes and most files that are looked at; a repository's hooks are far less.
const LIMIT_BYTES: usize = 16 << 20;
const LIMIT_FILES: usize = 4_000;

/// How paths were before.
#[derive(Debug, Default)]
pub(super) struct Kept {
    before: Vec<(PathBuf, Content)>,
    /// What may be written in what is kept.
    free: Vec<PathBuf>,
    /// Folders below which no link may come to be, and the links that were there.
    without_links: Vec<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Link(PathBuf),
    Folder {
        entries: BTreeMap<PathBuf, Content>,
        mode: u32,
    },
    /// A pipe or a socket, of which there is nothing to keep.
    Other,
}

#[derive(Default)]
struct Budget {
    bytes: usize,
    files: usize,
}

impl Kept {
    /// What no mechanism can hold: what is not there, and links.
    pub(super) fn unheld(places: &Places) -> Result<Kept, Failure> {
        Kept::of(places, places.unheld.iter())
    }

    /// That, and everything that may only be read.
    pub(super) fn all(places: &Places) -> Result<Kept, Failure> {
        Kept::of(places, places.unheld.iter().chain(places.kept().map(|place| &place.path)))
    }

    fn of<'p>(places: &Places, paths: impl Iterator<Item = &'p PathBuf>) -> Result<Kept, Failure> {
        let written = places.there.iter().filter(|place| place.reach == Reach::Write);
        let free: Vec<PathBuf> = written.map(|place| place.path.clone()).collect();
        let mut budget = Budget::default();
        let mut before = Vec::new();
        for path in paths {
            let content = content(path, &free, &mut budget)
                .map_err(|error| impossible(format_args!("`{}`: {error}", path.display())))?;
            before.push((path.clone(), content));
        }
        let without_links = places.without_links.clone();
        let links = links_in(&without_links);
        Ok(Kept { before, free, without_links, links })
    }

    /// Undoes what has changed, and says where. What cannot be undone does not keep the rest from it.
    ///
    /// # Errors
    ///
    /// The first thing that could not be undone.
    pub(super) fn put_right(&self) -> Result<Vec<String>, Failure> {
        let (mut changed, mut failed) = (Vec::new(), None);
        // First: what is put back must not be written through one.
        let now = links_in(&self.without_links);
        let paths: BTreeSet<&PathBuf> = now.keys().chain(self.links.keys()).collect();
        for link in paths {
            let before = self.links.get(link);
            if now.get(link) == before {
                continue;
            }
            let shown = link.display().to_string();
            let undone = remove(link).and_then(|()| match before {
                Some(says) => std::os::unix::fs::symlink(says, link),
                None => Ok(()),
            });
            match undone {
                Ok(()) => changed.push(shown),
                Err(error) => {
                    failed.get_or_insert(failure::of_path(&error, "put back the links at", &shown));
                }
            }
        }
        for (path, before) in &self.before {
            // Larger than it may be is changed, too.
            let now = content(path, &self.free, &mut Budget::default());
            let now = now.unwrap_or(Content::Other);
            if now == *before {
                continue;
            }
            let shown = path.display().to_string();
            let undone = remove_links_above(path, before).and_then(|()| {
                restore(path, before, &self.free).map_err(|error| {
                    let what = "put back what a confined program has changed at";
                    failure::of_path(&error, what, &shown)
                })
            });
            match undone {
                Ok(()) => changed.push(shown),
                Err(failure) => {
                    failed.get_or_insert(failure);
                }
            }
        }
        failed.map_or(Ok(changed), Err)
    }
}

/// Every link below these folders, and what it says; loose objects are not looked at, since git does
/// not write to one that is there.
fn links_in(folders: &[PathBuf]) -> BTreeMap<PathBuf, PathBuf> {
    let (mut found, mut ahead) = (BTreeMap::new(), folders.to_vec());
    while let Some(folder) = ahead.pop() {
        // A link in the place of the folder itself.
        if let Ok(says) = fs::read_link(&folder) {
            found.insert(folder, says);
            continue;
        }
        let is_of_objects = folder.parent().is_some_and(|above| above.ends_with("objects"));
        let entries = match is_of_objects {
            true => None,
            false => fs::read_dir(&folder).ok(),
        };
        for entry in entries.into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => ahead.push(entry.path()),
                Ok(kind) if kind.is_symlink() => {
                    let path = entry.path();
                    found.extend(fs::read_link(&path).ok().map(|says| (path.clone(), says)));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

/// Nothing is written through a link that the program has put there; it leads nowhere from now on.
fn remove_links_above(path: &Path, before: &Content) -> Result<(), Failure> {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.reverse();
    let Some(link) = folders.into_iter().find(|folder| folder.is_symlink()) else { return Ok(()) };
    let shown = link.display().to_string();
    fs::remove_file(link)
        .map_err(|error| failure::of_path(&error, "put back the links at", &shown))?;
    if *before == Content::Nothing {
        return Ok(());
    }
    let message = format!(
        "a confined program has replaced `{shown}` by a link, which is removed; what was there before \
         cannot be put back, so look at it before git or an agent is used there"
    );
    Err(Failure::new(FailureKind::Conflict, message))
}

fn content(path: &Path, free: &[PathBuf], budget: &mut Budget) -> io::Result<Content> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_nothing(&error) => return Ok(Content::Nothing),
        Err(error) => return Err(error),
    };
    budget.files += 1;
    let mode = metadata.permissions().mode();
    if metadata.is_symlink() {
        return fs::read_link(path).map(Content::Link);
    }
    if metadata.is_dir() {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if !free.contains(&path) {
                let content = content(&path, free, budget)?;
                entries.insert(path, content);
            }
        }
        return Ok(Content::Folder { entries, mode });
    }
    if !metadata.is_file() {
        return Ok(Content::Other);
    }
    budget.bytes =
        budget.bytes.saturating_add(usize::try_from(metadata.len()).unwrap_or(usize::MAX));
    if budget.bytes > LIMIT_BYTES || budget.files > LIMIT_FILES {
        return Err(io::Error::other("too much to be compared afterwards; it takes `bwrap`"));
    }
    Ok(Content::File { bytes: fs::read(path)?, mode })
}

/// Nothing is there, perhaps because a file is where a folder was.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn restore(path: &Path, before: &Content, free: &[PathBuf]) -> io::Result<()> {
    if let (Content::Folder { entries, mode }, true) = (before, is_real_folder(path)) {
        fs::set_permissions(path, Permissions::from_mode(*mode | 0o700))?;
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if !entries.contains_key(&path) && !free.contains(&path) {
                remove(&path)?;
            }
        }
        for (path, before) in entries {
            if content(path, free, &mut Budget::default()).ok().as_ref() != Some(before) {
                restore(path, before, free)?;
            }
        }
        return fs::set_permissions(path, Permissions::from_mode(*mode));
    }
    remove(path)?;
    match before {
        Content::Nothing | Content::Other => Ok(()),
        Content::Link(target) => {
            make_parent(path)?;
            std::os::unix::fs::symlink(target, path)
        }
        Content::File { bytes, mode } => {
            make_parent(path)?;
            fs::write(path, bytes)?;
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
        Content::Folder { .. } => {
            fs::create_dir_all(path)?;
            restore(path, before, free)
        }
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = if is_real_folder(path) { remove_tree(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
