//! A child of ours, and how it is placed among others.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};

/// Where the terminal's signals for a child come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// From our terminal, as for us.
    OurGroup,
    /// From nowhere: it leads a process group.
    OwnGroup,
    /// From nowhere, and it cannot open our terminal: it leads a session, which is a group, too.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is confined so"))]
    OwnSession,
    /// The same, and it does not end with us: what it has begun it brings to its end, so that it
    /// leaves no lock behind.
    OwnSessionForGood,
}

/// A program that was started and not yet waited for.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) pid: Pid,
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

impl Child {
    /// Waits for its end. Only once: the number belongs to somebody else afterwards.
    pub(super) fn wait(&mut self) -> io::Result<ExitStatus> {
        self.stdin = None;
        loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
