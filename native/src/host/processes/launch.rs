//! Starts programs that outlive this process.

use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, FailureKind, ProcessSpec};

use super::command;
use crate::host::{Interrupts, Root};

/// Exit code of a shell for a missing program.
const NO_SUCH_PROGRAM: i32 = 127;

/// Starts a program, and waits up to `wait` for it to fail.
pub(super) fn launch(
    root: &Root,
    interrupts: &Interrupts,
    argv: &[String],
    wait: Duration,
) -> Result<(), Failure> {
    interrupts.check()?;
    let spec = ProcessSpec::argv(argv);
    // An invalid command is refused before a shell interprets it.
    command::prepare(root, &spec)?;
    let code = system::launch(root, interrupts, &spec, Instant::now().checked_add(wait))?;
    let program = argv.first().map_or("", String::as_str);
    match code {
        None | Some(0) => Ok(()),
        Some(NO_SUCH_PROGRAM) => Err(command::no_such_program(program)),
        Some(code) => {
            let message = format!("`{program}` ended with exit code {code}");
            Err(Failure::new(FailureKind::Other, message))
        }
    }
}

#[cfg(unix)]
mod system {
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::process::{ChildStdout, Stdio};
    use std::time::Instant;

    use onloop_core::effect::{Command, Failure, ProcessSpec};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::super::command;
    use crate::host::{Interrupts, Root, failure};

    /// The shell ends at once. Its background process writes the program's exit code to the pipe.
    const DETACH: &str = r#"("$@" >/dev/null 2>&1; echo $?) &"#;

    /// The exit code of a program that ends before `end`.
    pub(super) fn launch(
        root: &Root,
        interrupts: &Interrupts,
        spec: &ProcessSpec,
        end: Option<Instant>,
    ) -> Result<Option<i32>, Failure> {
        let Command::Argv(words) = &spec.command else { unreachable!("it has words") };
        let shell = ["sh", "-c", DETACH, "sh"];
        let words = shell.into_iter().chain(words.iter().map(String::as_str));
        let spec = ProcessSpec::argv(words);
        let mut command = command::prepare(root, &spec)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut shell =
            command.spawn().map_err(|error| command::spawn_failure(&error, root, &spec))?;
        let from = shell.stdout.take();
        shell.wait().map_err(|error| failure::of(&error, "cannot start a program"))?;
        match from {
            Some(from) => said(from, interrupts, end),
            None => Ok(None),
        }
    }

    /// The exit code that is written before `end`.
    fn said(
        mut from: ChildStdout,
        interrupts: &Interrupts,
        end: Option<Instant>,
    ) -> Result<Option<i32>, Failure> {
        loop {
            interrupts.check()?;
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            let interrupt = interrupts.fd();
            let mut fds =
                [PollFd::new(&from, PollFlags::IN), PollFd::new(&interrupt, PollFlags::IN)];
            let _ = poll(&mut fds, timeout.as_ref());
            if !fds[0].revents().is_empty() {
                let mut code = String::new();
                // It is one short line, written at once.
                let _ = from.read_to_string(&mut code);
                return Ok(code.trim().parse().ok());
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use onloop_core::effect::{Failure, ProcessSpec};

    use super::super::command;
    use crate::host::{Interrupts, Root, failure};

    /// How often the program's end is checked.
    const LOOK_EVERY: Duration = Duration::from_millis(20);

    /// The exit code of a program that ends before `end`. Nothing here ends with its parent.
    pub(super) fn launch(
        root: &Root,
        interrupts: &Interrupts,
        spec: &ProcessSpec,
        end: Option<Instant>,
    ) -> Result<Option<i32>, Failure> {
        let mut command = command::prepare(root, spec)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child =
            command.spawn().map_err(|error| command::spawn_failure(&error, root, spec))?;
        loop {
            let ended = child.try_wait();
            if let Some(status) =
                ended.map_err(|error| failure::of(&error, "cannot follow a process"))?
            {
                return Ok(status.code());
            }
            if end.is_some_and(|end| end <= Instant::now()) {
                return Ok(None);
            }
            interrupts.sleep(LOOK_EVERY)?;
        }
    }
}
