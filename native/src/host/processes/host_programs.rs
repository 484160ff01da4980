//! Programs that the host starts to perform a request: git.
//!
//! They use the same code as requested programs, any number at once, with three differences. An
//! interrupt ends all programs of a request and is cleared with the request. Each program leads a
//! session, so it cannot read from our terminal. None is killed when this process dies, because a
//! killed git leaves its locks.

#[cfg(unix)]
mod engine;
#[cfg(not(unix))]
mod plain;

#[cfg(unix)]
use engine as system;
#[cfg(not(unix))]
use plain as system;

use std::io;
use std::process::Command;

use onloop_core::effect::Failure;

use super::RunningGroup;
use crate::host::Interrupts;

/// What a program says about a failure is longer only when it repeats itself.
const STDERR_BYTES: u64 = 64 * 1024;

/// Starts programs.
#[derive(Clone, Debug, Default)]
pub(in crate::host) struct HostPrograms {
    /// `None`: no interrupt ends them.
    interrupts: Option<Interrupts>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no process groups"))]
    running: RunningGroup,
}

/// Bounds of a program.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Bounds {
    /// Longest running time in milliseconds; then its process group is ended.
    pub(in crate::host) timeout_ms: u64,
    /// Most bytes of standard output.
    pub(in crate::host) limit_bytes: u64,
}

/// How a program ended.
#[derive(Debug)]
pub(in crate::host) enum HostProgramEnd {
    /// By itself.
    Ended {
        /// Its exit code; -1: a signal ended it.
        exit: i32,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
    /// Its output was too large.
    TooLarge,
    /// It timed out, while it waited for this program, if that is known.
    TimedOut(Option<String>),
    /// It was interrupted, while it waited for this program, if that is known.
    Interrupted(Option<String>),
}

/// Why a program did not end.
#[derive(Debug)]
pub(in crate::host) enum HostProgramError {
    /// The system did not start it.
    Unstarted(io::Error),
    /// Anything else.
    Failed(Failure),
}

impl HostPrograms {
    /// Creates programs that `interrupts` ends and that are listed in `running`.
    pub(in crate::host) fn new(interrupts: &Interrupts, running: &RunningGroup) -> HostPrograms {
        HostPrograms { interrupts: Some(interrupts.clone()), running: running.clone() }
    }

    /// Returns programs that no interrupt ends, for a rollback.
    pub(in crate::host) fn undisturbed(&self) -> HostPrograms {
        HostPrograms { interrupts: None, running: self.running.clone() }
    }

    /// Clears the interrupt.
    pub(in crate::host) fn take_interrupt(&self) {
        if let Some(interrupts) = &self.interrupts {
            interrupts.take();
        }
    }

    /// Runs `command` to its end, with `input` on its standard input.
    ///
    /// # Errors
    ///
    /// When it could not be started or followed.
    pub(in crate::host) fn run(
        &self,
        command: Command,
        input: &[u8],
        bounds: Bounds,
    ) -> Result<HostProgramEnd, HostProgramError> {
        if let Some(interrupts) = &self.interrupts {
            interrupts.prepare().map_err(HostProgramError::Failed)?;
            if interrupts.is_pending() {
                return Ok(HostProgramEnd::Interrupted(None));
            }
        }
        system::run(self, command, input, bounds)
    }
}
