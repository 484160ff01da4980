//! The search for a repository, with git's rules.

use std::env;
use std::path::{Path, PathBuf};

use super::resolved;

/// Bounds of the search, from the environment.
#[derive(Debug, Default)]
struct Bounds {
    /// `GIT_CEILING_DIRECTORIES`, symbolic links resolved.
    ceilings: Vec<PathBuf>,
    /// Whether the search crosses file systems.
    crosses: bool,
}

impl Bounds {
    /// Reads the environment of this process.
    fn of_environment() -> Bounds {
        let ceilings = env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
        let crosses = env::var("GIT_DISCOVERY_ACROSS_FILESYSTEM").unwrap_or_default();
        let mut keeps_links = false;
        let mut bounds = Bounds { ceilings: Vec::new(), crosses: is_true(&crosses) };
        for folder in env::split_paths(&ceilings) {
            if folder.as_os_str().is_empty() {
                // Git does not resolve links in entries after an empty one.
                keeps_links = true;
            } else if folder.is_absolute() {
                bounds.ceilings.push(if keeps_links { folder } else { resolved(&folder) });
            }
        }
        bounds
    }

    /// Returns the searched folders from `cwd`, nearest first.
    fn folders(&self, cwd: &Path) -> Vec<PathBuf> {
        let cwd = resolved(cwd);
        let disk = disk(&cwd);
        let is_inside = |folder: &&Path| {
            *folder == cwd
                || (!self.ceilings.iter().any(|ceiling| ceiling == folder)
                    && (self.crosses || self::disk(folder) == disk))
        };
        cwd.ancestors().take_while(is_inside).map(Path::to_owned).collect()
    }
}

/// The nearest `.git` around `cwd`.
pub(super) fn git_entry(cwd: &Path) -> Option<PathBuf> {
    let folders = Bounds::of_environment().folders(cwd);
    folders.iter().map(|folder| folder.join(".git")).find(|path| path.exists())
}

/// Whether git reads this value as true.
fn is_true(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(value.as_str(), "true" | "yes" | "on") || value.parse::<i64>().is_ok_and(|n| n != 0)
}

#[cfg(unix)]
fn disk(folder: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    folder.metadata().ok().map(|found| found.dev())
}

#[cfg(not(unix))]
fn disk(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_stops_below_a_ceiling() {
        let folder = super::super::tests::temporary::temporary_folder();
        let top = folder.path().canonicalize().unwrap();
        let here = top.join("a/b/c");
        std::fs::create_dir_all(&here).unwrap();
        let found = |ceilings: &[PathBuf]| {
            let found = Bounds { ceilings: ceilings.to_vec(), crosses: false }.folders(&here);
            let below = found.into_iter().filter_map(|path| {
                path.strip_prefix(&top).ok().map(|path| path.to_str().unwrap().to_owned())
            });
            below.collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), ["a/b/c", "a/b", "a", ""]);
        assert_eq!(found(&[top.join("a")]), ["a/b/c", "a/b"]);
        assert_eq!(found(&[top.clone(), top.join("a/b")]), ["a/b/c"]);
        assert_eq!(found(std::slice::from_ref(&here)), ["a/b/c", "a/b", "a", ""]);
    }

    #[test]
    fn a_variable_is_on_as_git_reads_it() {
        for (value, expected) in
            [("1", true), ("true", true), ("On", true), ("2", true), ("0", false), ("", false)]
        {
            assert_eq!(is_true(value), expected, "{value}");
        }
    }
}
