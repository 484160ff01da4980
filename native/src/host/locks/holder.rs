//! The holder of a lock, from its file, and whether that process exists.

use std::fs::File;
use std::io;

use onloop_core::effect::{ProcessIdentity, ProcessRole};
use onloop_core::text;
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

use crate::host::process_table::{self, Presence};

/// Longest line read; ours have about 150 bytes.
const LINE_BYTES: u64 = 4096;

/// The content of a lock file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pid: u32,
    pub(super) host: String,
    started: String,
    at: String,
    pub(super) role: Option<ProcessRole>,
}

impl Holder {
    /// This process, in its `role`, taking a lock at `at`.
    pub(super) fn of(
        identity: &ProcessIdentity,
        role: Option<ProcessRole>,
        at: Timestamp,
    ) -> Holder {
        Holder {
            pid: identity.pid,
            host: identity.host.clone(),
            started: identity.started.clone(),
            at: at.to_rfc3339(),
            role,
        }
    }

    /// Its process.
    pub(super) fn identity(&self) -> ProcessIdentity {
        let Holder { pid, host, started, at: _, role: _ } = self;
        ProcessIdentity { pid: *pid, host: host.clone(), started: started.clone() }
    }

    /// One line of JSON with its line break.
    pub(super) fn to_line(&self) -> String {
        let Holder { pid, host, started, at, role } = self;
        let mut line = json!({ "pid": pid, "host": host, "started": started, "at": at });
        if role.is_some() {
            line["role"] = json!(role);
        }
        format!("{line}\n")
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
            role: role(&value["role"]),
        })
        .filter(|holder| holder.pid != 0)
    }

    /// Whether the process has ended, as far as pids show on this machine.
    pub(super) fn is_gone(&self) -> bool {
        match process_table::look_up(self.pid) {
            Presence::Gone => true,
            Presence::Unknown => false,
            Presence::Started(started) => {
                !self.started.is_empty() && !started.is_empty() && started != self.started
            }
        }
    }
}

/// What a lock file says of its process. What a newer onloop says and this one does not know is left
/// alone like a server.
fn role(said: &Value) -> Option<ProcessRole> {
    match said {
        Value::Null => None,
        said => Some(serde_json::from_value(said.clone()).unwrap_or(ProcessRole::Server)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> ProcessIdentity {
        ProcessIdentity { pid: 42, host: "box".to_owned(), started: "77".to_owned() }
    }

    #[test]
    fn a_lock_line_is_read_back() {
        let table = [
            (None, ""),
            (Some(ProcessRole::Embedded), ",\"role\":\"embedded\""),
            (Some(ProcessRole::Server), ",\"role\":\"server\""),
        ];
        for (role, rest) in table {
            let holder = Holder::of(&identity(), role, Timestamp::EPOCH);
            let before =
                r#"{"pid":42,"host":"box","started":"77","at":"1970-01-01T00:00:00+00:00""#;
            assert_eq!(holder.to_line(), format!("{before}{rest}}}\n"));
            assert_eq!(Holder::parse(holder.to_line().as_bytes()), Some(holder));
        }
    }

    #[test]
    fn a_role_that_is_not_known_is_no_command_line() {
        let line = r#"{"pid":42,"host":"box","started":"77","role":"orchestra"}"#;
        let holder = Holder::parse(line.as_bytes()).unwrap();
        assert_eq!(holder.role, Some(ProcessRole::Server));
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
        let started = process_table::started(pid);
        let holder = |started: &str| Holder {
            pid,
            host: "box".to_owned(),
            started: started.to_owned(),
            at: String::new(),
            role: None,
        };
        assert!(!holder(&started).is_gone());
        assert!(!holder("").is_gone(), "an unknown start proves nothing");
        if !started.is_empty() {
            assert!(holder("1").is_gone());
        }
    }
}
