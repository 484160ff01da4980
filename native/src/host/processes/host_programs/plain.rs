//! Running them with nothing but the standard library: for systems without process groups.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{Bounds, HostProgramEnd, HostProgramError, HostPrograms, STDERR_BYTES};
use crate::host::failure;

/// An interrupt does not end them here: Ctrl-C ends us.
pub(super) fn run(
    _programs: &HostPrograms,
    mut command: Command,
    input: &[u8],
    bounds: Bounds,
) -> Result<HostProgramEnd, HostProgramError> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(HostProgramError::Unstarted)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (done, waits) = mpsc::channel();
    // Not joined: what the program left behind may hold its pipes open after it was killed.
    if let Some(mut stdin) = stdin {
        let input = input.to_vec();
        thread::spawn(move || {
            // A program that stops reading early has its own reasons and reports them.
            let _ = stdin.write_all(&input);
        });
    }
    let errors = thread::spawn(move || read_up_to(stderr, STDERR_BYTES));
    thread::spawn(move || {
        let said = read_up_to(stdout, bounds.limit_bytes);
        let _ = done.send((said, errors.join().unwrap_or_default()));
    });
    let end = match waits.recv_timeout(Duration::from_millis(bounds.timeout_ms)) {
        Err(_) => HostProgramEnd::TimedOut(None),
        Ok((said, _)) if said.len() as u64 > bounds.limit_bytes => HostProgramEnd::TooLarge,
        Ok((stdout, stderr)) => {
            let status = child.wait().map_err(|error| lost(&error))?;
            return Ok(HostProgramEnd::Ended { exit: status.code().unwrap_or(-1), stdout, stderr });
        }
    };
    let _ = child.kill();
    child.wait().map_err(|error| lost(&error))?;
    Ok(end)
}

fn lost(error: &std::io::Error) -> HostProgramError {
    HostProgramError::Failed(failure::of(error, "cannot wait"))
}

/// One byte more than the limit where there is more.
fn read_up_to(stream: Option<impl Read>, limit_bytes: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let _ = stream.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes);
    }
    bytes
}
