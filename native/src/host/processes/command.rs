//! Builds the command of the standard library from a specification.

use std::io;
use std::path::Path;
use std::process::Command as OsCommand;
#[cfg(any(not(target_os = "linux"), test))]
use std::process::Stdio;

use onloop_core::effect::{Command, Failure, FailureKind, ProcessSpec, Shell};

use crate::host::{Root, failure};

/// Returns the command, without its streams.
///
/// # Errors
///
/// `Invalid` for a command that no system can start: no program, a NUL, a variable without a name.
pub(super) fn prepare(root: &Root, spec: &ProcessSpec) -> Result<OsCommand, Failure> {
    let words = words(&spec.command);
    let Some((program, arguments)) = words.split_first().filter(|(program, _)| !program.is_empty())
    else {
        return Err(invalid("a command without a program cannot be run"));
    };
    if words.iter().any(|word| word.contains('\0')) {
        return Err(invalid("a command with a NUL in it cannot be run"));
    }
    let mut command = OsCommand::new(program);
    match &spec.command {
        Command::Shell { shell: Shell::Cmd, line } => for_cmd(&mut command, line),
        Command::Shell { .. } | Command::Argv(_) => {
            command.args(arguments);
        }
    }
    command.current_dir(root.resolve(&spec.cwd)?);
    for name in &spec.env_remove {
        command.env_remove(variable(name, "")?);
    }
    for (name, value) in &spec.env_set {
        command.env(variable(name, value)?, value);
    }
    Ok(command)
}

/// Connects the streams of a command to pipes or to the terminal.
#[cfg(any(not(target_os = "linux"), test))]
pub(super) fn connect(command: &mut OsCommand, spec: &ProcessSpec) {
    if spec.interactive {
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        let stdin = if spec.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
}

fn words(command: &Command) -> Vec<&str> {
    match command {
        Command::Argv(words) => words.iter().map(String::as_str).collect(),
        Command::Shell { shell, line } => match shell {
            Shell::Bash => vec!["bash", "-c", line],
            Shell::Sh => vec!["sh", "-c", line],
            Shell::Pwsh => vec!["pwsh", "-NoProfile", "-Command", line],
            Shell::Cmd => vec!["cmd", "/D", "/S", "/C", line],
        },
    }
}

/// `cmd` reads its line as it is written, and not as programs in C read theirs. Between the outer quotes
/// everything is the line, whatever it quotes itself.
#[cfg(windows)]
fn for_cmd(command: &mut OsCommand, line: &str) {
    use std::os::windows::process::CommandExt;
    command.args(["/D", "/S", "/C"]).raw_arg(format!("\"{line}\""));
}

/// Other systems have no `cmd`.
#[cfg(not(windows))]
fn for_cmd(command: &mut OsCommand, line: &str) {
    command.args(["/D", "/S", "/C"]).arg(format!("\"{line}\""));
}

fn variable<'a>(name: &'a str, value: &str) -> Result<&'a str, Failure> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        let shown = name.replace('\0', "\\0");
        return Err(invalid(&format!("`{shown}` cannot be set as an environment variable")));
    }
    Ok(name)
}

fn invalid(message: &str) -> Failure {
    Failure::new(FailureKind::Invalid, message)
}

/// Describes why a program did not start. The system reports a missing folder like a missing
/// program, so this distinguishes them.
pub(super) fn spawn_failure(error: &io::Error, root: &Root, spec: &ProcessSpec) -> Failure {
    let program = words(&spec.command).first().copied().unwrap_or_default().to_owned();
    let what = format!("cannot run `{program}`");
    let cwd = root.resolve(&spec.cwd);
    if !cwd.as_deref().is_ok_and(Path::is_dir) {
        let message = format!("{what}: its folder `{}` does not exist", spec.cwd);
        return Failure::new(FailureKind::Invalid, message);
    }
    if error.kind() == io::ErrorKind::NotFound {
        return no_such_program(&program);
    }
    if is_no_format(error) {
        let message = format!("{what}: it is neither a program nor a script that begins with `#!`");
        return Failure::new(FailureKind::Invalid, message);
    }
    failure::of(error, &what)
}

/// Nothing has that name.
pub(super) fn no_such_program(program: &str) -> Failure {
    let place = if program.contains('/') { "at that path" } else { "on `PATH`" };
    let message = format!("cannot run `{program}`: there is no such program {place}");
    Failure::new(FailureKind::NotFound, message)
}

#[cfg(unix)]
fn is_no_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error())
}

#[cfg(not(unix))]
fn is_no_format(_error: &io::Error) -> bool {
    false
}
