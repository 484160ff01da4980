//! Scripted programs.

use onloop_core::effect::{
    Capture, Command, Failure, FailureKind, Mechanism, ProcessEnd, ProcessSpec, ProcessStatus,
};

use super::Disk;

/// What a scripted program does when it is left alone.
#[derive(Clone, Debug)]
pub struct SimProcess {
    /// How it ends by itself.
    pub status: ProcessStatus,
    /// What it writes to standard output.
    pub stdout: Vec<u8>,
    /// What it writes to standard error.
    pub stderr: Vec<u8>,
    /// How long it takes.
    pub duration_ms: u64,
}

impl SimProcess {
    /// Ends at once with `code` after saying `stdout`.
    pub fn exit(code: i32, stdout: &str) -> SimProcess {
        SimProcess {
            status: ProcessStatus::Exited(code),
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
            duration_ms: 1,
        }
    }

    /// Never ends by itself.
    pub fn forever(stdout: &str) -> SimProcess {
        SimProcess { duration_ms: u64::MAX, ..SimProcess::exit(0, stdout) }
    }
}

type Behaviour = Box<dyn FnMut(&mut Disk, &ProcessSpec) -> SimProcess>;

/// Programs by a part of their command line; the script added last is asked first.
#[derive(Default)]
pub(crate) struct Scripts(Vec<(String, Behaviour)>);

impl Scripts {
    pub(crate) fn add(&mut self, part: &str, behaviour: Behaviour) {
        self.0.push((part.to_owned(), behaviour));
    }

    /// # Panics
    ///
    /// When nothing was scripted for the command: a test has to know what it runs.
    pub(crate) fn run(
        &mut self,
        disk: &mut Disk,
        spec: &ProcessSpec,
    ) -> Result<SimProcess, Failure> {
        let line = refuse_the_impossible(disk, spec)?;
        let script = self.0.iter_mut().rev().find(|(part, _)| line.contains(part.as_str()));
        let (_, behaviour) = script.unwrap_or_else(|| panic!("nothing is scripted for `{line}`"));
        Ok(behaviour(disk, spec))
    }
}

/// What no host starts.
fn refuse_the_impossible(disk: &Disk, spec: &ProcessSpec) -> Result<String, Failure> {
    let invalid = |message: &str| Err(Failure::new(FailureKind::Invalid, message));
    let line = match &spec.command {
        Command::Argv(words) if words.first().is_none_or(String::is_empty) => {
            return invalid("a command without a program cannot be run");
        }
        Command::Argv(words) => words.join(" "),
        Command::Shell { line, .. } => line.clone(),
    };
    let bad_name = |name: &str| name.is_empty() || name.contains(['=', '\0']);
    let bad_variable =
        spec.env_set.iter().any(|(name, value)| bad_name(name) || value.contains('\0'));
    if line.contains('\0') || bad_variable || spec.env_remove.iter().any(|name| bad_name(name)) {
        return invalid("a NUL or a nameless variable cannot be passed on");
    }
    if !disk.is_folder(&spec.cwd) {
        return invalid("the folder to run in does not exist");
    }
    if let Command::Argv(words) = &spec.command
        && let Some(kind) = refuses_to_run(disk, &spec.cwd, &words[0])
    {
        return Err(Failure::new(kind, "this is no program"));
    }
    Ok(line)
}

/// Why a file of the disk is no program, if that is what a path leads to. Other programs are not on it.
fn refuses_to_run(disk: &Disk, folder: &str, program: &str) -> Option<FailureKind> {
    let path = match program.starts_with('/') {
        true => program.to_owned(),
        false => format!("{folder}/{program}"),
    };
    let stat = disk.stat(&path).ok().filter(|_| program.contains('/'))?;
    match disk.get(&path) {
        Some(bytes) if stat.executable => {
            (!bytes.starts_with(b"#!")).then_some(FailureKind::Invalid)
        }
        _ => Some(FailureKind::Denied),
    }
}

/// What the host reports: cut at the timeout and to the capture limit.
pub(crate) fn end(process: SimProcess, spec: &ProcessSpec, interrupted: bool) -> ProcessEnd {
    let in_time = spec.timeout_ms.is_none_or(|timeout| process.duration_ms < timeout);
    let (status, duration_ms) = match (interrupted, in_time, spec.timeout_ms) {
        (true, _, _) => (ProcessStatus::Interrupted, 0),
        (false, false, Some(timeout)) => (ProcessStatus::TimedOut, timeout),
        (false, _, _) => {
            assert!(process.duration_ms < u64::MAX, "a program without end and without timeout");
            (process.status, process.duration_ms)
        }
    };
    let captured = |bytes: &[u8]| {
        if spec.interactive { Capture::default() } else { capture(bytes, spec.capture_bytes) }
    };
    ProcessEnd {
        status,
        stdout: captured(&process.stdout),
        stderr: captured(&process.stderr),
        duration_ms,
        confined: spec.confine.is_some().then_some(Mechanism::Landlock),
        opened: None,
        refused: Vec::new(),
    }
}

fn capture(bytes: &[u8], limit: usize) -> Capture {
    let (head, rest) = bytes.split_at(limit.min(bytes.len()));
    let tail = &rest[rest.len().saturating_sub(limit)..];
    Capture {
        head: head.to_vec().into(),
        tail: tail.to_vec().into(),
        total_bytes: bytes.len() as u64,
    }
}
