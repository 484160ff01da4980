//! The processes of this machine: their identity, state and parents.

#[cfg(target_os = "linux")]
mod waited;

use onloop_core::effect::{Failure, FailureKind, ProcessIdentity};

#[cfg(target_os = "linux")]
pub(super) use waited::waited_for_by;

/// Other systems have no boot id.
#[cfg(not(target_os = "linux"))]
#[cfg_attr(not(unix), expect(dead_code, reason = "nothing is known about other processes"))]
pub(super) fn waited_for_by(_pid: u32) -> Option<String> {
    None
}

/// Returns the identity of this process for its locks.
pub(crate) fn identity() -> ProcessIdentity {
    let pid = std::process::id();
    ProcessIdentity { pid, host: host_name(), started: started(pid) }
}

#[cfg(unix)]
pub(super) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
pub(super) fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Returns the boot id, so that a process id from before a reboot does not count; empty: unknown.
pub(super) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim_end().to_owned()
}

/// When a process started, in clock ticks since boot; empty where the system has no `/proc`.
pub(super) fn started(pid: u32) -> String {
    entry(pid).map(|entry| entry.started).unwrap_or_default()
}

/// What is known about a pid.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "nothing is known about other processes"))]
pub(super) enum Presence {
    /// No process has this pid.
    Gone,
    /// A process has it and started then; empty where that cannot be learned.
    Started(String),
    /// Nothing is known.
    #[cfg_attr(unix, allow(dead_code, reason = "unix always knows whether a pid is taken"))]
    Unknown,
}

#[cfg(unix)]
pub(super) fn look_up(pid: u32) -> Presence {
    if !is_taken(pid) {
        return Presence::Gone;
    }
    match entry(pid) {
        // A zombie.
        Some(entry) if entry.zombie => Presence::Gone,
        Some(entry) => Presence::Started(entry.started),
        None => Presence::Started(String::new()),
    }
}

#[cfg(not(unix))]
pub(super) fn look_up(_pid: u32) -> Presence {
    Presence::Unknown
}

/// Whether any process has this pid, dead ones that were not waited for included.
#[cfg(unix)]
fn is_taken(pid: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    // Not permitted to signal it: it exists.
    test_kill_process(id) != Err(Errno::SRCH)
}

/// A process in the table of the system.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has this table"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Dead, and not waited for.
    pub(super) zombie: bool,
    /// Its parent; 0: none that is visible.
    pub(super) parent: u32,
    /// Its process group.
    pub(super) group: u32,
    /// In clock ticks since boot.
    pub(super) started: String,
}

/// Returns the entry of a process; `None` if it does not exist or the system has no `/proc`.
pub(super) fn entry(pid: u32) -> Option<Entry> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Fields 3, 4, 5 and 22 of a `stat` line. Field 2, the program's name in parentheses, may
/// contain anything, so fields are counted from the last closing parenthesis.
fn parse_stat(stat: &str) -> Option<Entry> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Entry { zombie, parent, group, started: fields.nth(22 - 6)?.to_owned() })
}

/// Returns every visible process with its pid.
#[cfg(target_os = "linux")]
pub(super) fn all() -> Vec<(u32, Entry)> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, entry(pid)?))).collect()
}

/// Retries when an ancestor has ended meanwhile, because its children have other parents then.
#[cfg(target_os = "linux")]
const LOOKS: u32 = 5;

/// Returns the ancestors of this process, nearest first.
///
/// # Errors
///
/// `Unsupported` on a system without `/proc`.
#[cfg(target_os = "linux")]
pub(super) fn ancestors() -> Result<Vec<ProcessIdentity>, Failure> {
    let host = host_name();
    for _ in 0..LOOKS {
        if let Some(found) = look_up_ancestors(&host) {
            return Ok(found);
        }
    }
    Err(Failure::new(FailureKind::Unsupported, "this system does not tell the parent of a process"))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ancestors() -> Result<Vec<ProcessIdentity>, Failure> {
    Err(Failure::new(FailureKind::Unsupported, "this system does not tell the parent of a process"))
}

/// `None`: an ancestor has ended, or nothing is visible.
#[cfg(target_os = "linux")]
fn look_up_ancestors(host: &str) -> Option<Vec<ProcessIdentity>> {
    let mut found: Vec<ProcessIdentity> = Vec::new();
    let mut pid = entry(std::process::id())?.parent;
    while pid != 0 {
        match entry(pid) {
            Some(Entry { parent, started, .. }) => {
                found.push(ProcessIdentity { pid, host: host.to_owned(), started });
                pid = parent;
            }
            // Processes of other users can be hidden, and so are their parents.
            None if is_taken(pid) => break,
            None => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_shift_the_fields() {
        let rest = (4..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        for name in ["sh", "a b", ") S 1 2 3", "x) y (z"] {
            let started = "22".to_owned();
            let expected = Entry { zombie: false, parent: 4, group: 5, started };
            assert_eq!(parse_stat(&format!("7 ({name}) S {rest}")), Some(expected), "{name}");
        }
        assert!(parse_stat(&format!("7 (sh) Z {rest}")).unwrap().zombie);
        assert_eq!(parse_stat(""), None);
        assert_eq!(parse_stat("7 (sh) S 1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn our_own_start_is_known_and_stable() {
        let ours = started(std::process::id());
        assert!(ours.parse::<u64>().is_ok(), "{ours}");
        assert_eq!(look_up(std::process::id()), Presence::Started(ours));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_way_up_begins_with_our_parent() {
        let parent = std::os::unix::process::parent_id();
        let above = ancestors().unwrap();
        assert_eq!(above[0].pid, parent);
        assert_eq!(above[0].started, started(parent));
        let own = all().into_iter().find(|(pid, _)| *pid == std::process::id());
        assert_eq!(own.map(|(_, entry)| entry.parent), Some(parent));
    }
}
