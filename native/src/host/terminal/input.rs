//! Lines from a person, with Ctrl-C noticed while waiting for one.

use std::io::{self, Read};

use onloop_core::program::{Failure, FailureKind};

use crate::host::{Interrupts, failure, interrupts};

/// Longest answer; a longer line is cut there, the rest of it is the next answer.
const ANSWER_BYTES: usize = 64 * 1024;

/// Standard input, line by line. Keeps what was read beyond a line itself, because what a
/// buffered reader holds back cannot be seen by `poll`.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// The next line without its line break.
    ///
    /// # Errors
    ///
    /// `Closed` at the end of input, `Interrupted`.
    pub(super) fn next(&mut self, interrupts: &Interrupts) -> Result<String, Failure> {
        let mut stdin = Unbuffered;
        let mut chunk = [0; 4096];
        loop {
            if let Some(line) = self.take_line() {
                return Ok(line);
            }
            wait(interrupts)?;
            let read = stdin.read(&mut chunk);
            match read.map_err(|error| failure::of(&error, "cannot read the answer"))? {
                0 if self.rest.is_empty() => return Err(nobody()),
                0 => return Ok(text(std::mem::take(&mut self.rest))),
                len => self.rest.extend_from_slice(&chunk[..len]),
            }
        }
    }

    fn take_line(&mut self) -> Option<String> {
        let end = match self.rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => end + 1,
            None if self.rest.len() >= ANSWER_BYTES => ANSWER_BYTES,
            None => return None,
        };
        let rest = self.rest.split_off(end);
        Some(text(std::mem::replace(&mut self.rest, rest)))
    }
}

fn text(line: Vec<u8>) -> String {
    String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()
}

/// The failure of a question that nobody can answer.
pub(super) fn nobody() -> Failure {
    Failure::new(FailureKind::Closed, "nobody is at the terminal to answer")
}

/// Standard input past the buffer of the standard library.
struct Unbuffered;

#[cfg(unix)]
impl Read for Unbuffered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut *buffer))?)
    }
}

#[cfg(not(unix))]
impl Read for Unbuffered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        io::stdin().lock().read(buffer)
    }
}

/// Until standard input has something, or an interrupt.
#[cfg(unix)]
fn wait(interrupts: &Interrupts) -> Result<(), Failure> {
    use rustix::event::{PollFd, PollFlags, poll};

    loop {
        let (stdin, interrupt) = (io::stdin(), interrupts.fd());
        let mut fds = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::from_borrowed_fd(interrupt, PollFlags::IN),
        ];
        // An error means that a signal handler ran: look again.
        let polled = poll(&mut fds, None).is_ok();
        if interrupts.take() {
            return Err(interrupts::interrupted());
        }
        if polled && !fds[0].revents().is_empty() {
            return Ok(());
        }
    }
}

/// Here reading itself waits, and Ctrl-C ends the process.
#[cfg(not(unix))]
fn wait(interrupts: &Interrupts) -> Result<(), Failure> {
    if interrupts.take() { Err(interrupts::interrupted()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_end_and_where_they_must() {
        let mut lines = Lines { rest: b"yes\r\nno\nrest".to_vec() };
        assert_eq!(lines.take_line().as_deref(), Some("yes"));
        assert_eq!(lines.take_line().as_deref(), Some("no"));
        assert_eq!(lines.take_line(), None);
        assert_eq!(lines.rest, b"rest");
        lines.rest = vec![b'x'; ANSWER_BYTES + 5];
        assert_eq!(lines.take_line().map(|line| line.len()), Some(ANSWER_BYTES));
        assert_eq!(lines.rest.len(), 5);
    }
}
