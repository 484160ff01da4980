//! What a program knows before its first request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::scalar::{hex, millis};
use onloop_syntax::time::Timestamp;

/// What a program is started with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Command line; the first word is the name the program was called by.
    pub argv: Vec<String>,
    /// The words that start this program again from anywhere: its absolute path, or that of
    /// an interpreter and of a script. Empty: it cannot be started again, as where a host
    /// embeds the core.
    #[serde(default)]
    pub program: Vec<String>,
    /// Environment variables; names and values that are not UTF-8 are left out.
    pub env: BTreeMap<String, String>,
    /// Absolute current folder. Relative paths in requests are below it.
    pub cwd: String,
    /// Time at start.
    #[serde(rename = "now_ms", with = "millis")]
    pub now: Timestamp,
    /// What the standard streams are connected to.
    pub terminal: Terminal,
    /// Who asks; written into locks.
    pub process: ProcessIdentity,
    /// What that process is besides this program; written into locks as well. `None`: a command line,
    /// which does what this program does and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ProcessRole>,
    /// How long what works for a run may take before the record says that it does, in milliseconds; what
    /// is over sooner is recorded with what it has done. For hosts whose records are far away. 0: the
    /// record says so at once, and whoever finds this program killed knows what else to end.
    #[serde(default, skip_serializing_if = "is_at_once")]
    pub quick_ms: u64,
    /// Unpredictable bytes; the only source of randomness that a program has.
    #[serde(with = "hex")]
    pub random: [u8; 16],
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_at_once(quick_ms: &u64) -> bool {
    *quick_ms == 0
}

/// What the standard streams are connected to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    /// Whether somebody can answer questions.
    pub stdin: bool,
    /// Whether a person reads the results.
    pub stdout: bool,
    /// Whether a person reads the notes.
    pub stderr: bool,
    /// Width; 80 where unknown.
    pub columns: u16,
}

/// A process, so that another one can tell whether it still exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessIdentity {
    /// Process id on `host`.
    pub pid: u32,
    /// Name of the machine.
    pub host: String,
    /// When the process started, in the operating system's own unit and text; with the pid
    /// it names one process even after pids wrap around. Empty where unknown.
    pub started: String,
}

/// What a process is that does other things besides one program, so that nobody interrupts it because of
/// that program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessRole {
    /// Another program, such as an editor, that has the core inside.
    Embedded,
    /// A server, which does other things for others at the same time.
    Server,
}

impl ProcessRole {
    /// What it is called, for people who have to go there to stop a program.
    pub fn place(self) -> &'static str {
        match self {
            ProcessRole::Embedded => "an editor or another program",
            ProcessRole::Server => "an MCP server",
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
            role: None,
            quick_ms: 0,
            random: [0; 16],
        }
    }
}
