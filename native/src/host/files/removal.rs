//! Removal of folders, whatever rights their owner has left.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder with everything in it. Programs make folders read-only, as caches of modules are;
/// their owner gets the right to change them back first.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(folder);
            fs::remove_dir_all(folder)
        }
        removed => removed,
    }
}

/// Gives the owner all rights to `folder` and to the folders in it. Links are not followed.
#[cfg(unix)]
fn make_writable(folder: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(found) = folder.symlink_metadata() else { continue };
        if !found.is_dir() {
            continue;
        }
        // The removal names a folder that stays as it is.
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(found.mode() | 0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()));
    }
}

/// Removes the read-only attribute, which keeps files on Windows.
#[cfg(not(unix))]
fn make_writable(folder: &Path) {
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let Ok(found) = path.symlink_metadata() else { continue };
        let mut permissions = found.permissions();
        if permissions.readonly() {
            permissions.set_readonly(false);
            // The removal names a file that stays as it is.
            let _ = fs::set_permissions(&path, permissions);
        }
        if found.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_folders_below_become_writable_and_then_everything_goes() {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("cache"), place.path().join("other"));
        for made in [&folder.join("a/b"), &other] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(folder.join("a/b/file"), "x").unwrap();
        symlink(&other, folder.join("a/link")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for path in
            ["a/b/file", "a/b", "a", ""].map(|name| folder.join(name)).iter().chain([&other])
        {
            fs::set_permissions(path, fs::Permissions::from_mode(0o555)).unwrap();
        }
        make_writable(&folder);
        assert_eq!(mode(&folder.join("a/b")), 0o755);
        assert_eq!(mode(&folder.join("a/b/file")), 0o555);
        assert_eq!(mode(&other), 0o555, "a link is not followed");
        remove_tree(&folder).unwrap();
        assert!(!folder.exists() && other.exists());
    }
}
