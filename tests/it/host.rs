//! The native host against the real operating system.

mod conformance;
mod files;
mod locks;
mod processes;
#[cfg(unix)]
mod signals;
#[cfg(target_os = "linux")]
mod terminal;
mod waking;

use std::time::{Duration, Instant};

use onloop::host::{Host, Interrupts, OsHost};
use onloop_core::effect::Shell;
use onloop_core::effect::{Command, Failure, Outcome, ProcessEnd, ProcessSpec, Request, Start};
use tempfile::TempDir;

use crate::temporary::temporary_folder;

/// A native host with a folder of its own.
struct World {
    folder: TempDir,
    interrupts: Interrupts,
    host: OsHost,
}

impl World {
    fn new() -> World {
        let folder = temporary_folder();
        let start =
            Start { cwd: folder.path().to_str().unwrap().to_owned(), ..Start::example(["onloop"]) };
        let interrupts = Interrupts::new().unwrap();
        let host = OsHost::new(&start, &interrupts);
        World { folder, interrupts, host }
    }

    fn perform(&mut self, request: Request) -> Result<Outcome, Failure> {
        self.host.perform(request).outcome
    }

    fn run(&mut self, spec: ProcessSpec) -> Result<ProcessEnd, Failure> {
        match self.perform(Request::Process(spec))? {
            Outcome::Process(end) => Ok(end),
            other => panic!("a process ended as {other:?}"),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

/// A shell line with the defaults of a check.
fn line(line: &str) -> ProcessSpec {
    command(Command::Shell { shell: Shell::Sh, line: line.to_owned() })
}

fn command(command: Command) -> ProcessSpec {
    ProcessSpec::new(command).timeout_ms(60_000)
}

/// A killed process needs a moment to be dead.
fn assert_dies(pid: &str) {
    let start = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if matches!(state, None | Some('Z' | 'X')) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "process {pid} lives on");
        std::thread::yield_now();
    }
}

/// Until something was written into the file.
fn wait_for(path: &std::path::Path) {
    let start = Instant::now();
    while std::fs::read(path).unwrap_or_default().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "`{}` never came", path.display());
        std::thread::yield_now();
    }
}
