//! Errors of the operating system as failures with a kind.

use std::io::{Error, ErrorKind};

use onloop_core::effect::{Failure, FailureKind};

/// The failure of an attempt to `act` (`read`, `write to`) on `path`.
pub(super) fn of_path(error: &Error, act: &str, path: &str) -> Failure {
    Failure::new(kind(error), format!("cannot {act} `{path}`: {}", reason(error)))
}

/// What was done to `path` (`written`), although making it durable failed.
pub(super) fn undone_by_power(error: &Error, done: &str, path: &str) -> Failure {
    let message = format!("`{path}` was {done}, but a power cut may undo that: {}", reason(error));
    Failure::new(FailureKind::Unknown, message)
}

/// The failure of an attempt to `act` on `path` that has happened in part.
pub(super) fn in_part(error: &Error, act: &str, path: &str) -> Failure {
    let message = format!("cannot {act} `{path}` as a whole: {}", reason(error));
    Failure::new(FailureKind::Unknown, message)
}

/// The failure of something that is not about one path.
pub(super) fn of(error: &Error, what: &str) -> Failure {
    Failure::new(kind(error), format!("{what}: {}", reason(error)))
}

/// Classifies an error. What programs do not distinguish is `Other`.
pub(super) fn kind(error: &Error) -> FailureKind {
    match error.kind() {
        ErrorKind::NotFound => FailureKind::NotFound,
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => FailureKind::Exists,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FailureKind::Denied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FailureKind::Full,
        ErrorKind::FileTooLarge | ErrorKind::ArgumentListTooLong => FailureKind::TooLarge,
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidData => FailureKind::Invalid,
        ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy | ErrorKind::WouldBlock => {
            FailureKind::Busy
        }
        ErrorKind::BrokenPipe => FailureKind::Closed,
        ErrorKind::Unsupported => FailureKind::Unsupported,
        _ if is_symlink_loop(error) || is_no_file(error) => FailureKind::Invalid,
        _ => FailureKind::Other,
    }
}

/// The error as text for people, with what to do where that is obvious.
pub(super) fn reason(error: &Error) -> String {
    let known = match error.kind() {
        ErrorKind::NotFound => "no such file or folder",
        ErrorKind::AlreadyExists => "something is already there",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::StorageFull => "no space is left on the device; free some and try again",
        ErrorKind::QuotaExceeded => "the disk quota is used up; free some and try again",
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder",
        ErrorKind::IsADirectory => "it is a folder, not a file",
        _ if is_symlink_loop(error) => "it is or contains a symbolic link that is not followed",
        _ if is_no_file(error) => "it is a device, a pipe or a socket, not a file",
        _ => return other_reason(error),
    };
    known.to_owned()
}

/// The system's own text without the error number that Rust adds to it.
fn other_reason(error: &Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown error".to_owned(),
    }
}

/// Opening a socket, or a pipe without a reader, fails before its type can be checked.
#[cfg(unix)]
fn is_no_file(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

#[cfg(not(unix))]
fn is_no_file(_error: &Error) -> bool {
    false
}

#[cfg(unix)]
fn is_symlink_loop(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_symlink_loop(_error: &Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn every_error_that_programs_branch_on_is_told_apart() {
        let table = [
            (Errno::NOENT, FailureKind::NotFound),
            (Errno::EXIST, FailureKind::Exists),
            (Errno::ACCESS, FailureKind::Denied),
            (Errno::PERM, FailureKind::Denied),
            (Errno::ROFS, FailureKind::Denied),
            (Errno::NOSPC, FailureKind::Full),
            (Errno::DQUOT, FailureKind::Full),
            (Errno::FBIG, FailureKind::TooLarge),
            (Errno::TOOBIG, FailureKind::TooLarge),
            (Errno::NOTDIR, FailureKind::Invalid),
            (Errno::ISDIR, FailureKind::Invalid),
            (Errno::NAMETOOLONG, FailureKind::Invalid),
            (Errno::LOOP, FailureKind::Invalid),
            (Errno::NXIO, FailureKind::Invalid),
            (Errno::BUSY, FailureKind::Busy),
            (Errno::TXTBSY, FailureKind::Busy),
            (Errno::PIPE, FailureKind::Closed),
            (Errno::IO, FailureKind::Other),
            (Errno::MFILE, FailureKind::Other),
        ];
        for (errno, expected) in table {
            let error = Error::from(errno);
            assert_eq!(kind(&error), expected, "{error}");
        }
    }

    #[test]
    fn messages_name_the_path_and_keep_error_numbers_out() {
        let full = of_path(&Error::from(Errno::NOSPC), "write", "a/b.md");
        assert_eq!(
            full.message,
            "cannot write `a/b.md`: no space is left on the device; free some and try again"
        );
        let other = of_path(&Error::from(Errno::IO), "read", "x");
        assert_eq!(other.message, "cannot read `x`: input/output error");
    }
}
