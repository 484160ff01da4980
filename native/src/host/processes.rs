//! Runs other programs: whole process groups, bounded in time and memory.
//!
//! A program gets its own process group, a closed or fed standard input and two pipes. One thread
//! blocks in `poll(2)` on output, input, the end of the program, an interrupt and the next
//! deadline. It never polls by sleeping.
//!
//! **End.** After a timeout or an interrupt the group gets SIGTERM (and SIGCONT, for stopped
//! processes), and SIGKILL [`KILL_GRACE_MS`] later. Processes that outlive the program get a moment
//! to finish their output: in `> >(tee log)` the `tee` still writes when the shell has ended. Then
//! they are ended, too, so that nothing runs during a check. With [`Orphans::End`] that includes
//! descendants in another session.
//!
//! **Our death.** On Linux the kernel kills the program when this process dies. The next onloop
//! finds and ends what the program had started; see [`survivors`].
//!
//! **Waking.** A caller may ask to be woken while the program runs. Pipes, capture and deadline
//! then wait in [`Left`] for the next turn. If no turn comes, the program is ended with the host.
//!
//! [`KILL_GRACE_MS`]: onloop_core::limits::KILL_GRACE_MS

mod capture;
#[cfg(unix)]
mod child;
mod command;
#[cfg(unix)]
mod group;
mod host_programs;
mod interrupt;
mod launch;
mod log;
#[cfg(unix)]
mod notice;
#[cfg(unix)]
mod observe;
#[cfg(unix)]
mod orphans;
#[cfg(any(not(unix), test))]
mod portable;
mod running;
#[cfg(unix)]
mod spawn;
#[cfg(unix)]
mod streams;
#[cfg(target_os = "linux")]
mod survivors;
#[cfg(unix)]
mod tty;
#[cfg(unix)]
mod unix;

use std::sync::Arc;
use std::time::{Duration, Instant};

use onloop_core::effect::{
    Failure, FailureKind, LaunchSpec, ProcessEnd, ProcessGroup, ProcessIdentity, ProcessSpec,
    Redaction, Start,
};

use super::{
    HeldLocks, Interrupts, LeftRunning, ProcessTurn, Progress, Root, Wake, files, process_table,
};
pub(super) use host_programs::{Bounds, HostProgramEnd, HostProgramError, HostPrograms};
use log::Log;
#[cfg(not(unix))]
use portable as system;
pub use running::RunningGroup;
#[cfg(unix)]
use unix as system;

/// What happens to descendants that outlive their program and have left its process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// They stay. For embedders: children of other threads look the same.
    Leave,
    /// They are ended with their program. Only for a process whose first thread starts these
    /// programs alone, one after the other. Linux only; on other systems the same as `Leave`.
    End,
}

/// Programs of the operating system.
#[derive(Debug)]
pub struct OsProcesses {
    root: Root,
    /// Secrets that no log may contain.
    redaction: Arc<Redaction>,
    interrupts: Interrupts,
    #[cfg_attr(not(unix), expect(dead_code, reason = "orphans are adopted on Linux only"))]
    orphans: Orphans,
    running: RunningGroup,
    #[cfg_attr(not(unix), expect(dead_code, reason = "nothing is confined there"))]
    locks: HeldLocks,
    left: Option<Left>,
}

/// The program that was left running.
struct Left {
    program: system::Running,
    label: Option<String>,
}

impl std::fmt::Debug for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Left").field("label", &self.label).finish_non_exhaustive()
    }
}

/// Whether a program was followed to its end.
enum Followed<R> {
    /// It is still running.
    Running(R),
    /// It is still running and has written this.
    #[cfg_attr(not(unix), expect(dead_code, reason = "lines are not looked at there"))]
    Wrote(R, Vec<u8>),
    /// It has ended.
    Ended(ProcessEnd),
}

/// When to stop following a program that still runs.
#[derive(Clone, Copy, Default)]
struct Alarm {
    at: Option<Instant>,
    /// Wakes when standard input has data or has ended.
    #[cfg_attr(not(unix), expect(dead_code, reason = "standard input cannot be looked at"))]
    on_input: bool,
}

/// Progress that is not shown.
#[cfg(unix)]
struct Unwatched;

#[cfg(unix)]
impl Progress for Unwatched {
    fn tick_every_ms(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self) {}

    fn output(&mut self, _bytes: &[u8]) {}

    fn warn(&mut self, _message: &str) {}
}

impl OsProcesses {
    /// Creates programs whose relative folders are below the folder of `start`. Their logs contain
    /// no secret of its environment.
    pub fn new(start: &Start, interrupts: &Interrupts, orphans: Orphans) -> OsProcesses {
        OsProcesses {
            root: Root::new(&start.cwd),
            redaction: Arc::new(Redaction::new(&start.env)),
            interrupts: interrupts.clone(),
            orphans,
            running: RunningGroup::default(),
            locks: HeldLocks::default(),
            left: None,
        }
    }

    /// The same, for a host that holds these locks: what repairs after a confined program keeps those
    /// of its record.
    pub fn beside(mut self, locks: HeldLocks) -> OsProcesses {
        self.locks = locks;
        self
    }

    /// Returns a handle that kills the running programs, for a second Ctrl-C.
    pub fn running(&self) -> RunningGroup {
        self.running.clone()
    }
}

impl OsProcesses {
    fn log(&self, spec: &ProcessSpec) -> Result<Option<Log>, Failure> {
        let Some(path) = &spec.stream_to else { return Ok(None) };
        let file = files::open_stream(&self.root, path, spec.private)?;
        Ok(Some(Log::new(file, path, &self.redaction)))
    }

    fn follow(
        &mut self,
        Left { program, label }: Left,
        wake: Wake,
        progress: &mut dyn Progress,
    ) -> Result<ProcessTurn, Failure> {
        let after = wake.after_ms.map(Duration::from_millis);
        let alarm = Alarm {
            at: after.and_then(|after| Instant::now().checked_add(after)),
            on_input: wake.on_input,
        };
        match program.follow(alarm, progress)? {
            Followed::Ended(end) => Ok(ProcessTurn::Ended(end)),
            Followed::Running(program) => {
                self.left = Some(Left { program, label });
                Ok(ProcessTurn::Running)
            }
            Followed::Wrote(program, lines) => {
                self.left = Some(Left { program, label });
                Ok(ProcessTurn::Lines(lines))
            }
        }
    }

    /// Performs `Request::Process`.
    pub fn start(
        &mut self,
        spec: &ProcessSpec,
        progress: &mut dyn Progress,
    ) -> Result<ProcessTurn, Failure> {
        if self.left.is_some() {
            return Err(another_is_left());
        }
        self.interrupts.check()?;
        #[cfg(unix)]
        {
            self.orphans = orphans::prepare(self.orphans);
        }
        let program = system::start(self, spec)?;
        let label = spec.label.clone().filter(|_| !spec.interactive);
        let left = Left { program, label };
        if spec.announce {
            let pid = left.program.pid();
            let (started, boot) = (process_table::started(pid), process_table::boot());
            self.left = Some(left);
            return Ok(ProcessTurn::Started(ProcessGroup { pid, started, boot }));
        }
        let wake = Wake { after_ms: spec.wake_after_ms, on_input: spec.wake_on_input };
        self.follow(left, wake, progress)
    }

    /// Performs `Request::Wait`.
    pub fn wait(
        &mut self,
        wake: Wake,
        progress: &mut dyn Progress,
    ) -> Result<ProcessTurn, Failure> {
        let Some(left) = self.left.take() else {
            let message = "no program was left running";
            return Err(Failure::new(FailureKind::NotFound, message));
        };
        self.follow(left, wake, progress)
    }

    /// Performs `Request::End`.
    pub fn end(&mut self) {
        if let Some(left) = self.left.take() {
            left.program.end();
        }
    }

    /// Performs `Request::Ancestors`.
    pub fn ancestors(&mut self) -> Result<Vec<ProcessIdentity>, Failure> {
        process_table::ancestors()
    }

    /// Performs `Request::EndGroup`: how many processes had survived.
    #[cfg(target_os = "linux")]
    pub fn end_group(
        &mut self,
        group: &ProcessGroup,
        host: &str,
        mark: Option<&str>,
    ) -> Result<u32, Failure> {
        survivors::end(group, host, mark)
    }

    /// Performs `Request::EndGroup`: how many processes had survived.
    #[cfg(not(target_os = "linux"))]
    pub fn end_group(
        &mut self,
        group: &ProcessGroup,
        _host: &str,
        _mark: Option<&str>,
    ) -> Result<u32, Failure> {
        let message =
            format!("this system does not tell the members of process group {}", group.pid);
        Err(Failure::new(FailureKind::Unsupported, message))
    }

    /// Performs `Request::Launch`.
    pub fn launch(&mut self, spec: &LaunchSpec) -> Result<(), Failure> {
        #[cfg(unix)]
        if self.orphans == Orphans::End && self.left.is_none() {
            orphans::leave_the_next();
        }
        launch::launch(&self.root, &self.interrupts, spec, |session| {
            #[cfg(unix)]
            orphans::leave_session(session);
            #[cfg(not(unix))]
            let _ = session;
        })
    }

    /// Performs `Request::Interrupt`.
    pub fn interrupt(&mut self, process: &ProcessIdentity, now: bool) -> Result<(), Failure> {
        interrupt::interrupt(process, now)
    }

    /// The program that was left running.
    pub fn left_running(&self) -> Option<LeftRunning> {
        let left = self.left.as_ref()?;
        Some(LeftRunning { label: left.label.clone(), elapsed: left.program.elapsed() })
    }
}

fn another_is_left() -> Failure {
    let message = "another program still runs, and onloop runs one at a time";
    Failure::new(FailureKind::Busy, message)
}

impl Drop for OsProcesses {
    /// Ends the program that was left running.
    fn drop(&mut self) {
        self.end();
    }
}
