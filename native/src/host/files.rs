//! Files and folders.
//!
//! A write goes to a temporary file in the same folder, which is then renamed. So a reader or a
//! crash sees the old or the new content. A write never follows a final symbolic link, because an
//! agent can have placed it.

mod leftovers;
mod open;
mod permissions;
mod publish;
mod removal;

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use onloop_core::effect::{Durability, Expect, Failure, FailureKind, FileKind, Stat, Version};

use super::{Files, Root, clock, failure, paths};
pub(super) use open::to_read as open_to_read;
pub(super) use open::to_read_untrusted as open_untrusted;
pub(super) use permissions::Readers;
#[cfg(unix)]
pub(crate) use permissions::tighten;
use publish::Names;
pub(super) use publish::{Temporary, create_folders};
pub(super) use removal::remove_tree;

/// Files of the operating system.
#[derive(Clone, Debug)]
pub struct OsFiles {
    root: Root,
    doubt: Doubt,
}

/// State of the warning about the file system.
#[derive(Clone, Debug, Default)]
enum Doubt {
    /// There is no warning.
    #[default]
    None,
    /// A warning to show.
    New(String),
    /// It was shown.
    Told,
}

impl OsFiles {
    /// Creates files below `root`; absolute paths are allowed.
    pub fn new(root: Root) -> OsFiles {
        OsFiles { root, doubt: Doubt::None }
    }

    /// Makes names in `folder` durable as far as its file system allows.
    fn note(&mut self, names: Names, folder: &Path) {
        if names == Names::Refused && matches!(self.doubt, Doubt::None) {
            self.doubt = Doubt::New(format!(
                "the file system of `{}` cannot sync folders;\n  a power cut may undo the last \
                 writes there",
                folder.display()
            ));
        }
    }
}

impl Files for OsFiles {
    fn read(&mut self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, Version), Failure> {
        let fail = |error: &io::Error| failure::of_path(error, "read", path);
        let mut file = open_to_read(&self.root.resolve(path)?).map_err(|e| fail(&e))?;
        let metadata = file.metadata().map_err(|e| fail(&e))?;
        regular(&metadata, "read", path)?;
        // The version is read before the content. A change in between makes it stale, so a later
        // write that expects it fails.
        let version = version(&metadata);
        if metadata.len() > limit_bytes {
            return Err(too_large(path, metadata.len(), limit_bytes));
        }
        let expected = usize::try_from(metadata.len()).unwrap_or(0);
        let mut bytes = Vec::with_capacity(expected + 1);
        let limit = limit_bytes.saturating_add(1);
        (&mut file).take(limit).read_to_end(&mut bytes).map_err(|e| fail(&e))?;
        if bytes.len() as u64 > limit_bytes {
            return Err(too_large(path, bytes.len() as u64, limit_bytes));
        }
        Ok((bytes, version))
    }

    fn read_tail(&mut self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, u64), Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "read", path);
        let mut file = open_to_read(&self.root.resolve(path)?).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        regular(&metadata, "read", path)?;
        let size_bytes = metadata.len();
        let start = size_bytes.saturating_sub(limit_bytes);
        file.seek(SeekFrom::Start(start)).map_err(fail)?;
        let expected = size_bytes - start;
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
        // Bytes appended meanwhile belong to a later read.
        (&mut file).take(expected).read_to_end(&mut bytes).map_err(fail)?;
        Ok((bytes, size_bytes))
    }

    fn write(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect: &Expect,
        durability: Durability,
        private: bool,
    ) -> Result<Version, Failure> {
        let readers = Readers::of(private);
        let fail = |error: io::Error| failure::of_path(&error, "write", path);
        let target = self.root.resolve(path)?;
        target.file_name().ok_or_else(|| names_no_file(path))?;
        let existing = replaceable(&target, path)?;
        met(expect, existing.as_ref(), path)?;
        let folder = paths::folder_of(&target);
        let made = create_folders(folder, durability, readers).map_err(fail)?;
        let temporary = Temporary::create(folder, existing.as_ref(), readers).map_err(fail)?;
        temporary.file().write_all(bytes).map_err(fail)?;
        // The kernel's clock for files is coarse, and a new file may reuse an inode number. Without
        // a fine time two versions could look the same.
        temporary.file().set_modified(std::time::SystemTime::now()).map_err(fail)?;
        if durability == Durability::Durable {
            temporary.file().sync_all().map_err(fail)?;
        }
        if let Expect::Version(_) = expect {
            met(expect, replaceable(&target, path)?.as_ref(), path)?;
        }
        let published = match (expect, durability) {
            (Expect::Absent, _) => temporary.publish_new(&target),
            (Expect::Any | Expect::Version(_), Durability::Durable) => temporary.publish(&target),
            (Expect::Any | Expect::Version(_), Durability::Relaxed) => {
                temporary.publish_relaxed(&target)
            }
        };
        let file = published.map_err(fail)?;
        // The file is in place from here on, also if a later step fails.
        let unknown = |error: io::Error| failure::undone_by_power(&error, "written", path);
        let synced = match durability {
            Durability::Durable => publish::sync_folder(folder).map_err(unknown)?,
            Durability::Relaxed => Names::Durable,
        };
        self.note(made.and(synced), folder);
        // The version comes from our open file, not from the path.
        Ok(version(&file.metadata().map_err(unknown)?))
    }

    fn append(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect_len_bytes: u64,
        durability: Durability,
        private: bool,
    ) -> Result<(), Failure> {
        let readers = Readers::of(private);
        let fail = |error: io::Error| failure::of_path(&error, "append to", path);
        let target = self.root.resolve(path)?;
        let folder = paths::folder_of(&target);
        let made = match expect_len_bytes {
            0 => create_folders(folder, durability, readers).map_err(fail)?,
            _ => Names::Durable,
        };
        let opened = open::to_append(&target, expect_len_bytes == 0, readers);
        let (mut file, created) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(conflict(path, &format!("is gone; {expect_len_bytes} bytes expected")));
            }
            Err(error) => return Err(fail(error)),
        };
        let metadata = file.metadata().map_err(fail)?;
        regular(&metadata, "append to", path)?;
        if metadata.len() != expect_len_bytes {
            let found = format!("has {} bytes; {expect_len_bytes} expected", metadata.len());
            return Err(conflict(path, &found));
        }
        let synced = |file: &File| match durability {
            Durability::Durable => file.sync_data(),
            Durability::Relaxed => Ok(()),
        };
        if let Err(error) = file.write_all(bytes).and_then(|()| synced(&file)) {
            // A full disk accepts some of the bytes. Without this the next append, which expects
            // the old size, would fail.
            return Err(match file.set_len(expect_len_bytes) {
                Ok(()) => fail(error),
                Err(_) => failure::in_part(&error, "append to", path),
            });
        }
        let synced = match (created, durability) {
            (true, Durability::Durable) => publish::sync_folder(folder)
                .map_err(|error| failure::undone_by_power(&error, "written", path))?,
            (false, _) | (true, Durability::Relaxed) => Names::Durable,
        };
        self.note(made.and(synced), folder);
        Ok(())
    }

    fn patch(
        &mut self,
        path: &str,
        offset_bytes: u64,
        old: &[u8],
        new: &[u8],
    ) -> Result<(), Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "change", path);
        if old.len() != new.len() {
            let message = format!(
                "cannot change `{path}` in place: {} bytes cannot replace {}",
                new.len(),
                old.len()
            );
            return Err(Failure::new(FailureKind::Invalid, message));
        }
        let mut file = open::to_patch(&self.root.resolve(path)?).map_err(fail)?;
        regular(&file.metadata().map_err(fail)?, "change", path)?;
        let mut found = Vec::with_capacity(old.len());
        file.seek(SeekFrom::Start(offset_bytes)).map_err(fail)?;
        (&mut file).take(old.len() as u64).read_to_end(&mut found).map_err(fail)?;
        if found != old {
            let message = format!("holds something else at byte {offset_bytes} than expected");
            return Err(conflict(path, &message));
        }
        file.seek(SeekFrom::Start(offset_bytes)).map_err(fail)?;
        file.write_all(new).map_err(|error| failure::in_part(&error, "change", path))
    }

    fn remove(&mut self, path: &str) -> Result<(), Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "remove", path);
        let target = self.root.resolve(path)?;
        if self.root.stands_on(&target) {
            let message = format!("refused to remove `{path}`: it contains the current folder");
            return Err(Failure::new(FailureKind::Invalid, message));
        }
        let metadata = fs::symlink_metadata(&target).map_err(fail)?;
        if metadata.is_dir() {
            remove_tree(&target).map_err(fail)
        } else {
            fs::remove_file(&target).map_err(fail)
        }
    }

    /// Names that are not UTF-8 are omitted, because no request can name them.
    fn list(&mut self, path: &str) -> Result<Vec<String>, Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "list", path);
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.resolve(path)?).map_err(fail)? {
            if let Ok(name) = entry.map_err(fail)?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn stat(&mut self, path: &str) -> Result<Stat, Failure> {
        let fail = |error: io::Error| failure::of_path(&error, "look at", path);
        let metadata = fs::symlink_metadata(self.root.resolve(path)?).map_err(fail)?;
        let kind = file_kind(&metadata);
        Ok(Stat {
            kind,
            size_bytes: if kind == FileKind::Folder { 0 } else { metadata.len() },
            modified: clock::timestamp(metadata.modified().map_err(fail)?),
            executable: kind == FileKind::File && open::is_executable(&metadata),
            foreign: open::is_foreign(&metadata),
        })
    }

    fn durability_warning(&mut self) -> Option<String> {
        match std::mem::replace(&mut self.doubt, Doubt::Told) {
            Doubt::New(words) => Some(words),
            Doubt::None => {
                self.doubt = Doubt::None;
                None
            }
            Doubt::Told => None,
        }
    }

    fn canonical(&mut self, path: &str) -> Result<String, Failure> {
        let resolved = fs::canonicalize(self.root.resolve(path)?)
            .map_err(|error| failure::of_path(&error, "resolve", path))?;
        paths::into_text(paths::usual(resolved))
    }
}

/// Returns what is at `target`; only a regular file may be replaced.
fn replaceable(target: &Path, path: &str) -> Result<Option<Metadata>, Failure> {
    match fs::symlink_metadata(target) {
        Ok(metadata) => regular(&metadata, "write", path).map(|()| Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure::of_path(&error, "write", path)),
    }
}

fn regular(metadata: &Metadata, act: &str, path: &str) -> Result<(), Failure> {
    let what = match file_kind(metadata) {
        FileKind::File => return Ok(()),
        FileKind::Folder => "it is a folder, not a file",
        FileKind::Link => {
            "it is a symbolic link, and onloop does not follow links there; \
                           use the path it leads to"
        }
        FileKind::Other => "it is a device, a pipe or a socket, not a file",
    };
    Err(Failure::new(FailureKind::Invalid, format!("cannot {act} `{path}`: {what}")))
}

fn met(expect: &Expect, existing: Option<&Metadata>, path: &str) -> Result<(), Failure> {
    match (expect, existing) {
        (Expect::Any, _) | (Expect::Absent, None) => Ok(()),
        (Expect::Absent, Some(_)) => {
            let message = format!("cannot write `{path}`: something is already there");
            Err(Failure::new(FailureKind::Exists, message))
        }
        (Expect::Version(_), None) => Err(conflict(path, "is gone")),
        (Expect::Version(expected), Some(existing)) if version(existing) == *expected => Ok(()),
        (Expect::Version(_), Some(_)) => Err(conflict(path, "was changed by another process")),
    }
}

fn conflict(path: &str, what: &str) -> Failure {
    Failure::new(FailureKind::Conflict, format!("`{path}` {what}"))
}

fn too_large(path: &str, len: u64, limit_bytes: u64) -> Failure {
    let message = format!("`{path}` has {len} bytes; at most {limit_bytes} are read");
    Failure::new(FailureKind::TooLarge, message)
}

fn names_no_file(path: &str) -> Failure {
    Failure::new(FailureKind::Invalid, format!("`{path}` does not name a file"))
}

fn file_kind(metadata: &Metadata) -> FileKind {
    let kind = metadata.file_type();
    if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other
    }
}

/// Identifies a file's content. A replacement changes the inode; a write in place changes times or
/// length. Two writes in place with the same length within one clock tick look the same, so a lock
/// guards records, too.
#[cfg(unix)]
fn version(metadata: &Metadata) -> Version {
    use std::os::unix::fs::MetadataExt;
    Version(format!(
        "{:x}.{:x}.{:x}.{:x}.{:x}.{:x}.{:x}",
        metadata.dev(),
        metadata.ino(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.len(),
    ))
}

#[cfg(not(unix))]
fn version(metadata: &Metadata) -> Version {
    let nanos = |time: io::Result<std::time::SystemTime>| {
        let since = time.ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_nanos())
    };
    let (modified, created) = (nanos(metadata.modified()), nanos(metadata.created()));
    Version(format!("{modified:x}.{created:x}.{:x}", metadata.len()))
}

/// Opens a log for appending, for its owner only; creates it and its folders.
pub(super) fn open_appended(root: &Root, path: &str) -> Result<File, Failure> {
    let readers = Readers::of(true);
    let fail = |error: io::Error| failure::of_path(&error, "write", path);
    let target = root.resolve(path)?;
    create_folders(paths::folder_of(&target), Durability::Relaxed, readers).map_err(fail)?;
    let (file, _) = open::to_append(&target, true, readers).map_err(fail)?;
    regular(&file.metadata().map_err(fail)?, "write", path)?;
    Ok(file)
}

/// Opens the log of a process with the same rules.
pub(super) fn open_stream(root: &Root, path: &str, private: bool) -> Result<File, Failure> {
    let readers = Readers::of(private);
    let fail = |error: io::Error| failure::of_path(&error, "write", path);
    let target = root.resolve(path)?;
    create_folders(paths::folder_of(&target), Durability::Relaxed, readers).map_err(fail)?;
    let file = open::to_log(&target, readers).map_err(fail)?;
    regular(&file.metadata().map_err(fail)?, "write", path)?;
    Ok(file)
}
