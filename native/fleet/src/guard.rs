//! A program that ends together with its parent.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::getppid;

/// How a program ends when its parent has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Ending {
    /// At once, because it has no state to save.
    Kill,
    /// By a request.
    Term,
}

impl Ending {
    /// Returns its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Kill => "kill",
            Ending::Term => "term",
        }
    }
}

/// Replaces this process by the program `line`, which Linux ends as soon as its parent `parent` has
/// ended. Other systems do not end it.
///
/// # Errors
///
/// Why the program could not be started; the function returns only then.
pub fn become_guarded(parent: u32, ending: Ending, line: &[OsString]) -> io::Error {
    if let Err(error) = end_with_parent(ending) {
        return error;
    }
    // The parent may have ended before the system was told to watch it.
    let now = getppid().map(|pid| pid.as_raw_nonzero().get());
    if now.and_then(|pid| u32::try_from(pid).ok()) != Some(parent) {
        return io::Error::other("the parent process has ended");
    }
    let Some((program, arguments)) = line.split_first() else {
        return io::Error::other("no program is named");
    };
    let error = Command::new(program).args(arguments).exec();
    io::Error::new(error.kind(), format!("cannot start {}: {error}", program.to_string_lossy()))
}

#[cfg(target_os = "linux")]
fn end_with_parent(ending: Ending) -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    let signal = match ending {
        Ending::Kill => Signal::KILL,
        Ending::Term => Signal::TERM,
    };
    set_parent_process_death_signal(Some(signal)).map_err(Into::into)
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent(_: Ending) -> io::Result<()> {
    Ok(())
}
