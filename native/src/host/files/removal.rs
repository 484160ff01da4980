//! Removing folders whose permissions forbid it.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder with everything in it. Tools make read-only folders, as Go does with
/// its module cache; their owner gets the right back first.
pub(in crate::host) fn remove_tree(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(folder)?;
            fs::remove_dir_all(folder)
        }
        removed => removed,
    }
}

#[cfg(unix)]
fn make_writable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = fs::symlink_metadata(folder)?.permissions();
    let mode = permissions.mode();
    if mode & 0o700 != 0o700 {
        permissions.set_mode(mode | 0o700);
        fs::set_permissions(folder, permissions)?;
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_writable(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn folders_become_writable_for_their_owner_and_files_stay() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("go/x");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("f"), "").unwrap();
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&inner.join("f"), 0o444);
        set(&inner, 0o555);
        set(inner.parent().unwrap(), 0o055);
        make_writable(&top.path().join("go")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(inner.parent().unwrap()), 0o755);
        assert_eq!((mode(&inner), mode(&inner.join("f"))), (0o755, 0o444));
        remove_tree(&top.path().join("go")).unwrap();
        assert!(!top.path().join("go").exists());
    }
}
