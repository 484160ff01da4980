//! The effects of the operating system, grouped by capability.
//!
//! [`Host`] is what the drive loop needs: one request in, one reply out. [`OsHost`] performs
//! requests by handing each to one of its capabilities, so a caller can replace files, locks
//! or git and keep the rest real.

mod changes;
mod clock;
mod confine;
#[cfg(target_os = "linux")]
pub(crate) mod egress;
mod failure;
mod files;
pub mod git;
mod http;
mod interrupts;
mod locks;
mod paths;
mod process_table;
mod processes;
#[cfg(unix)]
mod readiness;
mod serve;
mod terminal;
mod wake_pipe;

pub(crate) use changes::LOOK_AGAIN;
pub use changes::OsChanges;
pub use clock::OsClock;
pub use files::OsFiles;
#[cfg(unix)]
pub(crate) use files::tighten;
pub use http::OsHttp;
pub use interrupts::Interrupts;
pub use locks::{HeldLocks, OsLocks};
pub use paths::Root;
pub use processes::{Orphans, OsProcesses, RunningGroup};
pub use serve::OsServe;
pub use terminal::{LostOutput, Meanwhile, OsTerminal};

pub use clock::timestamp;
pub(crate) use process_table::identity;
#[cfg(unix)]
pub(crate) use terminal::cut;

use std::time::Duration;

use onloop_core::effect::{
    Durability, Expect, Failure, GitRequest, LockHolder, Outcome, ProcessEnd, ProcessGroup,
    ProcessRole, ProcessSpec, Reply, Request, Say, ServeRequest, Start, Stat, Version,
};
use onloop_core::time::Timestamp;

/// Performs requests.
pub trait Host {
    /// Performs one request to its end. A failed effect is a reply too.
    fn perform(&mut self, request: Request) -> Reply;
}

/// Files and folders. Paths are what a request says; see [`Root`].
pub trait Files {
    /// [`Request::Read`].
    fn read(&mut self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, Version), Failure>;
    /// [`Request::ReadTail`]: the last bytes, and the size of the whole file.
    fn read_tail(&mut self, path: &str, limit_bytes: u64) -> Result<(Vec<u8>, u64), Failure>;
    /// [`Request::Write`].
    fn write(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect: &Expect,
        durability: Durability,
        private: bool,
    ) -> Result<Version, Failure>;
    /// [`Request::Append`].
    fn append(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect_len_bytes: u64,
        durability: Durability,
        private: bool,
    ) -> Result<(), Failure>;
    /// [`Request::Patch`].
    fn patch(
        &mut self,
        path: &str,
        offset_bytes: u64,
        old: &[u8],
        new: &[u8],
    ) -> Result<(), Failure>;
    /// [`Request::Remove`].
    fn remove(&mut self, path: &str) -> Result<(), Failure>;
    /// [`Request::List`].
    fn list(&mut self, path: &str) -> Result<Vec<String>, Failure>;
    /// [`Request::Stat`].
    fn stat(&mut self, path: &str) -> Result<Stat, Failure>;
    /// [`Request::Canonical`].
    fn canonical(&mut self, path: &str) -> Result<String, Failure>;
    /// Returns a warning about the disk that was not shown before, as a clause.
    fn durability_warning(&mut self) -> Option<String> {
        None
    }
}

/// Lock files.
pub trait Locks {
    /// [`Request::Lock`]; `now` is written into the lock for people to read.
    fn lock(
        &mut self,
        path: &str,
        wait_ms: u64,
        private: bool,
        role: Option<ProcessRole>,
        now: Timestamp,
    ) -> Result<(), Failure>;
    /// [`Request::Unlock`].
    fn unlock(&mut self, path: &str) -> Result<(), Failure>;
    /// [`Request::Holder`].
    fn holder(&mut self, path: &str) -> Result<Option<LockHolder>, Failure>;
}

/// When to report back about a program that has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// [`ProcessSpec::wake_after_ms`].
    pub after_ms: Option<u64>,
    /// [`ProcessSpec::wake_on_input`].
    pub on_input: bool,
}

/// The state of a program when its caller is woken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessTurn {
    /// It is still running.
    Running,
    /// It is still running and has written this.
    Lines(Vec<u8>),
    /// It runs in this group.
    Started(ProcessGroup),
    /// To its end.
    Ended(ProcessEnd),
}

/// A program that was left running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftRunning {
    /// The name of its status line; `None`: it has none.
    pub label: Option<String>,
    /// How long it has run.
    pub elapsed: Duration,
}

/// Git repositories.
pub trait Git {
    /// [`Request::Git`].
    fn git(&mut self, request: &GitRequest) -> Result<Outcome, Failure>;
}

/// Shows the progress of a running process.
pub trait Progress {
    /// How often [`Progress::tick`] wants to be called, in milliseconds; `None`: never.
    fn tick_every_ms(&self) -> Option<u64>;
    /// Called regularly while nothing else happens.
    fn tick(&mut self);
    /// The process wrote something.
    fn output(&mut self, bytes: &[u8]);
    /// Warns the person of something that does not change the outcome.
    fn warn(&mut self, message: &str);
}

/// The native host.
pub struct OsHost {
    /// Files and folders.
    pub files: Box<dyn Files>,
    /// Folders in which something may change.
    pub changes: OsChanges,
    /// Other programs. They are dropped before the locks, so a process has ended before its lock is
    /// free.
    pub processes: OsProcesses,
    /// Lock files.
    pub locks: Box<dyn Locks>,
    /// Git repositories.
    pub git: Box<dyn Git>,
    /// Servers.
    pub http: OsHttp,
    /// A server for browsers.
    pub serve: OsServe,
    /// Time.
    pub clock: OsClock,
    /// The person or program that called.
    pub terminal: OsTerminal,
}

impl OsHost {
    /// Returns a host for a program started with `start`; it ends only processes that it started.
    ///
    /// For embedders: it installs no signal handler and changes nothing about the process.
    /// [`Interrupts::raise`] stands for Ctrl-C.
    pub fn new(start: &Start, interrupts: &Interrupts) -> OsHost {
        let root = Root::new(&start.cwd);
        let locks = OsLocks::new(root.clone(), &start.process, interrupts);
        let processes = OsProcesses::new(start, interrupts, Orphans::Leave).beside(locks.held());
        OsHost {
            files: Box::new(OsFiles::new(root.clone())),
            changes: OsChanges::new(root.clone(), interrupts),
            git: Box::new(git::OsGit::new().among(interrupts, &processes.running())),
            processes,
            locks: Box::new(locks),
            http: OsHttp::new(interrupts),
            serve: OsServe::new(root, interrupts),
            clock: OsClock::new(None, interrupts),
            terminal: OsTerminal::new(start, interrupts),
        }
    }

    fn outcome(&mut self, request: Request) -> Result<Outcome, Failure> {
        let done = |()| Outcome::Done;
        match request {
            Request::Read { path, limit_bytes } => self
                .files
                .read(&path, limit_bytes)
                .map(|(bytes, version)| Outcome::File { bytes: bytes.into(), version }),
            Request::ReadTail { path, limit_bytes } => self
                .files
                .read_tail(&path, limit_bytes)
                .map(|(bytes, size_bytes)| Outcome::Tail { bytes: bytes.into(), size_bytes }),
            Request::Write { path, bytes, expect, durability, private } => self
                .files
                .write(&path, &bytes, &expect, durability, private)
                .map(|version| Outcome::Written { version }),
            Request::Append { path, bytes, expect_len_bytes, durability, private } => {
                self.files.append(&path, &bytes, expect_len_bytes, durability, private).map(done)
            }
            Request::Patch { path, offset_bytes, old, new } => {
                self.files.patch(&path, offset_bytes, &old, &new).map(done)
            }
            Request::Remove { path } => self.files.remove(&path).map(done),
            Request::List { path } => self.files.list(&path).map(|names| Outcome::Names { names }),
            Request::Stat { path } => self.files.stat(&path).map(Outcome::Stat),
            Request::Canonical { path } => {
                self.files.canonical(&path).map(|path| Outcome::Path { path })
            }
            Request::Lock { path, wait_ms, private, role, run: _ } => {
                let now = self.clock.now();
                self.locks.lock(&path, wait_ms, private, role, now).map(done)
            }
            Request::Unlock { path } => self.locks.unlock(&path).map(done),
            Request::Holder { path } => {
                self.locks.holder(&path).map(|holder| Outcome::Holder { holder })
            }
            Request::Ancestors => {
                self.processes.ancestors().map(|processes| Outcome::Processes { processes })
            }
            Request::Process(spec) => self.process(&spec),
            Request::Wait { wake_after_ms, wake_on_input, activity } => {
                let wake = Wake { after_ms: wake_after_ms, on_input: wake_on_input };
                self.wait(wake, activity.as_deref())
            }
            Request::End => {
                self.processes.end();
                Ok(Outcome::Done)
            }
            Request::EndGroup { group, host, mark } => {
                let survivors = self.processes.end_group(&group, &host, mark.as_deref())?;
                Ok(Outcome::Ended { survivors })
            }
            Request::Launch(spec) => self.processes.launch(&spec).map(done),
            Request::Interrupt { process, now } => {
                self.processes.interrupt(&process, now).map(done)
            }
            Request::Git(request) => self.git(&request),
            Request::Http(spec) => self.http.http(spec).map(Outcome::Http),
            Request::Serve(request) => self.serve(request),
            Request::Ask { question, choices: _, unless_changed } => {
                let answer = self.terminal.ask(&question, unless_changed.as_ref())?;
                let changed = Outcome::Changed { changed: true };
                Ok(answer.map_or(changed, |answer| Outcome::Answer { answer }))
            }
            Request::ReadInput { limit_bytes, wait_ms, unit } => {
                let read = self.terminal.read_input(limit_bytes, wait_ms, unit)?;
                Ok(read.map_or(Outcome::NoInput, |bytes| Outcome::Input { bytes: bytes.into() }))
            }
            Request::Changes { folders, wait_ms, working } => {
                let _shown = self.terminal.working(working);
                let changed = self.changes.changes(&folders, wait_ms)?;
                Ok(Outcome::Changed { changed })
            }
            Request::Sleep { duration_ms } => self.clock.sleep(duration_ms).map(done),
            Request::Say(say) => self.terminal.say(&say).map(done),
        }
    }

    fn serve(&mut self, request: ServeRequest) -> Result<Outcome, Failure> {
        match request {
            ServeRequest::Listen { port } => {
                let (port, secret) = self.serve.listen(port)?;
                Ok(Outcome::Listening { port, secret: secret.into() })
            }
            ServeRequest::Next { wait_ms, folders } => {
                Ok(self.serve.next(wait_ms, &folders)?.map_or(Outcome::NoCall, Outcome::Call))
            }
            ServeRequest::Answer { call, answer } => {
                self.serve.answer(call, answer).map(|()| Outcome::Done)
            }
            ServeRequest::Push { call, bytes } => {
                self.serve.push(call, bytes.into()).map(|()| Outcome::Done)
            }
        }
    }

    fn git(&mut self, request: &GitRequest) -> Result<Outcome, Failure> {
        // Two runs with the same frozen clock print the same.
        let words = request.doing().filter(|_| !self.clock.is_frozen());
        let meanwhile = words.map(|words| self.terminal.meanwhile(words));
        let outcome = self.git.git(request);
        drop(meanwhile);
        outcome
    }

    fn process(&mut self, spec: &ProcessSpec) -> Result<Outcome, Failure> {
        let label = spec.label.as_deref().filter(|_| !spec.interactive);
        let mut progress = self.terminal.progress(label, Duration::ZERO);
        let turn = self.processes.start(spec, progress.as_mut())?;
        drop(progress);
        Ok(self.turn(turn))
    }

    fn wait(&mut self, wake: Wake, activity: Option<&str>) -> Result<Outcome, Failure> {
        let (label, elapsed) = match self.processes.left_running() {
            Some(left) => (left.label, left.elapsed),
            None => (None, Duration::ZERO),
        };
        let mut progress = self.terminal.progress(label.as_deref(), elapsed);
        if let Some(activity) = activity {
            progress.output(activity.as_bytes());
        }
        let turn = self.processes.wait(wake, progress.as_mut())?;
        drop(progress);
        Ok(self.turn(turn))
    }

    fn turn(&self, turn: ProcessTurn) -> Outcome {
        match turn {
            ProcessTurn::Running => Outcome::Running,
            ProcessTurn::Lines(bytes) => Outcome::Lines { bytes: bytes.into() },
            ProcessTurn::Started(group) => Outcome::Started { group },
            ProcessTurn::Ended(mut end) => {
                if self.clock.is_frozen() {
                    end.duration_ms = 0;
                }
                Outcome::Process(end)
            }
        }
    }
}

impl Host for OsHost {
    fn perform(&mut self, request: Request) -> Reply {
        let outcome = self.outcome(request);
        if let Some(warning) = self.files.durability_warning() {
            // A failure to print the warning does not change the reply.
            let _ = self.terminal.say(&Say::Note(format!("warning: {warning}\n")));
        }
        Reply { at: self.clock.now(), outcome }
    }
}

impl std::fmt::Debug for OsHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OsHost").finish_non_exhaustive()
    }
}

impl Git for git::OsGit {
    fn git(&mut self, request: &GitRequest) -> Result<Outcome, Failure> {
        self.perform(request)
    }
}
