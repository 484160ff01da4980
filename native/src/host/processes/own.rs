//! Programs that the host starts by itself to answer a request: git.
//!
//! They run through the same engine as those that somebody asks for, any number at once. Three things
//! differ. An interrupt ends all that work on the same request and is over only when the request is.
//! Each leads a session, so that nothing below it can wait for a person at our terminal. And none is
//! killed because we are: git that is killed leaves its locks.

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

/// Starts programs, and knows what ends them.
#[derive(Clone, Debug, Default)]
pub(in crate::host) struct OwnPrograms {
    /// `None`: nothing disturbs them.
    interrupts: Option<Interrupts>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no process groups"))]
    running: RunningGroup,
}

/// How long a program may take and how much it may answer.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Bounds {
    /// Longest running time; then its whole process group is ended.
    pub(in crate::host) timeout_ms: u64,
    /// Most bytes of each output stream.
    pub(in crate::host) limit_bytes: u64,
}

/// How a program came to its end.
#[derive(Debug)]
pub(in crate::host) enum OwnEnd {
    /// By itself.
    Ended {
        /// Its exit code; -1: a signal ended it.
        exit: i32,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
    /// It had more to say than it may.
    TooLarge,
    /// Its time was over. With the program that it was waiting for, if that is known.
    TimedOut(Option<String>),
    /// Somebody interrupted. With the program that it was waiting for, if that is known.
    Interrupted(Option<String>),
}

/// Why a program did not come to an end.
#[derive(Debug)]
pub(in crate::host) enum OwnError {
    /// The system did not start it.
    Unstarted(io::Error),
    /// Anything else.
    Failed(Failure),
}

impl OwnPrograms {
    /// Programs that `interrupts` disturbs and that whoever has no time finds in `running`.
    pub(in crate::host) fn new(interrupts: &Interrupts, running: &RunningGroup) -> OwnPrograms {
        OwnPrograms { interrupts: Some(interrupts.clone()), running: running.clone() }
    }

    /// The same programs, which no interrupt disturbs: for what puts something right.
    pub(in crate::host) fn undisturbed(&self) -> OwnPrograms {
        OwnPrograms { interrupts: None, running: self.running.clone() }
    }

    /// An interrupt has done what it is for.
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
    ) -> Result<OwnEnd, OwnError> {
        if let Some(interrupts) = &self.interrupts {
            interrupts.prepare().map_err(OwnError::Failed)?;
            if interrupts.is_pending() {
                return Ok(OwnEnd::Interrupted(None));
            }
        }
        system::run(self, command, input, bounds)
    }
}
