//! Files and folders that only their owner can read.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use crate::backoff::{Backoff, retry};

/// Longest wait for a lock.
const LOCK_LIMIT: Duration = Duration::from_millis(500);

/// Returns unpredictable bytes.
///
/// # Panics
///
/// The system has none, and no key would be safe without them.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has unpredictable bytes");
    bytes
}

/// Creates a folder and its ancestors.
///
/// # Errors
///
/// Those of the file system.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a whole file durably, and creates its folders.
///
/// # Errors
///
/// Those of the file system.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()
}

/// Takes the lock file at `path`, which the system releases when this process ends; `None`: another process
/// has it.
///
/// # Errors
///
/// Those of the file system.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    // A child of a process that has ended can keep the lock until it executes another program.
    let backoff = Backoff::new(Duration::from_millis(25), Duration::from_millis(25));
    let is_held = |error: &TryLockError| matches!(error, TryLockError::WouldBlock);
    match retry(LOCK_LIMIT, backoff, is_held, || file.try_lock()) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_written_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one/two/key");
        for content in ["first", "second"] {
            write(&path, content.as_bytes()).expect("written");
            assert_eq!(std::fs::read_to_string(&path).expect("readable"), content);
        }
        let mode =
            |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().expect("a folder")), 0o700);
        let names = std::fs::read_dir(path.parent().expect("a folder")).expect("readable");
        assert_eq!(names.count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_lock_has_one_holder() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("server.lock");
        let held = lock(&path).expect("a lock").expect("it is free");
        assert!(lock(&path).expect("a lock").is_none());
        drop(held);
        assert!(lock(&path).expect("a lock").is_some());
    }
}
