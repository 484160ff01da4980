//! The vocabulary between programs and hosts. A new request is a design decision; see
//! `docs/architecture.md` for what each host promises.

use serde::{Deserialize, Serialize, Serializer};

use super::bytes::Bytes;
use super::git::{GitRequest, GitSurvey, KeptWork, NamedCheckpoint, WorktreeEntry};
use super::scalar::millis;
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
    /// The end of a file, whatever its size → [`Outcome::Tail`].
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
        /// What must be there before.
        expect: Expect,
        /// Whether it must survive a power cut once the reply arrives.
        #[serde(rename = "durable")]
        durability: Durability,
        /// Whether the file, and every folder that was missing, is for its owner alone, whatever
        /// the process's mask says. Otherwise a file that is replaced keeps its permissions.
        private: bool,
    },
    /// Adds to the end of a file and creates it when `expect_len_bytes` is 0
    /// → [`Outcome::Done`]. A torn end after a power cut is possible and must be expected.
    Append {
        /// The file.
        path: String,
        /// What is added.
        bytes: Bytes,
        /// Size of the file before; another size: `Conflict`.
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
        /// Where.
        offset_bytes: u64,
        /// What is there now; anything else: `Conflict`.
        old: Bytes,
        /// What comes in its place, as long as `old`.
        new: Bytes,
    },
    /// Removes a file, or a folder with everything in it → [`Outcome::Done`]. Nothing there:
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
    /// What is at a path, not following a final symbolic link → [`Outcome::Stat`].
    Stat {
        /// The path.
        path: String,
    },
    /// The path with every symbolic link resolved → [`Outcome::Path`].
    Canonical {
        /// The path; it must exist.
        path: String,
    },
    /// Becomes the only holder of a lock file → [`Outcome::Done`]; `Busy` names the holder.
    /// A lock whose process is provably dead is taken over; where its process is gone and the
    /// proof is missing, the host waits a second for that, whatever `wait_ms` says. Released by
    /// `Unlock` and by the end of the program.
    Lock {
        /// The lock file.
        path: String,
        /// How long to wait for the present holder.
        wait_ms: u64,
        /// As in [`Request::Write`].
        private: bool,
        /// What the process is; written into the lock. A lock that does not say is a command line's.
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<ProcessRole>,
        /// The run that the holder of this lock drives; for hosts that show what they drive.
        #[serde(skip_serializing_if = "Option::is_none")]
        run: Option<String>,
    },
    /// Releases a lock that this program holds → [`Outcome::Done`].
    Unlock {
        /// The lock file.
        path: String,
    },
    /// Who has a lock file now, without becoming its holder → [`Outcome::Holder`]. A file that
    /// does not say: `Busy`.
    Holder {
        /// The lock file.
        path: String,
    },
    /// The processes above this one, nearest first → [`Outcome::Processes`]. A host that
    /// cannot tell: `Unsupported`.
    Ancestors,
    /// Runs a program to its end → [`Outcome::Process`], or to the moment when the caller
    /// wants to be woken → [`Outcome::Running`] or to hear who runs → [`Outcome::Started`].
    /// While one is left running: `Busy`.
    Process(ProcessSpec),
    /// Continues to follow the program that was left running → [`Outcome::Process`] or
    /// [`Outcome::Running`] or [`Outcome::Lines`]. `NotFound` when there is none.
    Wait {
        /// As [`ProcessSpec::wake_after_ms`], counted from now.
        wake_after_ms: Option<u64>,
        /// As [`ProcessSpec::wake_on_input`].
        wake_on_input: bool,
        /// What the program does at the moment, one line for the status line; `None`: nobody
        /// knows.
        activity: Option<String>,
    },
    /// Ends the program that was left running, if there is one, as an interrupt does, and
    /// forgets it → [`Outcome::Done`].
    End,
    /// Ends what is left of a process group that an earlier program started and that nobody
    /// waits for, as when the time of a program is over → [`Outcome::Ended`]. Another machine,
    /// or a host that cannot tell one process from another: `Unsupported`; our own group:
    /// `Invalid`; somebody is left: `Denied`.
    EndGroup {
        /// The group.
        group: ProcessGroup,
        /// The machine that it was started on, as
        /// [`ProcessIdentity::host`](crate::ProcessIdentity).
        host: String,
        /// `NAME=value` of an environment variable with which the group was started, and nothing
        /// else: who has it is ended as well, however far it has moved from the group, as far as
        /// the host can see environments.
        mark: Option<String>,
    },
    /// Starts a program that outlives this one, such as what opens a page in a browser
    /// → [`Outcome::Done`] when it has ended with 0, or runs after `wait_ms` still. It has no streams,
    /// and nobody follows or ends it. Not there: `NotFound`; it ended otherwise: `Other`.
    Launch {
        /// The program, found on `PATH` unless it contains `/`, and its arguments.
        argv: Vec<String>,
        /// How long it has time to fail.
        wait_ms: u64,
    },
    /// Asks or changes a git repository.
    Git(GitRequest),
    /// Sends a request to a server → [`Outcome::Http`], whatever the status of the answer.
    /// Unreachable, or no answer in time: `Closed`.
    Http(HttpSpec),
    /// Serves browsers on this machine. A host that cannot: `Unsupported`.
    Serve(ServeRequest),
    /// Asks the person at the terminal → [`Outcome::Answer`]. What was typed before the
    /// question is no answer to it and is thrown away. No terminal, or its end: `Closed`.
    Ask {
        /// The question, already fit for a terminal.
        question: String,
        /// The answers that the question names; empty: any text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<String>,
    },
    /// The next complete lines of standard input → [`Outcome::Input`]: as many as there are,
    /// up to `limit_bytes`; at the end of the input the last one may lack its line break. A
    /// line longer than the limit: `TooLarge`, and the next read starts after it.
    ReadInput {
        /// Most bytes accepted.
        limit_bytes: u64,
        /// Longest wait for a complete line; then: [`Outcome::NoInput`], and what has arrived
        /// of the line is kept. `None`: no limit.
        wait_ms: Option<u64>,
        /// What a read returns.
        #[serde(default, skip_serializing_if = "InputUnit::is_lines")]
        unit: InputUnit,
    },
    /// Waits until something in one of these folders changes → [`Outcome::Changed`]: an entry comes,
    /// goes, gets another name or other content; what is in folders below them does not count. What
    /// has changed since the last such request counts, so nothing is missed in between; a folder
    /// that the last one did not name counts as changed. One that is not there is looked for with
    /// each request. Of more than [`limits::WATCHED_FOLDERS`] the first count.
    Changes {
        /// The folders.
        folders: Vec<String>,
        /// Longest wait.
        wait_ms: u64,
    },
    /// Waits → [`Outcome::Done`].
    Sleep {
        /// How long.
        duration_ms: u64,
    },
    /// Says something to the person or program that called → [`Outcome::Done`].
    Say(Say),
}

/// What a read of standard input returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputUnit {
    /// Whole lines.
    #[default]
    Lines,
    /// Whatever has arrived, one byte at least, and never more than the limit: the rest comes with
    /// the next read.
    Bytes,
}

impl InputUnit {
    fn is_lines(&self) -> bool {
        *self == InputUnit::Lines
    }
}

/// What must be at a path before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Anything.
    Any,
    /// Nothing; otherwise the failure is `Exists`.
    Absent,
    /// The version that an earlier reply named; otherwise the failure is `Conflict`.
    Version(Version),
}

/// Names one content of one file at one time. Opaque; made and compared by the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version(pub String);

/// Whether a write must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// File and folder are synced before the reply.
    Durable,
    /// The file may be the old one again after a power cut: right for everything that can be
    /// rendered again, or that a power cut makes untrue.
    Relaxed,
}

impl Serialize for Durability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self == Durability::Durable).serialize(serializer)
    }
}

/// Something to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "to", content = "text", rename_all = "snake_case")]
pub enum Say {
    /// A result, for standard output, written as it is.
    Result(String),
    /// A note for people, for standard error; one or more complete lines, styled with ANSI
    /// where that helps. The host removes the styles where they are not wanted.
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
    /// What is in a folder.
    Names {
        /// Its entries, sorted.
        names: Vec<String>,
    },
    /// What is at a path.
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
    /// A program is still running, and has written this to standard output since it was asked
    /// about last; [`Request::Wait`] goes on with it.
    Lines {
        /// Whole lines, and perhaps the beginning of the next.
        bytes: Bytes,
    },
    /// A program runs; [`Request::Wait`] goes on with it.
    Started {
        /// What it runs in.
        group: ProcessGroup,
    },
    /// Who has a lock.
    Holder {
        /// `None`: nobody.
        holder: Option<LockHolder>,
    },
    /// Processes of this machine.
    Processes {
        /// As the request orders them.
        processes: Vec<ProcessIdentity>,
    },
    /// Nothing of a process group is left.
    Ended {
        /// How many of its processes had survived until then.
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
    /// The files of a checkout were kept.
    Checkpoint(KeptWork),
    /// Commits below `refs/onloop/`.
    Checkpoints {
        /// By name.
        checkpoints: Vec<NamedCheckpoint>,
    },
    /// What changed between two commits.
    Diff {
        /// A patch, or how many lines of which file.
        bytes: Bytes,
    },
    /// A file that a commit holds.
    KeptFile {
        /// The content.
        bytes: Bytes,
    },
    /// What a server answered.
    Http(HttpAnswer),
    /// A server listens.
    Listening {
        /// Its port.
        port: u16,
        /// Thirty-two unpredictable bytes that no recording shows.
        secret: Bytes,
    },
    /// A browser calls.
    Call(WebCall),
    /// Nobody has called in time.
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
    /// No complete line has arrived in time.
    NoInput,
    /// What came of waiting for changes.
    Changed {
        /// Something may have changed; otherwise the time has passed.
        changed: bool,
    },
}

/// Who has a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// The process that the lock names.
    pub process: ProcessIdentity,
    /// It is on this machine and still there. Of another machine nothing is known.
    pub live: bool,
    /// What the process is, as it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ProcessRole>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// File, folder or something else.
    pub kind: FileKind,
    /// Size in bytes; 0 for folders.
    pub size_bytes: u64,
    /// Last change of the content.
    #[serde(rename = "modified_ms", with = "millis")]
    pub modified: Timestamp,
    /// Whether it may be executed.
    pub executable: bool,
    /// Whether it belongs to somebody other than this user and the system's own. No host knows that
    /// on Windows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// What kind of thing is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A socket, a device, a pipe.
    Other,
}

impl Request {
    /// Keeps what it creates from everybody but the owner, where `is_private` says so of its
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
            | Request::Launch { .. }
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
    pub(super) fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
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
            | Request::Launch { .. }
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
    pub(super) fn bytes_mut(&mut self) -> Vec<&mut Bytes> {
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
