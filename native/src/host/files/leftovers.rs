//! Temporary files of processes that were killed before they could publish or remove them.
//!
//! The name of such a file contains its machine, pid namespace, pid, process start and a number.
//! The next writer in the folder removes files whose process has ended. Files from another machine
//! or pid namespace stay, because their process may be alive.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::host::process_table::{self, Presence};

/// The process that creates temporary files here.
static US: LazyLock<Maker> = LazyLock::new(Maker::us);

/// Time of the last search in each folder.
static LOOKED: Mutex<BTreeMap<PathBuf, Instant>> = Mutex::new(BTreeMap::new());

/// Shortest time between two searches of a folder.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Most entries of a search, because a large folder must not slow down every writer.
const ENTRIES_LOOKED_AT: usize = 1000;

const PREFIX: &str = ".onloop-";
const SUFFIX: &str = ".tmp";

/// The process that made a file.
#[derive(Debug, PartialEq, Eq)]
struct Maker {
    /// Its machine and pid namespace.
    place: String,
    pid: u32,
    /// As [`ProcessIdentity::started`](onloop_core::effect::ProcessIdentity).
    started: String,
}

impl Maker {
    fn us() -> Maker {
        let pid = std::process::id();
        Maker { place: place(), pid, started: process_table::started(pid) }
    }

    fn name(&self, number: u64) -> String {
        let Maker { place, pid, started } = self;
        format!("{PREFIX}{place}-{pid}-{started}-{number}{SUFFIX}")
    }

    /// Parses a name; `None`: another file.
    fn of(name: &str) -> Option<Maker> {
        let name = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let mut parts = name.rsplitn(4, '-');
        let (_number, started) = (parts.next()?, parts.next()?.to_owned());
        let pid = parts.next()?.parse().ok()?;
        Some(Maker { place: parts.next()?.to_owned(), pid, started })
    }

    /// Whether it has ended, as far as a process at `place` can see.
    fn is_gone(&self, place: &str) -> bool {
        self.place == place
            && match process_table::look_up(self.pid) {
                Presence::Gone => true,
                Presence::Unknown => false,
                Presence::Started(started) => {
                    !self.started.is_empty() && !started.is_empty() && started != self.started
                }
            }
    }
}

/// Returns the name of a temporary file.
pub(super) fn name(number: u64) -> String {
    US.name(number)
}

/// Removes temporary files of dead processes from `folder`. A file that cannot be removed does no
/// harm.
pub(super) fn remove(folder: &Path) {
    if is_due(folder) {
        remove_from(folder, &US.place);
    }
}

fn is_due(folder: &Path) -> bool {
    let mut looked = LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
    looked.retain(|_, at| at.elapsed() < LOOK_EVERY);
    looked.insert(folder.to_owned(), Instant::now()).is_none()
}

fn remove_from(folder: &Path, place: &str) {
    let entries = fs::read_dir(folder).into_iter().flatten().take(ENTRIES_LOOKED_AT).flatten();
    for entry in entries {
        let maker = entry.file_name().to_str().and_then(Maker::of);
        if maker.is_some_and(|maker| maker.is_gone(place)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Machine and pid namespace, as part of a name: `box.4026531836`.
fn place() -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let host: String = process_table::host_name().chars().take(64).map(plain).collect();
    match pid_namespace() {
        Some(namespace) => format!("{host}.{namespace}"),
        None => host,
    }
}

#[cfg(target_os = "linux")]
fn pid_namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

#[cfg(not(target_os = "linux"))]
fn pid_namespace() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_who_made_the_file() {
        let maker = Maker { place: "a_b.c.7".to_owned(), pid: 42, started: "77".to_owned() };
        assert_eq!(maker.name(3), ".onloop-a_b.c.7-42-77-3.tmp");
        assert_eq!(Maker::of(&maker.name(3)), Some(maker));
        let unknown = Maker { place: "box".to_owned(), pid: 42, started: String::new() };
        assert_eq!(Maker::of(&unknown.name(0)), Some(unknown));
        for name in [".onloop-42-0.tmp", ".onloop-.tmp", "a.tmp", ".onloop-box-x-7-0.tmp"] {
            assert_eq!(Maker::of(name), None, "{name}");
        }
        assert!(!place().contains(['/', '-']));
    }

    #[test]
    fn only_what_the_dead_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let (place, ours) = (place(), Maker::us());
        let maker = |place: &str, pid, started: &str| {
            Maker { place: place.to_owned(), pid, started: started.to_owned() }.name(0)
        };
        let stay = [
            ours.name(7),
            maker(&place, ours.pid, ""),
            maker("elsewhere", child.id(), "1"),
            ".onloop-1-0.tmp".to_owned(),
            "mine.tmp".to_owned(),
        ];
        let go = [
            maker(&place, child.id(), "1"),
            maker(&place, child.id(), ""),
            maker(&place, ours.pid, "1"),
        ];
        for name in stay.iter().chain(&go) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_from(folder.path(), &place);
        for name in &stay {
            assert!(folder.path().join(name).exists(), "{name}");
        }
        for name in &go {
            assert!(!folder.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn a_folder_is_looked_through_once_in_a_while() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_due(folder.path()));
        assert!(!is_due(folder.path()));
    }
}
