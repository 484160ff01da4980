//! The paths that are hidden from the agents of a worker: the fleet's key, the engine, and the records
//! of other runs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use onloop_core::confine::HIDDEN_VARIABLE;

/// Returns the value of the variable that names hidden paths: its present value and `paths`.
pub(crate) fn with<'p>(paths: impl IntoIterator<Item = &'p Path>) -> OsString {
    let mut value = std::env::var_os(HIDDEN_VARIABLE).unwrap_or_default();
    for path in paths {
        if !value.is_empty() {
            value.push(":");
        }
        value.push(path);
    }
    value
}

/// Returns the first hidden path that contains `folder` or lies in it: an agent could not be confined
/// there.
pub(crate) fn in_the_way(folder: &Path, hidden: &OsStr) -> Option<PathBuf> {
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let paths = std::env::split_paths(hidden).filter(|path| path.is_absolute()).map(real);
    let folder = real(folder.to_owned());
    paths.into_iter().find(|path| folder.starts_with(path) || path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_not_where_agents_see_nothing() {
        let hidden = OsStr::new("/none/state:/none/fleet.key");
        let found = |folder: &str| in_the_way(Path::new(folder), hidden);
        assert_eq!(found("/none/state/fleet"), Some(PathBuf::from("/none/state")));
        assert_eq!(found("/none"), Some(PathBuf::from("/none/state")));
        assert_eq!(found("/none/clones"), None);
        assert_eq!(found("/none/state-of-things"), None);
    }
}
