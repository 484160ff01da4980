//! Running other programs: whole process groups, bounded in time and memory.
//!
//! A program gets its own process group, a closed or fed standard input and two pipes. One
//! thread blocks in `poll(2)` on all of it: output, input, the end of the program, an
//! interrupt, the next deadline. Nothing is polled by sleeping.
//!
//! **Ending.** Out of time or interrupted: SIGTERM (and SIGCONT, for what is stopped) to the
//! group, [`KILL_GRACE_MS`] later SIGKILL. After the program itself has ended, what it left
//! running gets a moment to finish its output (`> >(tee log)` is still writing when the shell
//! is gone) and is then ended too, so that nothing works on behind the back of a check.
//! With [`Orphans::End`] that includes descendants that moved to another session.
//!
//! [`KILL_GRACE_MS`]: onloop_core::limits::KILL_GRACE_MS

mod capture;
mod command;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod notice;
#[cfg(unix)]
mod orphans;
#[cfg(any(not(unix), test))]
mod portable;
mod running;
#[cfg(unix)]
mod streams;
#[cfg(unix)]
mod tty;
#[cfg(unix)]
mod unix;

use onloop_core::program::{Failure, ProcessEnd, ProcessSpec};

use super::{Interrupts, Processes, Progress, Root};
pub use running::RunningGroup;

/// What becomes of descendants that outlive their program and left its process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// They stay. For embedders: other threads of the process may have children too, and
    /// nothing tells theirs from ours.
    Leave,
    /// They are ended with their program. Only for a process whose every child is started
    /// here, one after the other. Linux only; elsewhere the same as `Leave`.
    End,
}

/// Programs run by the operating system.
#[derive(Debug)]
pub struct OsProcesses {
    root: Root,
    interrupts: Interrupts,
    #[cfg_attr(not(unix), expect(dead_code, reason = "orphans are adopted on Linux only"))]
    orphans: Orphans,
    running: RunningGroup,
}

impl OsProcesses {
    /// Programs whose relative folders are below `root`.
    pub fn new(root: Root, interrupts: &Interrupts, orphans: Orphans) -> OsProcesses {
        #[cfg(unix)]
        let orphans = orphans::prepare(orphans);
        let running = RunningGroup::default();
        OsProcesses { root, interrupts: interrupts.clone(), orphans, running }
    }

    /// A handle that kills what runs at the moment, for a second Ctrl-C.
    pub fn running(&self) -> RunningGroup {
        self.running.clone()
    }
}

impl Processes for OsProcesses {
    #[cfg(unix)]
    fn run(
        &mut self,
        spec: &ProcessSpec,
        progress: &mut dyn Progress,
    ) -> Result<ProcessEnd, Failure> {
        self.interrupts.check()?;
        unix::run(self, spec, progress)
    }

    #[cfg(not(unix))]
    fn run(
        &mut self,
        spec: &ProcessSpec,
        progress: &mut dyn Progress,
    ) -> Result<ProcessEnd, Failure> {
        self.interrupts.check()?;
        portable::run(self, spec, progress)
    }
}
