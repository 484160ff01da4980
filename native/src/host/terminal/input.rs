//! Lines from a person, with Ctrl-C noticed while waiting for one.

#[cfg(not(unix))]
use std::io::Read;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, FailureKind};

use crate::host::{Interrupts, failure, interrupts};

/// Longest answer; a longer line is cut there, the rest of it is the next answer.
const ANSWER_BYTES: usize = 64 * 1024;

/// Most bytes of one read.
const CHUNK_BYTES: usize = 64 * 1024;

/// How often the size of a watched file is read.
const LOOK_AT_FILE: Duration = Duration::from_millis(250);

/// A file whose change closes a question.
#[derive(Debug)]
pub(super) struct WatchedFile {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
}

impl WatchedFile {
    /// Whether its size is another one. A file that cannot be read has not changed.
    pub(super) fn has_changed(&self) -> bool {
        self.path.metadata().is_ok_and(|metadata| metadata.len() != self.size_bytes)
    }
}

/// Standard input, line by line. Keeps what was read beyond a line itself, because what a
/// buffered reader holds back cannot be seen by `poll`.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
    /// The rest of a line that is too long is being skipped.
    skipping: bool,
}

impl Lines {
    /// Throws away what was typed up to now. A pipe is left alone: what is in it was not meant
    /// for another moment.
    pub(super) fn forget_typed(&mut self) {
        if io::stdin().is_terminal() {
            self.rest.clear();
            forget_unread();
        }
    }

    /// The next line without its line break; `None`: the watched file has another size.
    ///
    /// # Errors
    ///
    /// `Closed` at the end of input, `Interrupted`.
    pub(super) fn next(
        &mut self,
        interrupts: &Interrupts,
        watched: Option<&WatchedFile>,
    ) -> Result<Option<String>, Failure> {
        // Elsewhere a read of the terminal cannot be stopped.
        let watched = watched.filter(|_| cfg!(unix));
        let mut chunk = Vec::with_capacity(4096);
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            while !wait(interrupts, watched.map(|_| Instant::now() + LOOK_AT_FILE))? {
                if watched.is_some_and(WatchedFile::has_changed) {
                    return Ok(None);
                }
            }
            let read = read(&mut chunk);
            match read.map_err(|error| failure::of(&error, "cannot read the answer"))? {
                0 if self.rest.is_empty() => return Err(no_person()),
                0 => return Ok(Some(text(std::mem::take(&mut self.rest)))),
                _ => self.rest.extend_from_slice(&chunk),
            }
        }
    }

    /// The next complete lines, as many as one read returns; empty at the end of input. What
    /// follows the last line break at the end is a line too. `None`: no complete line has
    /// arrived within `wait_ms`.
    ///
    /// # Errors
    ///
    /// `TooLarge` for a line of more than `limit_bytes`, which is skipped to its end;
    /// `Interrupted`.
    pub(super) fn next_chunk(
        &mut self,
        limit_bytes: u64,
        wait_ms: Option<u64>,
        interrupts: &Interrupts,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
        let deadline = deadline_after(wait_ms);
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        // A line break is looked for only in what is new: long lines stay linear.
        let mut searched = 0;
        loop {
            let new = &self.rest[searched..];
            if self.skipping {
                if let Some(end) = new.iter().position(|&byte| byte == b'\n') {
                    self.rest.drain(..=searched + end);
                    self.skipping = false;
                    return Err(line_too_long(limit_bytes));
                }
                self.rest.clear();
            } else if let Some(end) = new.iter().rposition(|&byte| byte == b'\n') {
                let rest = self.rest.split_off(searched + end + 1);
                return Ok(Some(std::mem::replace(&mut self.rest, rest)));
            } else if self.rest.len() > limit {
                self.skipping = true;
                self.rest.clear();
            }
            searched = self.rest.len();
            if !wait(interrupts, deadline)? {
                return Ok(None);
            }
            let read = read(&mut chunk);
            match read.map_err(|error| failure::of(&error, "cannot read standard input"))? {
                0 if std::mem::take(&mut self.skipping) => return Err(line_too_long(limit_bytes)),
                0 => return Ok(Some(std::mem::take(&mut self.rest))),
                _ => self.rest.extend_from_slice(&chunk),
            }
        }
    }

    /// What has arrived, at most `limit_bytes`; empty at the end of input. `None`: nothing has
    /// arrived within `wait_ms`.
    ///
    /// # Errors
    ///
    /// `Interrupted`.
    pub(super) fn next_bytes(
        &mut self,
        limit_bytes: u64,
        wait_ms: Option<u64>,
        interrupts: &Interrupts,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let most = usize::try_from(limit_bytes).unwrap_or(usize::MAX).max(1);
        if self.rest.is_empty() {
            if !wait(interrupts, deadline_after(wait_ms))? {
                return Ok(None);
            }
            let mut chunk = Vec::with_capacity(most.min(CHUNK_BYTES));
            let read = read(&mut chunk);
            read.map_err(|error| failure::of(&error, "cannot read standard input"))?;
            // A vector may have room for more than it was asked to have.
            self.rest = chunk.split_off(most.min(chunk.len()));
            return Ok(Some(chunk));
        }
        let rest = self.rest.split_off(most.min(self.rest.len()));
        Ok(Some(std::mem::replace(&mut self.rest, rest)))
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

fn deadline_after(wait_ms: Option<u64>) -> Option<Instant> {
    wait_ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)))
}

/// What the system keeps of a terminal's input.
#[cfg(unix)]
fn forget_unread() {
    use rustix::termios::{QueueSelector, tcflush};
    // A terminal that cannot do it has nothing to forget.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Safe code has no means for it here.
#[cfg(not(unix))]
fn forget_unread() {}

fn text(line: Vec<u8>) -> String {
    String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()
}

/// The failure of a question without a person at the terminal.
pub(super) fn no_person() -> Failure {
    Failure::new(FailureKind::Closed, "there is no person at a terminal to answer")
}

fn line_too_long(limit_bytes: u64) -> Failure {
    let message = format!("a line of standard input is longer than {limit_bytes} bytes");
    Failure::new(FailureKind::TooLarge, message)
}

/// Reads from standard input, bypassing the buffer of the standard library, what fits into the room
/// of `chunk`, in place of what was in it. Room that nothing arrives for is not touched: filling 64 KiB
/// takes longer than judging what a hook reads into them.
#[cfg(unix)]
fn read(chunk: &mut Vec<u8>) -> io::Result<usize> {
    use rustix::buffer::spare_capacity;

    chunk.clear();
    Ok(rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), spare_capacity(chunk)))?)
}

#[cfg(not(unix))]
fn read(chunk: &mut Vec<u8>) -> io::Result<usize> {
    chunk.resize(chunk.capacity(), 0);
    let read = io::stdin().lock().read(chunk);
    chunk.truncate(*read.as_ref().unwrap_or(&0));
    read
}

/// Waits for input or an interrupt; `false`: the deadline has passed.
#[cfg(unix)]
fn wait(interrupts: &Interrupts, deadline: Option<Instant>) -> Result<bool, Failure> {
    use std::os::fd::AsFd;

    use crate::host::readiness::{self, Want};

    loop {
        let stdin = io::stdin();
        let files = [(stdin.as_fd(), Want::Input), (interrupts.fd(), Want::Input)];
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let ready = readiness::wait(&files, left);
        if interrupts.take() {
            return Err(interrupts::interrupted());
        }
        if ready.is_some_and(|ready| ready[0]) {
            return Ok(true);
        }
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(false);
        }
    }
}

/// Reading blocks here, and Ctrl-C ends the process. There is no way to see whether input is
/// available, so a caller that does not want to wait gets nothing.
#[cfg(not(unix))]
fn wait(interrupts: &Interrupts, deadline: Option<Instant>) -> Result<bool, Failure> {
    if interrupts.take() { Err(interrupts::interrupted()) } else { Ok(deadline.is_none()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_end_and_where_they_must() {
        let mut lines = Lines { rest: b"yes\r\nno\nrest".to_vec(), skipping: false };
        assert_eq!(lines.take_line().as_deref(), Some("yes"));
        assert_eq!(lines.take_line().as_deref(), Some("no"));
        assert_eq!(lines.take_line(), None);
        assert_eq!(lines.rest, b"rest");
        lines.rest = vec![b'x'; ANSWER_BYTES + 5];
        assert_eq!(lines.take_line().map(|line| line.len()), Some(ANSWER_BYTES));
        assert_eq!(lines.rest.len(), 5);
    }
}
