//! Publishes a finished file under its name in one step.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use onloop_core::effect::Durability;

use super::leftovers;
use super::permissions::Readers;
use crate::host::paths;

/// Number of the next temporary file of this process; the rest of the name identifies the process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Most names to try, because other files can exist.
const NAMES_TRIED: u32 = 64;

/// A file under a temporary name. If it is dropped before it is published, it is removed.
#[derive(Debug)]
pub(in crate::host) struct Temporary {
    path: PathBuf,
    file: Option<File>,
}

impl Temporary {
    /// Creates an empty file in `folder` with the owner of the file that it will replace, and with
    /// its permissions unless it is private.
    pub(in crate::host) fn create(
        folder: &Path,
        like: Option<&Metadata>,
        readers: Readers,
    ) -> io::Result<Temporary> {
        leftovers::remove(folder);
        // Other users must not open it before it has the final permissions.
        let at_first = if like.is_some() { Readers::Owner } else { readers };
        let mut tried = 0;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            // The name does not contain the final name, which can have the maximum length.
            let path = folder.join(leftovers::name(number));
            match new_file(&path, at_first) {
                Ok(file) => {
                    let temporary = Temporary { path, file: Some(file) };
                    if let Some(like) = like {
                        copy_owner_and_mode(temporary.file(), like, readers)?;
                    }
                    readers.apply(temporary.file())?;
                    return Ok(temporary);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    tried += 1;
                    if tried == NAMES_TRIED {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The file, open for writing.
    pub(in crate::host) fn file(&self) -> &File {
        self.file.as_ref().expect("a temporary file is open until it is published")
    }

    /// Replaces whatever is at `target`.
    pub(in crate::host) fn publish(self, target: &Path) -> io::Result<File> {
        fs::rename(&self.path, target)?;
        Ok(self.into_file())
    }

    /// Like [`Temporary::publish`], for content that a power cut may lose.
    ///
    /// On ext4 a rename over another file writes the file to the disk, which is slow; an exchange
    /// does not.
    pub(in crate::host) fn publish_relaxed(self, target: &Path) -> io::Result<File> {
        if !exchange(&self.path, target) {
            return self.publish(target);
        }
        // The old file has the temporary name now.
        let _ = fs::remove_file(&self.path);
        Ok(self.into_file())
    }

    fn into_file(mut self) -> File {
        self.file.take().expect("published once")
    }

    /// Publishes at `target` if nothing is there, else fails with `AlreadyExists`. Of several
    /// attempts at once exactly one succeeds.
    pub(in crate::host) fn publish_new(self, target: &Path) -> io::Result<File> {
        if !rename_without_replacing(&self.path, target)? {
            // Nothing may fail after the link exists.
            let file = self.file().try_clone()?;
            // The drop of `self` removes the temporary name, because `file` stays set.
            fs::hard_link(&self.path, target)?;
            return Ok(file);
        }
        Ok(self.into_file())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Exchanges two files. `false`: nothing is at `target`, or the file system does not support it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn exchange(one: &Path, target: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    renameat_with(CWD, one, CWD, target, RenameFlags::EXCHANGE).is_ok()
}

/// Other systems rename cheaply.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn exchange(_one: &Path, _target: &Path) -> bool {
    false
}

/// Renames if nothing is at `to`. `false`: the file system does not support it.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The caller uses a hard link, which refuses an existing target.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_without_replacing(_from: &Path, _to: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(unix)]
fn new_file(path: &Path, readers: Readers) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let bits = readers.file_bits();
    // `create_new` is O_CREAT|O_EXCL, which never follows a link at the end of the path.
    OpenOptions::new().read(true).write(true).create_new(true).mode(bits).open(path)
}

#[cfg(not(unix))]
fn new_file(path: &Path, _readers: Readers) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// Copies the owner if permitted, and the permissions unless the file is private.
#[cfg(unix)]
fn copy_owner_and_mode(file: &File, like: &Metadata, readers: Readers) -> io::Result<()> {
    use rustix::fs::{Gid, Mode, Uid, fchmod, fchown};
    use std::os::unix::fs::MetadataExt;

    let ours = file.metadata()?;
    let uid = (ours.uid() != like.uid()).then(|| Uid::from_raw(like.uid()));
    let gid = (ours.gid() != like.gid()).then(|| Gid::from_raw(like.gid()));
    if uid.is_some() || gid.is_some() {
        // Only root may change the owner; otherwise the content matters more.
        let _ = fchown(file, uid, gid);
    }
    if readers == Readers::Usual && ours.mode() != like.mode() {
        fchmod(file, Mode::from_raw_mode((like.mode() & 0o777) as _))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn copy_owner_and_mode(_file: &File, _like: &Metadata, _readers: Readers) -> io::Result<()> {
    Ok(())
}

/// Whether names in a folder survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum Names {
    /// They do, if the file system keeps its promise.
    Durable,
    /// The file system does not support a sync.
    Refused,
}

impl Names {
    /// Both.
    pub(super) fn and(self, other: Names) -> Names {
        match self {
            Names::Durable => other,
            Names::Refused => Names::Refused,
        }
    }
}

/// Creates `folder` and its missing parents. With `Durable` their entries survive a power cut.
pub(in crate::host) fn create_folders(
    folder: &Path,
    durability: Durability,
    readers: Readers,
) -> io::Result<Names> {
    let mut names = Names::Durable;
    let mut missing: Vec<&Path> = folder.ancestors().take_while(|f| !f.is_dir()).collect();
    while let Some(folder) = missing.pop() {
        if folder.as_os_str().is_empty() {
            continue;
        }
        match readers.create_folder(folder) {
            Ok(()) if durability == Durability::Durable => {
                names = names.and(sync_folder(paths::folder_of(folder))?);
            }
            Ok(()) => {}
            // Another process created it, or a file has this name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !fs::metadata(folder)?.is_dir() {
                    return Err(io::ErrorKind::NotADirectory.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(names)
}

/// Makes names in `folder` survive a power cut.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<Names> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Ok(()) => Ok(Names::Durable),
        // Some network and user-space file systems cannot sync a folder, and a write-only folder
        // cannot be opened for it.
        Err(error) if is_refused(&error) => Ok(Names::Refused),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_refused(error: &io::Error) -> bool {
    use rustix::io::Errno;

    let refusals = [
        Errno::INVAL,
        Errno::NOTSUP,
        Errno::OPNOTSUPP,
        Errno::NOSYS,
        Errno::BADF,
        Errno::ACCESS,
        Errno::PERM,
    ];
    error.raw_os_error().is_some_and(|raw| refusals.iter().any(|errno| errno.raw_os_error() == raw))
}

/// Folders cannot be opened for syncing here; the file system journals renames.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> io::Result<Names> {
    Ok(Names::Durable)
}
