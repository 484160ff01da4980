//! Processes: the program, its bounds, and its end.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

#[cfg(doc)]
use super::Request;
use super::bytes::Bytes;
use super::confine::{Confinement, Mechanism};
use super::shell::Shell;
use onloop_syntax::limits;

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessSpec {
    /// The program.
    pub command: Command,
    /// Its folder.
    pub cwd: String,
    /// Inherited environment variables to remove.
    pub env_remove: Vec<String>,
    /// Environment variables to set, after the removals.
    pub env_set: BTreeMap<String, String>,
    /// Standard input; `None` is an empty, closed stream.
    pub stdin: Option<Bytes>,
    /// Longest running time. After it the host terminates the whole process group, and finally
    /// kills it.
    pub timeout_ms: Option<u64>,
    /// Bytes kept from the start, and again from the end, of each stream.
    pub capture_bytes: usize,
    /// File that receives both streams as they come; created, with its folders. The host redacts
    /// the values of secret environment variables, see [`Redaction`](super::Redaction). It stores
    /// only the first [`limits::LOG_HEAD_BYTES`] and the last [`limits::LOG_TAIL_BYTES`] of one
    /// program.
    pub stream_to: Option<String>,
    /// Whether only the owner may read that file, as in [`Request::Write`].
    pub private: bool,
    /// Name for a live status line; `None`: no status line.
    pub label: Option<String>,
    /// Connect the program to the terminal instead of capturing (interactive agents).
    pub interactive: bool,
    /// Longest time without a reply. A program that still runs then stays running. Until the next
    /// [`Request::Wait`] the host neither reads its output nor enforces its timeout, so only short
    /// requests belong in between. It ends with the caller. `None`: the reply comes when the
    /// program has ended.
    pub wake_after_ms: Option<u64>,
    /// Also wakes the caller when standard input has data or has ended. A host without this ability
    /// ignores it.
    pub wake_on_input: bool,
    /// Also wakes the caller with [`Outcome::Lines`](super::Outcome::Lines) when the program writes
    /// lines to standard output: soon after the first line, with all output up to then. The last
    /// output may only be in the capture. A host without this ability ignores it.
    pub wake_on_lines: bool,
    /// Answers with [`Outcome::Started`](super::Outcome::Started) as soon as the program runs, and
    /// leaves it running, so that the caller can record its group.
    pub announce: bool,
    /// Files whose opening [`ProcessEnd::opened`] reports, at most [`limits::OBSERVED_FILES`]. Of a
    /// folder, and of the nearest folder above a missing path, the listing and what lies directly in
    /// it count. A host without this ability ignores it.
    pub observe: Vec<String>,
    /// How many of the first of `observe` are to look changed when the program starts: a host that
    /// observes gives those that are plain files the present time. A build cache that goes by times
    /// would hide their openings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew: Option<u64>,
    /// The files and the network that the program may use; `None`: those of the host. A host that
    /// cannot enforce all of it starts nothing: `Unsupported`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confine: Option<Box<Confinement>>,
}

impl ProcessSpec {
    /// Runs `command` in the caller's folder, with its environment, for at most
    /// [`limits::VERIFY_TIMEOUT_MS`]. Its input is empty. The host keeps up to
    /// [`limits::CAPTURE_BYTES`] of both ends of its output.
    pub fn new(command: Command) -> ProcessSpec {
        ProcessSpec {
            command,
            cwd: ".".to_owned(),
            env_remove: Vec::new(),
            env_set: BTreeMap::new(),
            stdin: None,
            timeout_ms: Some(limits::VERIFY_TIMEOUT_MS),
            capture_bytes: limits::CAPTURE_BYTES,
            stream_to: None,
            private: false,
            label: None,
            interactive: false,
            wake_after_ms: None,
            wake_on_input: false,
            wake_on_lines: false,
            announce: false,
            observe: Vec::new(),
            renew: None,
            confine: None,
        }
    }

    /// A program and its arguments, with the bounds of [`ProcessSpec::new`].
    pub fn argv<T: Into<String>>(words: impl IntoIterator<Item = T>) -> ProcessSpec {
        ProcessSpec::new(Command::Argv(words.into_iter().map(Into::into).collect()))
    }

    /// A line for a shell, with the bounds of [`ProcessSpec::new`].
    pub fn shell(shell: Shell, line: impl Into<String>) -> ProcessSpec {
        ProcessSpec::new(Command::Shell { shell, line: line.into() })
    }

    /// Runs in `folder`, which may be relative to the caller's.
    pub fn in_folder(self, folder: impl Into<String>) -> ProcessSpec {
        ProcessSpec { cwd: folder.into(), ..self }
    }

    /// Removes these variables from the inherited environment.
    pub fn without_env(self, names: Vec<String>) -> ProcessSpec {
        ProcessSpec { env_remove: names, ..self }
    }

    /// Sets these variables in addition to earlier ones; the last value for a name wins.
    pub fn with_env<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> ProcessSpec {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.env_set.extend(variables);
        self
    }

    /// Gives the program `input` on standard input, then closes it.
    pub fn with_stdin(self, input: impl Into<Vec<u8>>) -> ProcessSpec {
        ProcessSpec { stdin: Some(input.into().into()), ..self }
    }

    /// Terminates the program's whole process group after `timeout_ms`.
    pub fn timeout_ms(self, timeout_ms: u64) -> ProcessSpec {
        ProcessSpec { timeout_ms: Some(timeout_ms), ..self }
    }

    /// Keeps `capture_bytes` from the start, and again from the end, of each stream.
    pub fn capture_bytes(self, capture_bytes: usize) -> ProcessSpec {
        ProcessSpec { capture_bytes, ..self }
    }

    /// Writes both streams to this file as they come.
    pub fn stream_to(self, path: impl Into<String>) -> ProcessSpec {
        ProcessSpec { stream_to: Some(path.into()), ..self }
    }

    /// Reports which of these files are opened meanwhile, and renews the first `renew` of them.
    pub fn observe(self, files: Vec<String>, renew: u64) -> ProcessSpec {
        ProcessSpec { observe: files, renew: (renew > 0).then_some(renew), ..self }
    }

    /// Shows a live status line with this name.
    pub fn label(self, label: impl Into<String>) -> ProcessSpec {
        ProcessSpec { label: Some(label.into()), ..self }
    }
}

/// A program or a line for a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Command {
    /// A program, found on `PATH` unless it contains `/`, and its arguments.
    Argv(#[serde(serialize_with = "argv_member")] Vec<String>),
    /// A line for a shell.
    Shell {
        /// The shell.
        shell: Shell,
        /// The line, exactly as written.
        line: String,
    },
}

/// `{"argv": […]}`, so that a reader cannot take it for a line.
fn argv_member<S: Serializer>(words: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(Some(1))?;
    members.serialize_entry("argv", words)?;
    members.end()
}

/// A process group, named so that a later process can tell whether it still exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessGroup {
    /// Its number: the process id of the program that leads it. An interactive program leads no
    /// group; its own process id stands here.
    pub pid: u32,
    /// The start time of that program, as [`ProcessIdentity::started`](super::ProcessIdentity).
    pub started: String,
    /// Identifies the boot of the machine: with another value, no process of the group can exist.
    /// Empty if unknown.
    pub boot: String,
}

/// The end of a program and its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessEnd {
    /// How it ended.
    pub status: ProcessStatus,
    /// Its standard output.
    pub stdout: Capture,
    /// Its standard error.
    pub stderr: Capture,
    /// Its running time.
    pub duration_ms: u64,
    /// The mechanism that enforced [`ProcessSpec::confine`]; `None`: not confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Mechanism>,
    /// The paths of [`ProcessSpec::observe`] that any process of the machine opened while the
    /// program ran; `None`: not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Vec<String>>,
    /// The names that the proxy of [`Network::Names`](super::Network) refused, at most
    /// [`limits::PROXY_REFUSED_NAMES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedName>,
}

/// A name that a confined program asked for and did not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedName {
    /// The host, or `localhost:PORT`.
    pub name: String,
    /// Why.
    pub reason: RefusedReason,
    /// How often.
    pub count: u32,
}

/// Why the proxy of a confined program refuses a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedReason {
    /// The list does not have it.
    NotListed,
    /// Its address belongs to this machine or to its link.
    LocalAddress,
    /// The port belongs to onloop or to a container engine.
    ReservedPort,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that onloop did not send.
    Signalled(i32),
    /// By onloop, after its timeout.
    TimedOut,
    /// By onloop, because the person interrupted.
    Interrupted,
}

/// One stream's output: all of it, or its beginning and its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The first bytes.
    pub head: Bytes,
    /// The last bytes, without those already in `head`.
    pub tail: Bytes,
    /// The number of bytes written.
    pub total_bytes: u64,
}

impl Capture {
    /// Bytes between head and tail that are not kept.
    pub fn omitted_bytes(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// The output as printable text. A line says how much was left out.
    pub fn text(&self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        let omitted = self.omitted_bytes();
        if omitted == 0 {
            return onloop_syntax::text::printable(&format!("{head}{tail}"));
        }
        onloop_syntax::text::printable(&format!("{head}\n[… {omitted} bytes not kept …]\n{tail}"))
    }
}
