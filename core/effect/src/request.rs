//! The vocabulary between programs and hosts. A new request is a design decision; see
//! `docs/requests.md` for what each host promises.

use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
use super::files::{Durability, Expect, FileSize, Stat, Version};
use super::git::{GitRequest, GitSurvey, KeptWork, NamedCheckpoint, WorktreeEntry};
use crate::{
    Failure, HttpAnswer, HttpSpec, ProcessEnd, ProcessGroup, ProcessIdentity, ProcessRole,
    ProcessSpec, ServeRequest, WebCall,
};
#[cfg(doc)]
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Time when the effect was finished.
    pub at: Timestamp,
    /// Its outcome.
    pub outcome: Result<Outcome, Failure>,
}

/// Another program that works for this one, as a line on a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkLine {
    /// What works, on one line.
    pub label: String,
    /// For how long.
    pub elapsed_ms: u64,
    /// What it does, on one line.
    pub activity: String,
}

/// An effect that a program asks for. Paths are UTF-8, absolute or relative to
/// [`Start::cwd`](crate::Start::cwd), with `/` between their parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// The content of a file → [`Outcome::File`]. Longer than `limit_bytes`: `TooLarge`.
    Read {
        /// The file.
        path: String,
        /// Most bytes accepted.
        limit_bytes: u64,
    },
    /// The end of a file of any size → [`Outcome::Tail`].
    ReadTail {
        /// The file.
        path: String,
        /// Most bytes read.
        limit_bytes: u64,
    },
    /// Replaces a file as a whole and creates missing folders → [`Outcome::Written`].
    /// A reader sees the old or the new content, never a part.
    Write {
        /// The file.
        path: String,
        /// Its new content.
        bytes: Bytes,
        /// The expected state before the write.
        expect: Expect,
        /// Whether the content must survive a power cut once the reply arrives.
        #[serde(rename = "durable")]
        durability: Durability,
        /// Whether only the owner may read the file, and every folder that was missing, regardless
        /// of the process's mask. Otherwise a replaced file keeps its permissions.
        private: bool,
    },
    /// Appends to a file, and creates it when `expect_len_bytes` is 0 → [`Outcome::Done`]. A power
    /// cut may leave a torn end.
    Append {
        /// The file.
        path: String,
        /// The bytes to append.
        bytes: Bytes,
        /// Expected size of the file; another size: `Conflict`.
        expect_len_bytes: u64,
        /// As in [`Request::Write`].
        #[serde(rename = "durable")]
        durability: Durability,
        /// As in [`Request::Write`].
        private: bool,
    },
    /// Overwrites bytes in place without changing the size → [`Outcome::Done`].
    Patch {
        /// The file.
        path: String,
        /// The offset.
        offset_bytes: u64,
        /// The expected bytes; others: `Conflict`.
        old: Bytes,
        /// The new bytes, as many as `old`.
        new: Bytes,
    },
    /// Removes a file, or a folder with everything in it → [`Outcome::Done`]. If it does not exist:
    /// `NotFound`.
    Remove {
        /// The file or folder.
        path: String,
    },
    /// Names in a folder, sorted → [`Outcome::Names`].
    List {
        /// The folder.
        path: String,
    },
    /// Kind, size and time of a path, without following a final symbolic link → [`Outcome::Stat`].
    Stat {
        /// The path.
        path: String,
    },
    /// The path with every symbolic link resolved → [`Outcome::Path`].
    Canonical {
        /// The path; it must exist.
        path: String,
    },
    /// Takes a lock file as its only holder → [`Outcome::Done`]; `Busy` names the holder. The host
    /// takes over the lock of a process that is provably dead. If the process is gone but the proof
    /// is missing, the host waits a second for it, regardless of `wait_ms`. `Unlock` and the end of
    /// the program release the lock.
    Lock {
        /// The lock file.
        path: String,
        /// How long to wait for the current holder.
        wait_ms: u64,
        /// As in [`Request::Write`].
        private: bool,
        /// The role of the process, written into the lock. A lock without a role belongs to a
        /// command line.
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<ProcessRole>,
        /// The run that the holder of this lock drives; some hosts show it.
        #[serde(skip_serializing_if = "Option::is_none")]
        run: Option<String>,
    },
    /// Releases a lock that this program holds → [`Outcome::Done`].
    Unlock {
        /// The lock file.
        path: String,
    },
    /// The holder of a lock file, without taking the lock → [`Outcome::Holder`]. A file that does
    /// not name one: `Busy`.
    Holder {
        /// The lock file.
        path: String,
    },
    /// The ancestors of this process, nearest first → [`Outcome::Processes`]. A host without this
    /// ability: `Unsupported`.
    Ancestors,
    /// Runs a program to its end → [`Outcome::Process`]. The caller may ask to be woken before →
    /// [`Outcome::Running`], or to learn the process group first → [`Outcome::Started`]. While
    /// another program is left running: `Busy`.
    Process(ProcessSpec),
    /// Continues with the program that was left running → [`Outcome::Process`],
    /// [`Outcome::Running`] or [`Outcome::Lines`]. `NotFound` without one.
    Wait {
        /// As [`ProcessSpec::wake_after_ms`], counted from now.
        wake_after_ms: Option<u64>,
        /// As [`ProcessSpec::wake_on_input`].
        wake_on_input: bool,
        /// The current activity of the program, one line for the status line; `None` if unknown.
        activity: Option<String>,
    },
    /// Ends the program that was left running, if there is one, as an interrupt does, and forgets
    /// it → [`Outcome::Done`].
    End,
    /// Ends the rest of a process group of an earlier program, which has no waiting parent, as
    /// after a timeout → [`Outcome::Ended`]. A group on another machine, or a host that cannot
    /// identify processes: `Unsupported`. The program's own group: `Invalid`. A process remains:
    /// `Denied`.
    EndGroup {
        /// The group.
        group: ProcessGroup,
        /// The machine of the group, as [`ProcessIdentity::host`](crate::ProcessIdentity).
        host: String,
        /// `NAME=value` of an environment variable that only this group was started with. The host
        /// also ends processes outside the group that have it, as far as it can read environments.
        mark: Option<String>,
    },
    /// Starts a program that outlives this one and its terminal, such as a browser or the driver of
    /// a run → [`Outcome::Done`] if it ends with 0, or still runs after `wait_ms`. It has a session
    /// of its own, no input and no inherited files, and the host neither follows nor ends it.
    /// Missing program: `NotFound`; other ends: `Other`.
    Launch(LaunchSpec),
    /// Interrupts another onloop on this machine, as Ctrl-C does in its terminal →
    /// [`Outcome::Done`]. A process that has ended, or another one with its number: `NotFound`.
    /// Another machine: `Unsupported`. On Windows the process ends at once.
    Interrupt {
        /// The process.
        process: ProcessIdentity,
        /// Whether it ends at once and kills its programs, as after a second Ctrl-C.
        now: bool,
    },
    /// Queries or changes a git repository.
    Git(GitRequest),
    /// Sends a request to a server → [`Outcome::Http`] with any status. Unreachable, or no answer
    /// in time: `Closed`.
    Http(HttpSpec),
    /// Serves browsers on this machine. A host without this ability: `Unsupported`.
    Serve(ServeRequest),
    /// Asks the person at the terminal → [`Outcome::Answer`]. Input typed before the question is
    /// discarded. Without a terminal, or at its end: `Closed`.
    Ask {
        /// The question, safe for a terminal.
        question: String,
        /// The answers that the question names; empty: any text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<String>,
        /// Closes the question within a second after this file has another size →
        /// [`Outcome::Changed`]. A host that cannot stop reading its terminal ignores it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unless_changed: Option<FileSize>,
    },
    /// The next complete lines of standard input → [`Outcome::Input`]: all available lines up to
    /// `limit_bytes`. At the end of the input the last line may lack its line break. A line longer
    /// than the limit: `TooLarge`, and the next read starts after it.
    ReadInput {
        /// Most bytes accepted.
        limit_bytes: u64,
        /// Longest wait for a complete line, then [`Outcome::NoInput`]; the host keeps a partial
        /// line. `None`: no limit.
        wait_ms: Option<u64>,
        /// The unit of a read.
        #[serde(default, skip_serializing_if = "InputUnit::is_lines")]
        unit: InputUnit,
    },
    /// Waits until something in one of these folders changes → [`Outcome::Changed`]: an entry is
    /// created, removed, renamed or has new content. Folders below them do not count. Changes since
    /// the last such request count, so nothing is missed. A folder that the last request did not
    /// name counts as changed. The host looks for a missing folder with each request. Only the
    /// first [`limits::WATCHED_FOLDERS`] folders count.
    Changes {
        /// The folders.
        folders: Vec<String>,
        /// Longest wait.
        wait_ms: u64,
        /// What works meanwhile. A host with a live terminal shows a line for each until it answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        working: Vec<WorkLine>,
    },
    /// Waits → [`Outcome::Done`].
    Sleep {
        /// How long.
        duration_ms: u64,
    },
    /// Writes text for the person or program that called → [`Outcome::Done`].
    Say(Say),
}

/// A program that outlives the one that starts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchSpec {
    /// The program, found on `PATH` unless it contains `/`, and its arguments.
    pub argv: Vec<String>,
    /// Its folder.
    pub cwd: String,
    /// Inherited environment variables to remove.
    pub env_remove: Vec<String>,
    /// File to which both streams are appended; created, with its folders, for its owner only.
    /// `None`: the host discards them.
    pub log: Option<String>,
    /// Time in which a failure is reported.
    pub wait_ms: u64,
}

/// The unit of a read of standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputUnit {
    /// Whole lines.
    #[default]
    Lines,
    /// All available bytes, at least one and at most the limit; the next read returns the rest.
    Bytes,
}

impl InputUnit {
    fn is_lines(&self) -> bool {
        *self == InputUnit::Lines
    }
}

/// Text to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "to", content = "text", rename_all = "snake_case")]
pub enum Say {
    /// A result, written to standard output unchanged.
    Result(String),
    /// A note for people, on standard error: one or more complete lines, with ANSI styles. The host
    /// removes the styles for a reader that does not want them.
    Note(String),
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Outcome {
    /// Success, without a value.
    Done,
    /// Content and version of a file.
    File {
        /// The content.
        bytes: Bytes,
        /// Its version.
        version: Version,
    },
    /// The end of a file.
    Tail {
        /// The last bytes.
        bytes: Bytes,
        /// Size of the whole file.
        size_bytes: u64,
    },
    /// A file was written.
    Written {
        /// Its version now.
        version: Version,
    },
    /// The entries of a folder.
    Names {
        /// Their names, sorted.
        names: Vec<String>,
    },
    /// Facts about a path.
    Stat(Stat),
    /// A path without symbolic links.
    Path {
        /// Absolute.
        path: String,
    },
    /// How a program ended.
    Process(ProcessEnd),
    /// A program is still running; [`Request::Wait`] continues to follow it.
    Running,
    /// A program is still running and has written this to standard output since the last reply;
    /// [`Request::Wait`] continues with it.
    Lines {
        /// Complete lines, and perhaps the beginning of the next.
        bytes: Bytes,
    },
    /// A program runs; [`Request::Wait`] continues with it.
    Started {
        /// Its process group.
        group: ProcessGroup,
    },
    /// The holder of a lock.
    Holder {
        /// `None`: the lock is free.
        holder: Option<LockHolder>,
    },
    /// Processes of this machine.
    Processes {
        /// In the order of the request.
        processes: Vec<ProcessIdentity>,
    },
    /// The process group has ended.
    Ended {
        /// The number of its processes that had survived until then.
        survivors: u32,
    },
    /// Facts about a repository.
    Survey(GitSurvey),
    /// The worktrees of a repository.
    Worktrees {
        /// The main one first; empty outside a repository.
        worktrees: Vec<WorktreeEntry>,
    },
    /// A commit.
    Commit {
        /// Its id, hexadecimal; `None` before the first commit and outside a repository.
        commit: Option<String>,
    },
    /// The checkpoint of a checkout.
    Checkpoint(KeptWork),
    /// Commits below `refs/onloop/`.
    Checkpoints {
        /// By name.
        checkpoints: Vec<NamedCheckpoint>,
    },
    /// The difference between two commits.
    Diff {
        /// A patch, or the number of changed lines of each file.
        bytes: Bytes,
    },
    /// A file of a commit.
    KeptFile {
        /// The content.
        bytes: Bytes,
    },
    /// A server's answer.
    Http(HttpAnswer),
    /// A server listens.
    Listening {
        /// Its port.
        port: u16,
        /// Thirty-two unpredictable bytes that no trace shows.
        secret: Bytes,
    },
    /// A browser calls.
    Call(WebCall),
    /// No call came in time.
    NoCall,
    /// A person's answer.
    Answer {
        /// One line, without its line break.
        answer: String,
    },
    /// Lines of standard input.
    Input {
        /// Complete lines; empty at the end of the input.
        bytes: Bytes,
    },
    /// No complete line came in time.
    NoInput,
    /// The end of a wait for changes.
    Changed {
        /// Whether something may have changed; otherwise the time has passed.
        changed: bool,
    },
}

/// The holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// The process that the lock names.
    pub process: ProcessIdentity,
    /// Whether it is alive on this machine. `false` also for a process of another machine.
    pub live: bool,
    /// Its role, as the lock says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ProcessRole>,
}

impl Request {
    /// Makes files and folders readable for their owner only, if `is_private` says so of their
    /// path.
    pub(super) fn keep_private(&mut self, is_private: impl Fn(&str) -> bool) {
        match self {
            Request::Write { path, private, .. }
            | Request::Append { path, private, .. }
            | Request::Lock { path, private, .. } => *private |= is_private(path),
            Request::Process(spec) => {
                spec.private |= spec.stream_to.as_deref().is_some_and(is_private);
            }
            Request::Read { .. }
            | Request::ReadTail { .. }
            | Request::Patch { .. }
            | Request::Remove { .. }
            | Request::List { .. }
            | Request::Stat { .. }
            | Request::Canonical { .. }
            | Request::Unlock { .. }
            | Request::Holder { .. }
            | Request::Ancestors
            | Request::Wait { .. }
            | Request::End
            | Request::EndGroup { .. }
            | Request::Launch(_)
            | Request::Interrupt { .. }
            | Request::Git(_)
            | Request::Http(_)
            | Request::Serve(_)
            | Request::Ask { .. }
            | Request::ReadInput { .. }
            | Request::Changes { .. }
            | Request::Sleep { .. }
            | Request::Say(_) => {}
        }
    }

    /// Its bytes, in the order of its members.
    pub fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
        match self {
            Request::Write { bytes, .. } | Request::Append { bytes, .. } => vec![bytes],
            Request::Patch { old, new, .. } => vec![old, new],
            Request::Process(spec) => spec.stdin.iter_mut().collect(),
            Request::Http(spec) => spec.body.iter_mut().collect(),
            Request::Serve(ServeRequest::Answer { answer, .. }) => vec![&mut answer.body],
            Request::Serve(ServeRequest::Push { bytes, .. }) => vec![bytes],
            Request::Git(request) => request.bytes_mut(),
            Request::Serve(ServeRequest::Listen { .. } | ServeRequest::Next { .. }) => Vec::new(),
            Request::Read { .. }
            | Request::ReadTail { .. }
            | Request::Remove { .. }
            | Request::List { .. }
            | Request::Stat { .. }
            | Request::Canonical { .. }
            | Request::Lock { .. }
            | Request::Unlock { .. }
            | Request::Holder { .. }
            | Request::Ancestors
            | Request::Wait { .. }
            | Request::End
            | Request::EndGroup { .. }
            | Request::Launch(_)
            | Request::Interrupt { .. }
            | Request::Ask { .. }
            | Request::ReadInput { .. }
            | Request::Changes { .. }
            | Request::Sleep { .. }
            | Request::Say(_) => Vec::new(),
        }
    }
}

impl Outcome {
    /// Its bytes, in the order of its members.
    pub fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
        match self {
            Outcome::File { bytes, .. }
            | Outcome::Tail { bytes, .. }
            | Outcome::Diff { bytes }
            | Outcome::KeptFile { bytes }
            | Outcome::Input { bytes }
            | Outcome::Lines { bytes } => vec![bytes],
            Outcome::Process(ProcessEnd { stdout, stderr, .. }) => {
                vec![&mut stdout.head, &mut stdout.tail, &mut stderr.head, &mut stderr.tail]
            }
            Outcome::Http(answer) => vec![&mut answer.body],
            Outcome::Listening { secret, .. } => vec![secret],
            Outcome::Call(call) => vec![&mut call.body],
            Outcome::Done
            | Outcome::Written { .. }
            | Outcome::Names { .. }
            | Outcome::Stat(_)
            | Outcome::Path { .. }
            | Outcome::Running
            | Outcome::Started { .. }
            | Outcome::Holder { .. }
            | Outcome::Processes { .. }
            | Outcome::Ended { .. }
            | Outcome::Survey(_)
            | Outcome::Worktrees { .. }
            | Outcome::Commit { .. }
            | Outcome::Checkpoint(_)
            | Outcome::Checkpoints { .. }
            | Outcome::Answer { .. }
            | Outcome::NoCall
            | Outcome::NoInput
            | Outcome::Changed { .. } => Vec::new(),
        }
    }
}
