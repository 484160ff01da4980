//! Starts a program: with shared memory on Linux, with the standard library on other systems.

#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod usual;

use std::io;
use std::process::Command as OsCommand;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use linux as system;
use onloop_core::effect::ProcessSpec;
#[cfg(not(target_os = "linux"))]
use usual as system;

use super::child::{Child, Place};
use crate::host::confine::Restrictions;

/// How long a start waits for a program file to be closed, and how often it looks.
const BUSY_FOR: Duration = Duration::from_millis(500);
const BUSY_LOOK: Duration = Duration::from_millis(5);

/// Starts `command` with the streams of `spec`, and waits a moment while its file is open for writing.
/// A child of another thread has our open files until its `exec`, also a program that was just written.
///
/// # Errors
///
/// Errors of the system about the program, its folder, a restriction or a process.
pub(super) fn spawn(
    command: &mut OsCommand,
    spec: &ProcessSpec,
    place: Place,
    restrictions: Option<&Restrictions>,
) -> io::Result<Child> {
    let end = Instant::now() + BUSY_FOR;
    loop {
        match system::spawn(command, spec, place, restrictions) {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < end =>
            {
                thread::sleep(BUSY_LOOK);
            }
            started => return started,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
