//! Opens files that may be untrusted: no final symbolic link is followed for writing, and a pipe
//! without a partner does not block.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::permissions::Readers;

/// Opens a path that may not be a regular file; the caller checks before it reads.
pub(in crate::host) fn to_read(path: &Path) -> io::Result<File> {
    careful(OpenOptions::new().read(true), Links::Followed, Readers::Usual).open(path)
}

/// Opens a file in a folder that an untrusted program wrote; a link is refused. The caller checks
/// that it is a regular file.
pub(in crate::host) fn to_read_untrusted(path: &Path) -> io::Result<File> {
    careful(OpenOptions::new().read(true), Links::Refused, Readers::Usual).open(path)
}

/// Opens for changing bytes in place.
pub(super) fn to_patch(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    careful(options.read(true).write(true), Links::Refused, Readers::Usual).open(path)
}

/// Opens for appending, and says whether the file was created.
pub(super) fn to_append(
    path: &Path,
    may_create: bool,
    readers: Readers,
) -> io::Result<(File, bool)> {
    let open = |options: &mut OpenOptions| -> io::Result<File> {
        let file = careful(options.append(true), Links::Refused, readers).open(path)?;
        readers.apply(&file)?;
        Ok(file)
    };
    if may_create {
        match open(OpenOptions::new().create_new(true)) {
            Ok(file) => return Ok((file, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok((open(&mut OpenOptions::new())?, false))
}

/// Opens a log for appending, so that the output of an earlier attempt stays. Its writer may
/// truncate it, which some systems refuse for append-only files.
pub(super) fn to_log(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let file = careful(options, Links::Refused, readers).open(path)?;
    readers.apply(&file)?;
    Ok(file)
}

/// Whether a final symbolic link is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

#[cfg(unix)]
fn careful(options: &mut OpenOptions, links: Links, readers: Readers) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;

    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(flags.bits().cast_signed()).mode(readers.file_bits())
}

#[cfg(not(unix))]
fn careful(options: &mut OpenOptions, _links: Links, _readers: Readers) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
pub(super) fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

/// Without permission bits every file may be executable.
#[cfg(not(unix))]
pub(super) fn is_executable(_metadata: &Metadata) -> bool {
    true
}

/// Root's files count as the system's.
#[cfg(unix)]
pub(super) fn is_foreign(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = metadata.uid();
    owner != 0 && owner != rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn is_foreign(_metadata: &Metadata) -> bool {
    false
}
