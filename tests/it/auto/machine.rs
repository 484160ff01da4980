//! A small machine for whole runs: real files in a temporary folder, a clock that moves when
//! a child runs, and children that are whatever the test says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use onloop_core::effect::{
    Capture, Command, Exit, Expect, Failure, FailureKind, FileKind, Io, Outcome, ProcessEnd,
    ProcessSpec, ProcessStatus, Program, Reply, Request, Say, Start, Stat, Turn, Version,
};
use onloop_core::engine::error::{CommandError, verb_program};
use onloop_core::time::Timestamp;

use crate::temporary::temporary_folder;

/// Plays a process: what it does to the folder, and how it ends.
pub(super) type Player<'a> =
    dyn FnMut(&mut Machine, &ProcessSpec) -> Result<ProcessEnd, Failure> + 'a;

pub(super) struct Machine {
    folder: tempfile::TempDir,
    pub(super) now: Timestamp,
    /// Files that nobody may read.
    pub(super) denied: BTreeSet<String>,
    /// Every path that was written or removed by a request, in order.
    pub(super) touched: Vec<String>,
    /// Locks, and the number of the program that holds each.
    pub(super) locks: BTreeMap<String, u8>,
    /// Whether writing fails, as on a disk that is full.
    pub(super) is_full: bool,
    started: u8,
}

/// A program in progress.
pub(super) struct Running {
    number: u8,
    program: Program,
    reply: Option<Reply>,
    pub(super) ended: Option<Exit>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// What a program said and how it ended.
pub(super) struct Ended {
    pub(super) exit: Exit,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Machine {
    pub(super) fn new(now: &str) -> Machine {
        Machine {
            folder: temporary_folder(),
            now: Timestamp::parse(now).expect("a time"),
            denied: BTreeSet::new(),
            touched: Vec::new(),
            locks: BTreeMap::new(),
            is_full: false,
            started: 0,
        }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, content).expect("a file");
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Every file, sorted, with its content.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).expect("inside");
                    let name = name.to_str().expect("UTF-8").to_owned();
                    files.insert(name, fs::read(&path).expect("a file"));
                }
            }
        }
        files
    }

    /// Begins a program, which does nothing until [`Machine::step`].
    pub(super) fn begin<B, F>(&mut self, body: B) -> Running
    where
        B: FnOnce(Io) -> F + 'static,
        F: Future<Output = Result<Exit, CommandError>> + 'static,
    {
        self.started += 1;
        let mut start = Start::example(["onloop", "auto"]);
        start.cwd = self.folder.path().to_str().expect("UTF-8").to_owned();
        start.now = self.now;
        start.random = [self.started; 16];
        Running {
            number: self.started,
            program: verb_program(start, body),
            reply: None,
            ended: None,
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    /// Performs one request of a program.
    pub(super) fn step(&mut self, running: &mut Running, player: &mut Player<'_>) {
        let outcome = match running.program.resume(running.reply.take()) {
            Turn::Exit(exit) => {
                running.ended = Some(exit);
                self.locks.retain(|_, holder| *holder != running.number);
                return;
            }
            Turn::Request(Request::Say(Say::Result(text))) => {
                running.stdout.push_str(&text);
                Ok(Outcome::Done)
            }
            Turn::Request(Request::Say(Say::Note(text))) => {
                running.stderr.push_str(&text);
                Ok(Outcome::Done)
            }
            Turn::Request(request) => self.perform(running.number, request, player),
        };
        running.reply = Some(Reply { at: self.now, outcome });
    }

    /// Ends a program without letting it do anything more.
    pub(super) fn kill(&mut self, running: Running) {
        self.locks.retain(|_, holder| *holder != running.number);
    }

    /// Runs a program to its end.
    pub(super) fn run<B, F>(&mut self, body: B, player: &mut Player<'_>) -> Ended
    where
        B: FnOnce(Io) -> F + 'static,
        F: Future<Output = Result<Exit, CommandError>> + 'static,
    {
        let mut running = self.begin(body);
        loop {
            self.step(&mut running, player);
            if let Some(exit) = running.ended {
                return Ended { exit, stdout: running.stdout, stderr: running.stderr };
            }
        }
    }

    fn perform(
        &mut self,
        who: u8,
        request: Request,
        player: &mut Player<'_>,
    ) -> Result<Outcome, Failure> {
        match request {
            Request::Read { path, limit_bytes } => self.read(&path, limit_bytes),
            Request::Write { path, bytes, expect, .. } => self.write(&path, &bytes, &expect),
            Request::Remove { path } => {
                fs::remove_file(self.path(&path)).map_err(|error| failure(&error))?;
                self.touched.push(path);
                Ok(Outcome::Done)
            }
            Request::List { path } => self.list(&path).map_err(|error| failure(&error)),
            Request::Stat { path } => self.stat(&path).map_err(|error| failure(&error)),
            Request::Lock { path, .. } => match self.locks.get(&path) {
                Some(holder) if *holder != who => Err(Failure::new(
                    FailureKind::Busy,
                    format!("`{path}` is held by program {holder}"),
                )),
                Some(_) | None => {
                    self.locks.insert(path, who);
                    Ok(Outcome::Done)
                }
            },
            Request::Process(spec) => player(self, &spec).map(Outcome::Process),
            other => panic!("rw-auto has no need of {other:?}"),
        }
    }

    fn read(&self, path: &str, limit_bytes: u64) -> Result<Outcome, Failure> {
        if self.denied.contains(path) {
            return Err(Failure::new(FailureKind::Denied, format!("`{path}`: denied")));
        }
        let bytes = fs::read(self.path(path)).map_err(|error| failure(&error))?;
        if bytes.len() as u64 > limit_bytes {
            return Err(Failure::new(FailureKind::TooLarge, format!("`{path}`: too large")));
        }
        let version = version(&bytes);
        Ok(Outcome::File { bytes: bytes.into(), version })
    }

    fn write(&mut self, path: &str, bytes: &[u8], expect: &Expect) -> Result<Outcome, Failure> {
        if self.is_full {
            return Err(Failure::new(FailureKind::Full, format!("`{path}`: no room left")));
        }
        let target = self.path(path);
        if target.is_dir() {
            return Err(Failure::new(FailureKind::Invalid, format!("`{path}` is a folder")));
        }
        let there = fs::read(&target).ok();
        match (expect, there) {
            (Expect::Any, _) | (Expect::Absent, None) => {}
            (Expect::Absent, Some(_)) => {
                return Err(Failure::new(FailureKind::Exists, format!("`{path}` exists")));
            }
            (Expect::Version(expected), Some(there)) if version(&there) == *expected => {}
            (Expect::Version(_), _) => {
                return Err(Failure::new(FailureKind::Conflict, format!("`{path}` has changed")));
            }
        }
        self.put(path, bytes);
        self.denied.remove(path);
        self.touched.push(path.to_owned());
        Ok(Outcome::Written { version: version(bytes) })
    }

    fn list(&self, path: &str) -> io::Result<Outcome> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path(path))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(Outcome::Names { names })
    }

    fn stat(&self, path: &str) -> io::Result<Outcome> {
        let metadata = fs::symlink_metadata(self.path(path))?;
        let modified = metadata.modified()?.duration_since(std::time::UNIX_EPOCH);
        let millis = modified.map_or(0, |since| since.as_millis() as i64);
        Ok(Outcome::Stat(Stat {
            kind: if metadata.is_dir() { FileKind::Folder } else { FileKind::File },
            size_bytes: metadata.len(),
            modified: Timestamp::from_millis(millis),
            executable: false,
            foreign: false,
        }))
    }
}

/// A process that ended by itself with this output.
pub(super) fn exited(code: i32, stdout: &str) -> ProcessEnd {
    ProcessEnd {
        status: ProcessStatus::Exited(code),
        stdout: Capture {
            head: stdout.into(),
            tail: Vec::new().into(),
            total_bytes: stdout.len() as u64,
        },
        stderr: Capture::default(),
        duration_ms: 0,
        confined: None,
        opened: None,
        refused: Vec::new(),
    }
}

/// Nothing that a test plays may be started.
pub(super) fn nobody(_: &mut Machine, spec: &ProcessSpec) -> Result<ProcessEnd, Failure> {
    panic!("nothing may be started: {spec:?}")
}

/// Runs the line that a process is asked to run, with a real shell.
pub(super) fn shell(machine: &mut Machine, spec: &ProcessSpec) -> Result<ProcessEnd, Failure> {
    let Command::Shell { line, .. } = &spec.command else { panic!("expected a line") };
    let mut child = std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(Path::new(&spec.cwd))
        .envs(&spec.env_set)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failure(&error))?;
    let mut stdin = child.stdin.take().expect("a pipe");
    // A child that does not read its prompt closes the pipe; that is its affair.
    let _ = stdin.write_all(spec.stdin.as_deref().unwrap_or_default());
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| failure(&error))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if let Some(log) = &spec.stream_to {
        machine.put(log, &stdout);
    }
    Ok(exited(output.status.code().unwrap_or(-1), &stdout))
}

/// A variable that a process is given.
pub(super) fn variable<'a>(spec: &'a ProcessSpec, name: &str) -> &'a str {
    spec.env_set.get(name).expect(name)
}

fn version(bytes: &[u8]) -> Version {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Version(format!("{:x}", hasher.finish()))
}

fn failure(error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FailureKind::NotFound,
        io::ErrorKind::PermissionDenied => FailureKind::Denied,
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => FailureKind::Invalid,
        _ => FailureKind::Other,
    };
    Failure::new(kind, error.to_string())
}
