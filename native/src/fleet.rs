//! Finds the program `onloop-fleet` beside this one or on `PATH`, as git finds its subcommands.
//! This keeps the fleet out of the ordinary binary.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use onloop_core::effect::Exit;

use crate::{complain, start};

/// Verbs that show or change runs, which can be runs of a fleet.
const SHOWING: [&str; 9] =
    ["status", "list", "watch", "web", "next", "report", "summary", "diff", "receipt"];
const CHANGING: [&str; 12] = [
    "approve", "reject", "gate", "stop", "abandon", "resume", "step", "finalize", "finish", "undo",
    "relocate", "adopt",
];

/// Replaces this process by the fleet's program if the command line is for it.
pub(crate) fn delegate() -> Option<ExitCode> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let verb = words.first()?.to_str()?;
    let is_own = verb == "fleet" || (verb == "run" && words.iter().any(names_place));
    let changes = CHANGING.contains(&verb);
    if !is_own && !((changes || SHOWING.contains(&verb)) && knows_fleet()) {
        return None;
    }
    match program() {
        Some(program) => Some(become_program(&program, &words)),
        // Core prints what is missing.
        None if is_own => None,
        None if changes => {
            complain(
                "this machine knows a fleet, and the program `onloop-fleet` is neither beside this one \
                 nor on PATH\n  Without it the records of the fleet's runs cannot be changed. Install it, in a \
                 checkout of onloop:\n    cargo install --locked --path native/fleet",
            );
            Some(ExitCode::from(Exit::Refused.code()))
        }
        None => None,
    }
}

fn names_place(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| word == "--on" || word.starts_with("--on="))
}

/// Variable with the address of a fleet's server.
const SERVER: &str = "ONLOOP_FLEET_SERVER";

/// Whether this machine has a fleet's server configured.
fn knows_fleet() -> bool {
    if std::env::var_os(SERVER).is_some_and(|server| !server.is_empty()) {
        return true;
    }
    start::state_home().is_some_and(|home| Path::new(&home).join("fleet/server.json").exists())
}

fn program() -> Option<PathBuf> {
    let name = format!("onloop-fleet{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(&name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    beside.into_iter().chain(on_path.map(|folder| folder.join(&name))).find(|path| path.is_file())
}

#[cfg(unix)]
fn become_program(program: &Path, words: &[OsString]) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    // Help shows the name as typed, and the old name has its own exit codes.
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    let error = command.args(words).exec();
    failed(program, &error)
}

#[cfg(not(unix))]
fn become_program(program: &Path, words: &[OsString]) -> ExitCode {
    match Command::new(program).args(words).status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            ExitCode::from(code.unwrap_or(Exit::Bug.code()))
        }
        Err(error) => failed(program, &error),
    }
}

fn failed(program: &Path, error: &std::io::Error) -> ExitCode {
    complain(&format!("`{}` could not be started: {error}", program.display()));
    ExitCode::from(Exit::Refused.code())
}
