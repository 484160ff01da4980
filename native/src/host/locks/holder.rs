//! Who holds a lock: what its file says, and whether that process still exists.

use std::fs::File;
use std::io;

use onloop_core::effect::ProcessIdentity;
use onloop_core::text;
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

/// Longest line read; ours have about 150 bytes.
const LINE_BYTES: u64 = 4096;

/// The holder as a lock file names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pid: u32,
    pub(super) host: String,
    started: String,
    at: String,
}

impl Holder {
    /// This process, taking a lock at `at`.
    pub(super) fn of(identity: &ProcessIdentity, at: Timestamp) -> Holder {
        Holder {
            pid: identity.pid,
            host: identity.host.clone(),
            started: identity.started.clone(),
            at: at.to_rfc3339(),
        }
    }

    /// One line of JSON with its line break.
    pub(super) fn to_line(&self) -> String {
        let Holder { pid, host, started, at } = self;
        format!("{}\n", json!({ "pid": pid, "host": host, "started": started, "at": at }))
    }

    /// What `file` says; `None` when it does not name a holder.
    pub(super) fn read(file: &mut File) -> io::Result<Option<Holder>> {
        Ok(Holder::parse(&super::read_start(file, LINE_BYTES)?))
    }

    fn parse(bytes: &[u8]) -> Option<Holder> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let field = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Holder {
            // Zero and numbers beyond `i32` name process groups or nothing at all.
            pid: value["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())?.try_into().ok()?,
            host: field("host")?,
            started: field("started")?,
            at: field("at").unwrap_or_default(),
        })
        .filter(|holder| holder.pid != 0)
    }

    /// Whether the process has provably ended, as far as pids tell on this machine.
    pub(super) fn is_gone(&self) -> bool {
        match process::look_up(self.pid) {
            process::Presence::Gone => true,
            process::Presence::Unknown => false,
            process::Presence::Started(started) => {
                !self.started.is_empty() && !started.is_empty() && started != self.started
            }
        }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.at.is_empty() {
            write!(f, " since {}", text::one_line(text::prefix(&self.at, 40)))?;
        }
        Ok(())
    }
}

/// This process, as its locks name it.
pub(crate) fn identity() -> ProcessIdentity {
    let pid = std::process::id();
    ProcessIdentity { pid, host: host_name(), started: process::started(pid) }
}

#[cfg(unix)]
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

mod process {
    //! Looking at other processes of this machine.

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
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};

        let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Presence::Gone;
        };
        match test_kill_process(id) {
            Err(Errno::SRCH) => Presence::Gone,
            // Not permitted to signal it: it exists.
            Ok(()) | Err(_) => match read_stat(pid) {
                // Dead, and kept only until its parent asks how it ended.
                Some(stat) if stat.zombie => Presence::Gone,
                Some(stat) => Presence::Started(stat.started),
                None => Presence::Started(String::new()),
            },
        }
    }

    #[cfg(not(unix))]
    pub(super) fn look_up(_pid: u32) -> Presence {
        Presence::Unknown
    }

    /// When a process started, in clock ticks since boot; empty where the system has no
    /// `/proc`.
    pub(super) fn started(pid: u32) -> String {
        read_stat(pid).map(|stat| stat.started).unwrap_or_default()
    }

    #[derive(Debug, PartialEq, Eq)]
    struct ProcessStat {
        zombie: bool,
        started: String,
    }

    fn read_stat(pid: u32) -> Option<ProcessStat> {
        parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Fields 3 and 22 of a `stat` line. Field 2, the program's name in parentheses, may
    /// contain anything, so fields are counted from the last closing parenthesis.
    fn parse_stat(stat: &str) -> Option<ProcessStat> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let mut fields = after_name.split_ascii_whitespace();
        let zombie = matches!(fields.next()?, "Z" | "X");
        Some(ProcessStat { zombie, started: fields.nth(22 - 4)?.to_owned() })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_hostile_program_name_does_not_shift_the_fields() {
            let rest = (4..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
            for name in ["sh", "a b", ") S 1 2 3", "x) y (z"] {
                let expected = ProcessStat { zombie: false, started: "22".to_owned() };
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> ProcessIdentity {
        ProcessIdentity { pid: 42, host: "box".to_owned(), started: "77".to_owned() }
    }

    #[test]
    fn a_lock_line_is_read_back() {
        let holder = Holder::of(&identity(), Timestamp::EPOCH);
        assert_eq!(
            holder.to_line(),
            "{\"pid\":42,\"host\":\"box\",\"started\":\"77\",\
             \"at\":\"1970-01-01T00:00:00+00:00\"}\n"
        );
        assert_eq!(Holder::parse(holder.to_line().as_bytes()), Some(holder));
    }

    #[test]
    fn what_does_not_name_a_process_is_no_holder() {
        let table = [
            "",
            "\0\0",
            "42",
            "{}",
            r#"{"pid":0,"host":"box","started":""}"#,
            r#"{"pid":-1,"host":"box","started":""}"#,
            r#"{"pid":4294967297,"host":"box","started":""}"#,
            r#"{"pid":"1","host":"box","started":""}"#,
            r#"{"pid":1,"started":""}"#,
            r#"{"pid":1,"host":"box","started":""} trailing"#,
        ];
        for text in table {
            assert_eq!(Holder::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_recycled_pid_is_another_process() {
        let pid = std::process::id();
        let started = process::started(pid);
        let holder = |started: &str| Holder {
            pid,
            host: "box".to_owned(),
            started: started.to_owned(),
            at: String::new(),
        };
        assert!(!holder(&started).is_gone());
        assert!(!holder("").is_gone(), "an unknown start proves nothing");
        if !started.is_empty() {
            assert!(holder("1").is_gone());
        }
    }
}
