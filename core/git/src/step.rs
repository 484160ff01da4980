//! What a host does for a [`Task`](crate::Task): it starts git commands and touches files.
//!
//! A path is absolute, and bytes that are not UTF-8 are written as
//! [`name_text`](onloop_syntax::text::name_text) does.

use onloop_effect::Bytes;
use serde::{Deserialize, Serialize};

/// One step. Its reply is the one behind the arrow, or a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Runs these commands at once → [`StepReply::Ended`]. A missing program: `Unsupported`.
    Run {
        /// The commands.
        commands: Vec<GitCommand>,
    },
    /// Looks at paths → [`StepReply::Found`].
    Look {
        /// The paths.
        paths: Vec<String>,
        /// Whether a final link is followed.
        follow: bool,
        /// Whether [`Found::opens`] matters.
        open: bool,
    },
    /// Reads a plain file → [`StepReply::Content`].
    Read {
        /// The file.
        path: String,
        /// Most bytes that are read; `None`: all.
        first_bytes: Option<u64>,
        /// Whether a program that is not trusted may write there: a final link is refused.
        untrusted: bool,
    },
    /// Writes a file in place → [`StepReply::Done`].
    Write {
        /// The file.
        path: String,
        /// Its content.
        bytes: Bytes,
    },
    /// Replaces a file durably under a lock as git does → [`StepReply::Done`]. The lock is there:
    /// `Exists`.
    Replace {
        /// The file, which keeps its permissions.
        path: String,
        /// The lock, which becomes the file.
        lock: String,
        /// The new content.
        bytes: Bytes,
    },
    /// Copies a file with its time of modification, and makes missing folders → [`StepReply::Done`].
    Copy {
        /// The file.
        from: String,
        /// The copy.
        to: String,
    },
    /// Renames a file or folder → [`StepReply::Done`].
    Rename {
        /// Its name now.
        from: String,
        /// Its new name.
        to: String,
    },
    /// Removes a file → [`StepReply::Done`].
    RemoveFile {
        /// The file.
        path: String,
    },
    /// Removes an empty folder → [`StepReply::Done`].
    RemoveFolder {
        /// The folder.
        path: String,
    },
    /// Removes a folder with everything in it, also where it is read-only → [`StepReply::Done`]. A
    /// missing one is done.
    RemoveTree {
        /// The folder.
        path: String,
    },
    /// Makes a folder in an existing one → [`StepReply::Done`].
    MakeFolder {
        /// The folder.
        path: String,
    },
    /// Lets only the owner read a file; a missing one is done → [`StepReply::Done`].
    MakePrivate {
        /// The file.
        path: String,
    },
    /// Resolves every link of a path → [`StepReply::Path`].
    Canonical {
        /// The path.
        path: String,
    },
    /// Looks for a link at these paths or below them → [`StepReply::Path`].
    FindLink {
        /// Files and folders; some may be missing.
        paths: Vec<String>,
    },
    /// Looks for a git that works in a folder → [`StepReply::Works`].
    GitWorksIn {
        /// The folder.
        folder: String,
    },
    /// Waits → [`StepReply::Done`].
    Pause {
        /// How long.
        duration_ms: u64,
    },
}

/// A git command. It leads a session of its own, so that it cannot read from a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GitCommand {
    /// Its folder.
    pub cwd: String,
    /// All arguments.
    pub args: Vec<String>,
    /// Its standard input.
    pub stdin: Bytes,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Inherited variables to remove.
    pub env_remove: Vec<String>,
    /// Longest time; then its whole process group is ended.
    pub timeout_ms: u64,
    /// Most bytes of standard output.
    pub limit_bytes: u64,
    /// Whether an interrupt ends it. It does not end a rollback.
    pub interruptible: bool,
}

/// The reply to a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum StepReply {
    /// Success, without a value.
    Done,
    /// How commands ended.
    Ended {
        /// In the order of the commands.
        ends: Vec<CommandEnd>,
    },
    /// What is at paths.
    Found {
        /// In the order of the paths; `None`: nothing.
        found: Vec<Option<Found>>,
    },
    /// The content of a file.
    Content {
        /// As many bytes as were asked for.
        bytes: Bytes,
    },
    /// A path.
    Path {
        /// `None`: there is none.
        path: Option<String>,
    },
    /// Whether a git works.
    Works {
        /// `None`: the system does not tell.
        works: Option<bool>,
    },
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum CommandEnd {
    /// By itself.
    Exited {
        /// Its exit code; -1: a signal ended it.
        exit: i32,
        /// Its standard output.
        stdout: Bytes,
        /// Its standard error.
        stderr: Bytes,
    },
    /// Its output was too large.
    TooLarge,
    /// It took too long.
    TimedOut {
        /// The program that it waited for, if that is known.
        waits_for: Option<String>,
    },
    /// It was interrupted.
    Interrupted {
        /// The program that it waited for, if that is known.
        waits_for: Option<String>,
    },
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its kind.
    pub kind: FoundKind,
    /// Its size.
    pub size_bytes: u64,
    /// The number of its file system; 0: unknown.
    pub device: u64,
    /// Whether a plain file can be opened for reading, if that was asked.
    pub opens: bool,
}

/// The kind of what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl Step {
    /// Its bytes, in the order of its members.
    pub(crate) fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
        match self {
            Step::Run { commands } => {
                commands.iter_mut().map(|command| &mut command.stdin).collect()
            }
            Step::Write { bytes, .. } | Step::Replace { bytes, .. } => vec![bytes],
            _ => Vec::new(),
        }
    }
}

impl StepReply {
    /// Its bytes.
    pub(crate) fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
        match self {
            StepReply::Content { bytes } => vec![bytes],
            StepReply::Ended { ends } => ends.iter_mut().flat_map(CommandEnd::bytes_mut).collect(),
            _ => Vec::new(),
        }
    }
}

impl CommandEnd {
    fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
        match self {
            CommandEnd::Exited { stdout, stderr, .. } => vec![stdout, stderr],
            _ => Vec::new(),
        }
    }
}
