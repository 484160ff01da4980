//! Files and folders that are for their owner alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Unpredictable bytes.
///
/// # Panics
///
/// Where the system has none: without them nothing here is safe.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has unpredictable bytes");
    bytes
}

/// Creates a folder and those above it.
///
/// # Errors
///
/// Those of the file system.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a file as a whole and durably, with the folders above it.
///
/// # Errors
///
/// Those of the file system.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{:016x}", u64::from_ne_bytes(random())));
    let written = create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written?;
    // A folder cannot be opened everywhere; where it can, its entry is durable afterwards.
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}

/// Creates a file that must not be there.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(all(test, unix))]
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
}
