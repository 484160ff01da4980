//! Runs a program with the standard library alone, for systems without process groups, `poll` and
//! safe signals (Windows).
//!
//! The end of the program is polled every few milliseconds, a timeout ends only the program itself,
//! and Ctrl-C ends onloop, too.

use std::io::{Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, ProcessEnd, ProcessSpec, ProcessStatus};

use super::capture::Keeper;
use super::log::{Log, Source};
use super::{Alarm, Followed, OsProcesses, command};
use crate::host::confine;
use crate::host::interrupts::TerminalLent;
use crate::host::{Interrupts, Progress, failure};

/// How often the end of the program is polled.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Longest time to read from pipes that descendants keep open.
const LINGER: Duration = Duration::from_millis(200);
const CHUNK_BYTES: usize = 64 * 1024;
/// Most chunks in the queue, which bounds memory: a full queue blocks the program.
const CHUNKS_WAITING: usize = 16;

/// Starts what `spec` says.
pub(super) fn start(processes: &OsProcesses, spec: &ProcessSpec) -> Result<Running, Failure> {
    let root = &processes.root;
    if spec.confine.is_some() {
        return Err(confine::unknown());
    }
    let mut command = command::prepare(root, spec)?;
    command::connect(&mut command, spec);
    let log = processes.log(spec)?;
    let terminal = spec.interactive.then(|| processes.interrupts.lend_terminal());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| command::spawn_failure(&error, root, spec))?;
    let timeout = spec.timeout_ms.map(Duration::from_millis);
    Ok(Running {
        output: follow_streams(&mut child, spec),
        child,
        kept: [Keeper::new(spec.capture_bytes), Keeper::new(spec.capture_bytes)],
        log,
        interrupts: processes.interrupts.clone(),
        started,
        deadline: timeout.and_then(|timeout| started.checked_add(timeout)),
        why: None,
        _terminal: terminal,
    })
}

/// A program that was started and not yet waited for.
pub(super) struct Running {
    child: Child,
    output: Receiver<(Source, Vec<u8>)>,
    kept: [Keeper; 2],
    log: Option<Log>,
    interrupts: Interrupts,
    started: Instant,
    deadline: Option<Instant>,
    /// Why we ended it, if we did.
    why: Option<ProcessStatus>,
    _terminal: Option<TerminalLent>,
}

impl Running {
    /// Its process id.
    #[cfg_attr(unix, expect(dead_code, reason = "only tests run programs this way"))]
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How long it has run.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Follows the program until it ends or the alarm goes off.
    pub(super) fn follow(
        mut self,
        alarm: Alarm,
        progress: &mut dyn Progress,
    ) -> Result<Followed<Running>, Failure> {
        let Some(exit) = self.until(alarm.at, progress)? else {
            return Ok(Followed::Running(self));
        };
        let linger = Instant::now() + LINGER;
        while Instant::now() < linger && self.take_output(progress) {}
        if let Some(log) = &mut self.log {
            log.finish(progress);
        }
        let duration_ms = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        let [stdout, stderr] = self.kept.map(Keeper::finish);
        let status = self.why.unwrap_or(ProcessStatus::Exited(exit.code().unwrap_or(-1)));
        Ok(Followed::Ended(ProcessEnd {
            status,
            stdout,
            stderr,
            duration_ms,
            confined: None,
            opened: None,
            refused: Vec::new(),
        }))
    }

    /// Ends the program.
    pub(super) fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// How the program ended; `None`: `wake_at` has passed.
    fn until(
        &mut self,
        wake_at: Option<Instant>,
        progress: &mut dyn Progress,
    ) -> Result<Option<ExitStatus>, Failure> {
        let has_come = |at: Option<Instant>| at.is_some_and(|at| Instant::now() >= at);
        loop {
            if !self.take_output(progress) {
                thread::sleep(LOOK_EVERY);
            }
            let exit = self.child.try_wait();
            if let Some(exit) = exit.map_err(|error| failure::of(&error, "cannot wait"))? {
                return Ok(Some(exit));
            }
            if self.why.is_none() {
                if self.interrupts.take() {
                    self.why = Some(ProcessStatus::Interrupted);
                } else if has_come(self.deadline) {
                    self.why = Some(ProcessStatus::TimedOut);
                } else if has_come(wake_at) {
                    return Ok(None);
                }
                if self.why.is_some() {
                    let _ = self.child.kill();
                }
            }
        }
    }

    /// Waits a moment for output; `false`: both streams have ended.
    fn take_output(&mut self, progress: &mut dyn Progress) -> bool {
        match self.output.recv_timeout(LOOK_EVERY) {
            Ok((which, bytes)) => {
                self.kept[which as usize].push(&bytes);
                progress.output(&bytes);
                if let Some(log) = &mut self.log {
                    log.push(which, &bytes, progress);
                }
                true
            }
            Err(RecvTimeoutError::Timeout) => {
                progress.tick();
                true
            }
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }
}

fn follow_streams(child: &mut Child, spec: &ProcessSpec) -> Receiver<(Source, Vec<u8>)> {
    if let Some((mut pipe, bytes)) = child.stdin.take().zip(spec.stdin.clone()) {
        // A program that does not read all of its input is not a failure.
        thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let (sender, receiver) = sync_channel(CHUNKS_WAITING);
    if let Some(pipe) = child.stdout.take() {
        read(pipe, Source::Stdout, sender.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        read(pipe, Source::Stderr, sender);
    }
    receiver
}

fn read(
    mut pipe: impl Read + Send + 'static,
    which: Source,
    sender: SyncSender<(Source, Vec<u8>)>,
) {
    thread::spawn(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(len @ 1..) = pipe.read(&mut chunk) {
            if sender.send((which, chunk[..len].to_vec())).is_err() {
                return;
            }
        }
    });
}

/// Nothing here is about Windows, so it is tested where the tests run.
#[cfg(all(test, unix))]
mod tests {

    use onloop_core::effect::{Shell, Start};

    use super::*;
    use crate::host::Orphans;

    /// A log that cannot be written would be a defect here.
    struct NoWarnings;

    impl Progress for NoWarnings {
        fn tick_every_ms(&self) -> Option<u64> {
            None
        }

        fn tick(&mut self) {}

        fn output(&mut self, _bytes: &[u8]) {}

        fn warn(&mut self, message: &str) {
            panic!("{message}");
        }
    }

    fn spec(line: &str, timeout_ms: u64) -> ProcessSpec {
        ProcessSpec::shell(Shell::Sh, line)
            .with_stdin(*b"input")
            .timeout_ms(timeout_ms)
            .capture_bytes(10)
    }

    fn processes(interrupts: &Interrupts) -> OsProcesses {
        let start = Start { cwd: "/".to_owned(), ..Start::example(["onloop"]) };
        OsProcesses::new(&start, interrupts, Orphans::Leave)
    }

    fn follow(line: &str, timeout_ms: u64, interrupts: &Interrupts) -> ProcessEnd {
        let processes = processes(interrupts);
        let mut program = start(&processes, &spec(line, timeout_ms)).unwrap();
        loop {
            // Being woken again and again changes nothing.
            let alarm =
                Alarm { at: Some(Instant::now() + Duration::from_millis(20)), ..Alarm::default() };
            match program.follow(alarm, &mut NoWarnings).unwrap() {
                Followed::Running(still) | Followed::Wrote(still, _) => program = still,
                Followed::Ended(end) => return end,
            }
        }
    }

    #[test]
    fn the_plain_way_runs_feeds_cuts_and_ends_programs() {
        let interrupts = Interrupts::new().unwrap();
        let end = follow("cat; echo err >&2; exit 3", 20_000, &interrupts);
        assert_eq!(end.status, ProcessStatus::Exited(3));
        assert_eq!((end.stdout.text(), end.stderr.text()), ("input".into(), "err\n".into()));
        let end = follow("yes | head -c 5000000", 20_000, &interrupts);
        assert_eq!((end.stdout.total_bytes, end.stdout.tail.len()), (5_000_000, 10));
        assert_eq!(follow("exec sleep 1000", 50, &interrupts).status, ProcessStatus::TimedOut);
        assert_eq!(follow("sleep 1 & echo", 20_000, &interrupts).status, ProcessStatus::Exited(0));
        interrupts.raise();
        let end = follow("exec sleep 1000", 20_000, &interrupts);
        assert_eq!(end.status, ProcessStatus::Interrupted);
    }

    #[test]
    fn a_program_without_a_follower_is_ended() {
        let interrupts = Interrupts::new().unwrap();
        let processes = processes(&interrupts);
        let program = start(&processes, &spec("exec sleep 1000", 20_000)).unwrap();
        let pid = program.child.id();
        program.end();
        // Waited for, so its number is free again.
        let wait = rustix::process::waitpid(
            rustix::process::Pid::from_raw(pid.try_into().unwrap()),
            rustix::process::WaitOptions::NOHANG,
        );
        assert_eq!(wait.err(), Some(rustix::io::Errno::CHILD));
    }
}
