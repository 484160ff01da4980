//! Temporary folders for tests, in temporary that take no part in them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// What onloop or git looks for in every folder above a project.
const FOUND_FROM_BELOW: [&str; 3] = [".git", ".agentize.yaml", ".agentize.local.yaml"];

/// A new temporary folder. It is in the system's folder for such, or, where that lies in a
/// repository or below somebody's rules, in another one: the product is right to look up,
/// and no variable stops it.
///
/// # Panics
///
/// When there is no folder for it.
pub(crate) fn temporary_folder() -> TempDir {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    tempfile::tempdir_in(PLACE.get_or_init(place)).expect("there is room for a temporary folder")
}

fn place() -> PathBuf {
    let places = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let found = places.iter().find(|place| is_quiet(place) && tempfile::tempdir_in(place).is_ok());
    found.cloned().unwrap_or_else(|| {
        panic!(
            "set TMPDIR to a folder that can be written and has no repository and none of \
             {FOUND_FROM_BELOW:?} above it; {places:?} are none"
        )
    })
}

/// Whether nothing in this folder or above it changes what happens below.
fn is_quiet(place: &Path) -> bool {
    let Ok(place) = place.canonicalize() else { return false };
    // A bare repository has no `.git`.
    let is_around = |folder: &Path| folder.join("HEAD").is_file() && folder.join("refs").is_dir();
    !place.ancestors().any(is_around)
        && place
            .ancestors()
            .all(|folder| FOUND_FROM_BELOW.iter().all(|name| !folder.join(name).exists()))
}

#[test]
fn a_place_below_a_repository_or_rules_is_not_taken() {
    let folder = temporary_folder();
    for name in FOUND_FROM_BELOW {
        let place = folder.path().join(format!("beside{name}/below"));
        std::fs::create_dir_all(&place).unwrap();
        assert!(is_quiet(&place), "{name}");
        std::fs::write(place.with_file_name(name), "").unwrap();
        assert!(!is_quiet(&place), "{name}");
    }
    let bare = folder.path().join("bare");
    std::fs::create_dir_all(bare.join("refs")).unwrap();
    std::fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    assert!(!is_quiet(&bare.join("refs")));
    assert!(!is_quiet(&folder.path().join("missing")));
}
