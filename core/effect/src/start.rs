//! The start of a program: everything that it knows before its first request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::scalar::{hex, millis};
use super::shell::OperatingSystem;
use onloop_syntax::time::Timestamp;

/// The start of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Command line; the first word is the name of the program.
    pub argv: Vec<String>,
    /// The words that start this program again from any folder: its absolute path, or those of an
    /// interpreter and a script. Empty if that is impossible, as in a host that embeds core.
    #[serde(default)]
    pub program: Vec<String>,
    /// Environment variables; names and values that are not UTF-8 are left out.
    pub env: BTreeMap<String, String>,
    /// Absolute current folder, the base of relative paths in requests.
    pub cwd: String,
    /// Time at start.
    #[serde(rename = "now_ms", with = "millis")]
    pub now: Timestamp,
    /// The kinds of the standard streams.
    pub terminal: Terminal,
    /// The process that runs the program; written into locks.
    pub process: ProcessIdentity,
    /// The operating system of the host; `None`: another one, or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<OperatingSystem>,
    /// What the process does besides this program; written into locks. `None`: a command line,
    /// which runs this program and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ProcessRole>,
    /// Time that a process of a run may take before the record announces it, in milliseconds. A
    /// process that ends sooner is recorded with its result. For hosts whose records are remote. 0:
    /// the record announces each process at once, so a later program can stop what a killed one
    /// left.
    #[serde(default, skip_serializing_if = "is_at_once")]
    pub quick_ms: u64,
    /// Unpredictable bytes, the program's only source of randomness.
    #[serde(with = "hex")]
    pub random: [u8; 16],
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_at_once(quick_ms: &u64) -> bool {
    *quick_ms == 0
}

/// The kinds of the standard streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    /// Whether a person can answer questions.
    pub stdin: bool,
    /// Whether a person reads the results.
    pub stdout: bool,
    /// Whether a person reads the notes.
    pub stderr: bool,
    /// Width; 80 if unknown.
    pub columns: u16,
}

/// A process, named so that another one can tell whether it still exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessIdentity {
    /// Process id on `host`.
    pub pid: u32,
    /// Name of the machine.
    pub host: String,
    /// The start time of the process, in the operating system's own unit and text. With the pid it
    /// names one process even after pids wrap around. Empty if unknown.
    pub started: String,
}

/// The role of a process that is not an ordinary command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessRole {
    /// A program that embeds core, such as an editor.
    Embedded,
    /// A server, which serves several clients at once.
    Server,
    /// A command line in the background, which drives a run and nothing else.
    Background,
}

impl ProcessRole {
    /// The name, for people, of a process that does other things, too, and so must not be
    /// interrupted to stop one program. `None`: it may be interrupted.
    pub fn place(self) -> Option<&'static str> {
        match self {
            ProcessRole::Embedded => Some("an editor or another program"),
            ProcessRole::Server => Some("an MCP server"),
            ProcessRole::Background => None,
        }
    }
}

impl Start {
    /// A start without environment, terminal or randomness, for examples and tests.
    pub fn example<const N: usize>(argv: [&str; N]) -> Start {
        Start {
            argv: argv.map(str::to_owned).to_vec(),
            program: Vec::new(),
            env: BTreeMap::new(),
            cwd: "/demo".to_owned(),
            now: Timestamp::EPOCH,
            terminal: Terminal { columns: 80, ..Terminal::default() },
            process: ProcessIdentity { pid: 1, host: "example".to_owned(), started: String::new() },
            system: None,
            role: None,
            quick_ms: 0,
            random: [0; 16],
        }
    }
}
