//! Opening without being led astray or made to wait: no final symbolic link is followed for
//! writing, and a pipe without a partner does not block.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Opens what may turn out to be no regular file; the caller looks before it reads.
pub(in crate::host) fn to_read(path: &Path) -> io::Result<File> {
    careful(OpenOptions::new().read(true), Links::Followed).open(path)
}

/// Opens for changing bytes in place.
pub(super) fn to_patch(path: &Path) -> io::Result<File> {
    careful(OpenOptions::new().read(true).write(true), Links::Refused).open(path)
}

/// Opens for appending, and says whether the file was created.
pub(super) fn to_append(path: &Path, may_create: bool) -> io::Result<(File, bool)> {
    if may_create {
        match careful(OpenOptions::new().append(true).create_new(true), Links::Refused).open(path) {
            Ok(file) => return Ok((file, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let file = careful(OpenOptions::new().append(true), Links::Refused).open(path)?;
    Ok((file, false))
}

/// Opens a log that is added to, so that what an earlier attempt said is not lost. Its writer may
/// shorten it again, which some systems refuse where only appending was asked for.
pub(super) fn to_log(path: &Path) -> io::Result<File> {
    careful(OpenOptions::new().write(true).create(true).truncate(false), Links::Refused).open(path)
}

/// Whether a final symbolic link is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

#[cfg(unix)]
fn careful(options: &mut OpenOptions, links: Links) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;

    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(flags.bits().cast_signed()).mode(0o644)
}

#[cfg(not(unix))]
fn careful(options: &mut OpenOptions, _links: Links) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
pub(super) fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

/// Without permission bits every file may be tried.
#[cfg(not(unix))]
pub(super) fn is_executable(_metadata: &Metadata) -> bool {
    true
}
