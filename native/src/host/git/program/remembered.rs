//! Which tracked files may have changed, by what an index remembers of each.
//!
//! The rule is git's own, taken strictly: a file is as it was when its kind, size, owner, number and both
//! times are those that the index remembers, and it had not been changed shortly before the index was
//! written. Everything else counts as changed, and git reads it. What is not an ordinary file or
//! link in the index is left to git.

use std::io::Error;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;

use git2::{Index, IndexEntry};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::changes::Changes;

/// So many files are worth a thread.
const FILES_EACH: usize = 1000;

const MODE_KIND: u32 = 0o170_000;
const MODE_FILE: u32 = 0o100_000;
const MODE_LINK: u32 = 0o120_000;
const MODE_EXECUTABLE: u32 = 0o100;

/// Flags of an entry besides the length of its name: assumed unchanged, more flags, a side of a conflict.
const FLAGS: u16 = 0xf000;

/// What a file in the checkout is, compared with its entry.
enum Found {
    Same,
    Other,
    Gone,
}

/// What may have changed since `index` was written, and the index; `None`: only git can tell.
pub(super) fn changes(root: &Path, index: &Path) -> Option<(Changes, Index)> {
    let written = index.metadata().ok()?;
    let written = (written.mtime(), written.mtime_nsec());
    let index = Index::open(index).ok()?;
    let entries: Vec<IndexEntry> = index.iter().collect();
    let root = opened(rustix::fs::CWD, root.as_os_str().as_encoded_bytes()).ok()?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let each = entries.len().div_ceil(threads).max(FILES_EACH);
    thread::scope(|scope| {
        let look = |part| Look { root: &root, written, folder: None }.changes(part);
        let parts: Vec<_> =
            entries.chunks(each).map(|part| scope.spawn(move || look(part))).collect();
        let mut all = Changes::default();
        for part in parts {
            let part = part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            all.present.extend(part.present);
            all.gone.extend(part.gone);
        }
        Some((all, index))
    })
}

/// A look at files in the order of an index, in which those of a folder stand together.
struct Look<'a> {
    root: &'a OwnedFd,
    /// When the index was written.
    written: (i64, i64),
    /// The folder of the file before; nothing is at its name, or no folder: `None`.
    folder: Option<(&'a [u8], Option<OwnedFd>)>,
}

impl<'a> Look<'a> {
    fn changes(mut self, entries: &'a [IndexEntry]) -> Option<Changes> {
        let mut changes = Changes::default();
        for entry in entries {
            if entry.flags & FLAGS != 0 || !matches!(entry.mode & MODE_KIND, MODE_FILE | MODE_LINK)
            {
                return None;
            }
            match self.found(entry).ok().flatten()? {
                Found::Same => {}
                Found::Other => drop(changes.present.insert(entry.path.clone())),
                Found::Gone => drop(changes.gone.insert(entry.path.clone())),
            }
        }
        Some(changes)
    }

    /// `None`: only git can tell.
    fn found(&mut self, entry: &'a IndexEntry) -> Result<Option<Found>, Error> {
        let (folder, name) = match entry.path.iter().rposition(|&byte| byte == b'/') {
            Some(end) => (&entry.path[..end], &entry.path[end + 1..]),
            None => (&b""[..], &entry.path[..]),
        };
        if self.folder.as_ref().is_none_or(|(known, _)| *known != folder) {
            self.folder = Some((folder, self.open(folder)?));
        }
        let Some((_, Some(folder))) = &self.folder else { return Ok(Some(Found::Gone)) };
        let found = there(rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(match found {
            None => Some(Found::Gone),
            // It may be a repository of its own.
            Some(file) if FileType::from_raw_mode(file.st_mode) == FileType::Directory => None,
            Some(file) if is_same(entry, &file) && !is_racy(entry, self.written) => {
                Some(Found::Same)
            }
            Some(_) => Some(Found::Other),
        })
    }

    /// Opens a folder of the checkout; what is reached through a link is not in it.
    fn open(&self, folder: &[u8]) -> Result<Option<OwnedFd>, Error> {
        if folder.is_empty() {
            return Ok(Some(self.root.try_clone()?));
        }
        let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends {
            let above = rustix::fs::statat(self.root, &folder[..end], AtFlags::SYMLINK_NOFOLLOW);
            let above = there(above)?.map(|found| FileType::from_raw_mode(found.st_mode));
            if above != Some(FileType::Directory) {
                return Ok(None);
            }
        }
        there(opened(self.root, folder))
    }
}

fn opened(at: impl std::os::fd::AsFd, folder: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, folder, flags, Mode::empty())
}

/// `None` where nothing is at a name, or not what was asked for.
fn there<T>(answer: rustix::io::Result<T>) -> Result<Option<T>, Error> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether an index that has `entry` would take `file` for it.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "an index keeps the lower 32 bits of each number, whatever the system's types are"
)]
fn is_same(entry: &IndexEntry, file: &Stat) -> bool {
    let time = |time: git2::IndexTime| (time.seconds() as u32, time.nanoseconds());
    let kind = entry.mode & MODE_KIND;
    // A link has no such bit of its own.
    let executable = if kind == MODE_FILE { MODE_EXECUTABLE } else { 0 };
    let mode = file.st_mode as u32;
    // A file that git was not sure of has no size in the index, as an empty one; those are quick to read.
    entry.file_size > 0
        && entry.file_size == file.st_size as u32
        && kind == mode & MODE_KIND
        && entry.mode & executable == mode & executable
        && time(entry.mtime) == (file.st_mtime as u32, file.st_mtime_nsec as u32)
        && time(entry.ctime) == (file.st_ctime as u32, file.st_ctime_nsec as u32)
        && entry.ino == file.st_ino as u32
        && (entry.uid, entry.gid) == (file.st_uid as u32, file.st_gid as u32)
}

/// Whether the file was changed less than a second before the index was written: within one tick of
/// the file system's clock it may have been changed once more after git read it.
fn is_racy(entry: &IndexEntry, (seconds, nanoseconds): (i64, i64)) -> bool {
    let changed = (i64::from(entry.mtime.seconds()) + 1, i64::from(entry.mtime.nanoseconds()));
    changed >= (seconds, nanoseconds)
}
