//! From the paths in requests to the paths of this machine.

use std::path::{Component, Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind};

/// The folder that relative paths are below: the current folder at the start, even when several
/// programs with different ones live in one process.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// A root at `folder`, which is absolute.
    pub fn new(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// Where `path` is.
    ///
    /// # Errors
    ///
    /// `Invalid` for an empty path and one with a NUL in it.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, Failure> {
        if path.is_empty() {
            return Err(Failure::new(FailureKind::Invalid, "an empty path names nothing"));
        }
        if path.contains('\0') {
            let shown = path.replace('\0', "\\0");
            let message = format!("`{shown}` contains a NUL, which no path can");
            return Err(Failure::new(FailureKind::Invalid, message));
        }
        Ok(self.0.join(path))
    }

    /// Whether removing `path` would also remove the folder that the program works in: the file
    /// system's root, the root folder itself, or a folder around it.
    pub(super) fn stands_on(&self, path: &Path) -> bool {
        let path = lexically_normal(path);
        path.parent().is_none() || lexically_normal(&self.0).starts_with(&path)
    }
}

/// `path` without `.` and with each `..` resolved, as far as that is possible without looking
/// at the disk.
fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

/// The folder that contains `path`; `.` stands for the end of a relative path.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// A path as people and other programs write it: without the `\\?\` that Windows puts before a path
/// whose links it has resolved, where it is not needed.
#[cfg(windows)]
pub(super) fn usual(path: PathBuf) -> PathBuf {
    dunce::simplified(&path).to_owned()
}

/// Paths have one form here.
#[cfg(not(windows))]
pub(super) fn usual(path: PathBuf) -> PathBuf {
    path
}

/// A path as text.
///
/// # Errors
///
/// `Invalid` when it is not UTF-8.
pub(super) fn into_text(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("`{}` is not UTF-8", path.to_string_lossy());
        Failure::new(FailureKind::Invalid, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_below_the_root_and_impossible_ones_are_refused() {
        let root = Root::new("/home/project");
        assert_eq!(root.resolve("a/b").unwrap(), Path::new("/home/project/a/b"));
        assert_eq!(root.resolve("/etc/x").unwrap(), Path::new("/etc/x"));
        for path in ["", "a\0b"] {
            assert_eq!(root.resolve(path).unwrap_err().kind, FailureKind::Invalid);
        }
    }

    #[test]
    fn a_program_cannot_remove_the_ground_it_stands_on() {
        let root = Root::new("/home/project");
        for path in ["/", "/home", "/home/project", "/home/project/a/..", "/home/./project/."] {
            assert!(root.stands_on(Path::new(path)), "{path}");
        }
        for path in ["/home/project/a", "/home/other", "/tmp"] {
            assert!(!root.stands_on(Path::new(path)), "{path}");
        }
    }
}
