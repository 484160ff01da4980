//! A program that ends with whoever started it.

use std::ffi::OsString;
use std::io;

/// Becomes the program `line`, which the system kills as soon as process `parent`, which started this one,
/// has ended.
///
/// # Errors
///
/// Why it did not: whoever calls this goes on only then.
#[cfg(unix)]
pub fn become_guarded(parent: u32, line: &[OsString]) -> io::Error {
    use std::os::unix::process::CommandExt;

    #[cfg(target_os = "linux")]
    if let Err(error) =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
    {
        return error.into();
    }
    // It may have ended before the system was told.
    let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    if now.and_then(|pid| u32::try_from(pid).ok()) != Some(parent) {
        return io::Error::other("whoever started this has ended");
    }
    match line.split_first() {
        Some((program, arguments)) => std::process::Command::new(program).args(arguments).exec(),
        None => io::Error::other("no program is named"),
    }
}
