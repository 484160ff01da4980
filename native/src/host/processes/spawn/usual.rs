//! Starting a program as the standard library does, which nothing confines.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command as OsCommand;

use onloop_core::effect::ProcessSpec;
use rustix::process::Pid;

use crate::host::confine::Restrictions;
use crate::host::processes::child::{Child, Place};
use crate::host::processes::command::connect;

/// Starts `command` with the streams of `spec`. Nothing ends it with us.
///
/// # Errors
///
/// What the system says about the program or its folder.
pub(in crate::host::processes) fn spawn(
    command: &mut OsCommand,
    spec: &ProcessSpec,
    place: Place,
    _restrictions: Option<&Restrictions>,
) -> io::Result<Child> {
    connect(command, spec);
    if place != Place::OurGroup {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    Ok(Child {
        pid: Pid::from_child(&child),
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
    })
}
