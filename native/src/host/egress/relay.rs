//! Carries bytes between two connections.

use std::io::{self, PipeReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use onloop_core::limits::PROXY_IDLE_MS;

use crate::host::readiness::{self, Want};

/// Bytes that are kept in each direction.
const BUFFER_BYTES: usize = 32 * 1024;

/// One direction.
struct Direction<'s> {
    from: &'s TcpStream,
    to: &'s TcpStream,
    /// Read and not yet written.
    kept: Vec<u8>,
    has_ended: bool,
    /// The other end was told of it.
    is_over: bool,
}

/// Carries bytes in both directions until both have ended, nothing comes for
/// [`PROXY_IDLE_MS`], or `stop` ends. The server is sent `first` before.
///
/// # Errors
///
/// A connection broke.
pub(super) fn relay(
    client: &TcpStream,
    server: &TcpStream,
    first: Vec<u8>,
    stop: &PipeReader,
) -> io::Result<()> {
    client.set_nonblocking(true)?;
    server.set_nonblocking(true)?;
    let mut directions =
        [Direction::new(client, server, first), Direction::new(server, client, Vec::new())];
    let idle = Duration::from_millis(PROXY_IDLE_MS);
    loop {
        for direction in &mut directions {
            direction.carry()?;
        }
        let open = directions.iter().filter(|direction| !direction.is_over);
        let mut files: Vec<(BorrowedFd<'_>, Want)> = open.map(Direction::awaited).collect();
        if files.is_empty() {
            return Ok(());
        }
        files.push((stop.as_fd(), Want::Input));
        let Some(ready) = readiness::wait(&files, Some(idle)) else { continue };
        // Silence ends it, too.
        if ready.last() == Some(&true) || !ready.contains(&true) {
            return Ok(());
        }
    }
}

impl<'s> Direction<'s> {
    fn new(from: &'s TcpStream, to: &'s TcpStream, kept: Vec<u8>) -> Direction<'s> {
        Direction { from, to, kept, has_ended: false, is_over: false }
    }

    /// What has to happen before it continues.
    fn awaited(&self) -> (BorrowedFd<'s>, Want) {
        match self.kept.is_empty() {
            true => (self.from.as_fd(), Want::Input),
            false => (self.to.as_fd(), Want::Room),
        }
    }

    /// Carries what can be carried now.
    fn carry(&mut self) -> io::Result<()> {
        let (mut from, mut to) = (self.from, self.to);
        while !self.is_over {
            if self.kept.is_empty() && self.has_ended {
                self.is_over = true;
                // It may be closed already.
                let _ = to.shutdown(Shutdown::Write);
                return Ok(());
            }
            if self.kept.is_empty() {
                let mut buffer = [0; BUFFER_BYTES];
                match unless_blocked(from.read(&mut buffer))? {
                    Some(0) => self.has_ended = true,
                    Some(count) => self.kept.extend_from_slice(&buffer[..count]),
                    None => return Ok(()),
                }
            } else {
                match unless_blocked(to.write(&self.kept))? {
                    Some(count) => drop(self.kept.drain(..count)),
                    None => return Ok(()),
                }
            }
        }
        Ok(())
    }
}

/// `None`: it would have to wait. A signal that came meanwhile is met at the next wait, too.
fn unless_blocked(done: io::Result<usize>) -> io::Result<Option<usize>> {
    use io::ErrorKind::{Interrupted, WouldBlock};
    match done {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), WouldBlock | Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}
