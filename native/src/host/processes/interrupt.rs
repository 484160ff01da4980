//! Interrupts another onloop on this machine.

use onloop_core::effect::{Failure, FailureKind, ProcessIdentity};

use crate::host::process_table::{Presence, host_name, look_up};

/// Interrupts a process; `now` interrupts it twice, which ends it at once.
pub(super) fn interrupt(process: &ProcessIdentity, now: bool) -> Result<(), Failure> {
    let ProcessIdentity { pid, host, started } = process;
    if *host != host_name() {
        let message = format!("process {pid} is on `{host}`, not on this machine");
        return Err(Failure::new(FailureKind::Unsupported, message));
    }
    match look_up(*pid) {
        Presence::Gone => return Err(has_ended(*pid)),
        // Where either is unknown, the number has to do.
        Presence::Started(found) if ![&found, started].contains(&&String::new()) => {
            if found != *started {
                return Err(has_ended(*pid));
            }
        }
        Presence::Started(_) | Presence::Unknown => {}
    }
    system::interrupt(*pid, now)
}

fn has_ended(pid: u32) -> Failure {
    Failure::new(FailureKind::NotFound, format!("process {pid} has ended"))
}

#[cfg(unix)]
mod system {
    use std::time::Duration;

    use onloop_core::effect::Failure;
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, kill_process};

    use super::has_ended;
    use crate::host::failure;

    /// Two signals at once count as one.
    const BETWEEN: Duration = Duration::from_millis(50);

    /// SIGTERM: a process in the background may ignore SIGINT, and an interactive agent gets it.
    pub(super) fn interrupt(pid: u32, now: bool) -> Result<(), Failure> {
        let id = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| has_ended(pid))?;
        kill_process(id, Signal::TERM).map_err(|error| match error {
            Errno::SRCH => has_ended(pid),
            error => failure::of(&error.into(), &format!("process {pid} cannot be interrupted")),
        })?;
        if now {
            std::thread::sleep(BETWEEN);
            // It may have ended already.
            let _ = kill_process(id, Signal::TERM);
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::Command;

    use onloop_core::effect::{Failure, FailureKind};

    use crate::host::failure;

    /// Nothing here interrupts a process without a console. It ends with its programs, and its run
    /// counts as interrupted.
    pub(super) fn interrupt(pid: u32, _now: bool) -> Result<(), Failure> {
        let what = format!("process {pid} cannot be ended");
        let words = ["/F", "/T", "/PID", &pid.to_string()];
        let ended = Command::new("taskkill").args(words).output();
        match ended.map_err(|error| failure::of(&error, &what))?.status.success() {
            true => Ok(()),
            false => Err(Failure::new(FailureKind::Denied, what)),
        }
    }
}
