//! Starts programs that outlive this process and its terminal.

use std::process::{Command as OsCommand, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, FailureKind, LaunchSpec, ProcessSpec};

use super::command;
use crate::host::{Interrupts, Root, failure, files};

/// How often an interrupt is noticed while a program may still fail.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the thread that starts a program reports, in this order.
enum Report {
    /// It runs, with this number.
    Started(u32),
    /// It did not start.
    Failed(std::io::Error),
    /// It has ended.
    Ended(std::io::Result<ExitStatus>),
}

/// Starts a program, and waits up to its `wait_ms` for it to fail. `on_start` gets its number, which
/// is that of its session, too.
pub(super) fn launch(
    root: &Root,
    interrupts: &Interrupts,
    launch: &LaunchSpec,
    on_start: impl FnOnce(u32),
) -> Result<(), Failure> {
    interrupts.check()?;
    let spec = ProcessSpec::argv(&launch.argv)
        .in_folder(&launch.cwd)
        .without_env(launch.env_remove.clone());
    let mut command = command::prepare(root, &spec)?;
    let (output, errors) = streams(root, launch.log.as_deref())?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    detach(&mut command);
    let (report, reports) = channel();
    // A program is a child of the thread that starts it. The leftovers of other programs are looked
    // for among the children of other threads only.
    let thread = std::thread::Builder::new().name("launch".to_owned());
    thread
        .spawn(move || follow(command, &report))
        .map_err(|error| failure::of(&error, "cannot start a program"))?;
    match reports.recv() {
        Ok(Report::Started(pid)) => on_start(pid),
        Ok(Report::Failed(error)) => return Err(command::spawn_failure(&error, root, &spec)),
        Ok(Report::Ended(_)) | Err(_) => unreachable!("a program starts before it ends"),
    }
    let program = launch.argv.first().map_or("", String::as_str);
    match ended(&reports, interrupts, Duration::from_millis(launch.wait_ms))? {
        None => Ok(()),
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let message = format!("`{program}` ended with {status}");
            Err(Failure::new(FailureKind::Other, message))
        }
    }
}

/// Both streams of the program: the log twice, or nothing.
fn streams(root: &Root, log: Option<&str>) -> Result<(Stdio, Stdio), Failure> {
    let Some(path) = log else { return Ok((Stdio::null(), Stdio::null())) };
    let file = files::open_appended(root, path)?;
    let other = file.try_clone().map_err(|error| failure::of_path(&error, "write", path))?;
    Ok((file.into(), other.into()))
}

/// Starts the program and waits for it, so that it does not stay in the process table.
fn follow(mut command: OsCommand, report: &Sender<Report>) {
    let started = command.spawn();
    // The log is not kept open here.
    drop(command);
    // Nobody receives a report after the wait.
    let _ = match started {
        Err(error) => report.send(Report::Failed(error)),
        Ok(mut child) => {
            let _ = report.send(Report::Started(child.id()));
            report.send(Report::Ended(child.wait()))
        }
    };
}

/// How the program ended, if it does within `wait`.
fn ended(
    reports: &Receiver<Report>,
    interrupts: &Interrupts,
    wait: Duration,
) -> Result<Option<ExitStatus>, Failure> {
    let end = Instant::now().checked_add(wait);
    loop {
        let left = end.map_or(LOOK_EVERY, |end| end.saturating_duration_since(Instant::now()));
        match reports.recv_timeout(left.min(LOOK_EVERY)) {
            Ok(Report::Ended(status)) => {
                let status = status.map_err(|error| failure::of(&error, "cannot follow a process"));
                return status.map(Some);
            }
            Ok(Report::Started(_) | Report::Failed(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Ok(None);
            }
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => interrupts.check()?,
        }
    }
}

/// Files above this number stay open: no program that starts onloop has so many.
#[cfg(unix)]
const INHERITED_FILES: libc::c_int = 1024;

/// Gives the program a session of its own, which no terminal belongs to, and only its own files.
#[cfg(unix)]
#[expect(unsafe_code, reason = "no safe form of these calls exists")]
fn detach(command: &mut OsCommand) {
    use std::os::unix::process::CommandExt;

    let begin = || {
        rustix::process::setsid()?;
        for number in 3..INHERITED_FILES {
            // SAFETY: a number without a file is an error, which changes nothing.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        Ok(())
    };
    // SAFETY: neither call allocates or locks.
    unsafe { command.pre_exec(begin) };
}

/// Gives the program neither our console nor our Ctrl-C.
#[cfg(windows)]
fn detach(command: &mut OsCommand) {
    use std::os::windows::process::CommandExt;

    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}
