//! The pipes of a running program, served without blocking.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use onloop_core::effect::{Capture, ProcessSpec};
use rustix::io::ioctl_fionbio;

use super::capture::Keeper;
use super::child::Child;
use super::log::{Log, Source};
use crate::host::Progress;

/// Bytes of one read: the size of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;
/// Most chunks of one stream before the others are served.
const CHUNKS_PER_TURN: usize = 16;

/// Our ends of a program's three standard streams.
pub(super) struct Streams {
    stdin: Option<Input>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    log: Option<Log>,
    chunk: Vec<u8>,
}

/// Input that has not been written to the program yet.
struct Input {
    pipe: ChildStdin,
    bytes: Vec<u8>,
    written: usize,
}

struct Stream<P> {
    /// `None` after its end.
    pipe: Option<P>,
    keeper: Keeper,
    /// Output that was not delivered; `None`: the caller wants it only at the end.
    unread: Option<Vec<u8>>,
}

/// One of the streams, for `poll`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Stdin,
    Stdout,
    Stderr,
}

impl Streams {
    /// Takes the pipes of `child`; an interactive one has none.
    pub(super) fn new(
        child: &mut Child,
        spec: &ProcessSpec,
        log: Option<Log>,
    ) -> io::Result<Streams> {
        let stdin = child.stdin.take().zip(spec.stdin.clone());
        let stdin = stdin.map(|(pipe, bytes)| Input { pipe, bytes: bytes.into(), written: 0 });
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        if let Some(stdin) = &stdin {
            ioctl_fionbio(&stdin.pipe, true)?;
        }
        if let Some(stdout) = &stdout {
            ioctl_fionbio(stdout, true)?;
        }
        if let Some(stderr) = &stderr {
            ioctl_fionbio(stderr, true)?;
        }
        Ok(Streams {
            stdin,
            stdout: Stream {
                pipe: stdout,
                keeper: Keeper::new(spec.capture_bytes),
                unread: spec.wake_on_lines.then(Vec::new),
            },
            stderr: Stream { pipe: stderr, keeper: Keeper::new(spec.capture_bytes), unread: None },
            log,
            chunk: vec![0; CHUNK_BYTES],
        })
    }

    /// The streams that are still open.
    pub(super) fn open(&self) -> impl Iterator<Item = (Which, BorrowedFd<'_>)> {
        let stdin = self.stdin.as_ref().map(|input| (Which::Stdin, input.pipe.as_fd()));
        let stdout = self.stdout.pipe.as_ref().map(|pipe| (Which::Stdout, pipe.as_fd()));
        let stderr = self.stderr.pipe.as_ref().map(|pipe| (Which::Stderr, pipe.as_fd()));
        [stdin, stdout, stderr].into_iter().flatten()
    }

    /// Whether an undelivered line, or a long part of one, is there.
    pub(super) fn has_lines(&self) -> bool {
        let unread = self.stdout.unread.as_deref().unwrap_or_default();
        unread.len() >= CHUNK_BYTES || unread.contains(&b'\n')
    }

    /// Takes the undelivered output.
    pub(super) fn take_lines(&mut self) -> Vec<u8> {
        self.stdout.unread.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether both output streams have ended.
    pub(super) fn ended(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Closes the program's standard input, which is not read any more.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Transfers the bytes that are available.
    pub(super) fn serve(&mut self, which: Which, progress: &mut dyn Progress) {
        let Streams { stdin, stdout, stderr, log, chunk } = self;
        match which {
            Which::Stdin => feed(stdin),
            Which::Stdout => stdout.drain(Source::Stdout, chunk, log, progress),
            Which::Stderr => stderr.drain(Source::Stderr, chunk, log, progress),
        }
    }

    pub(super) fn finish(mut self, progress: &mut dyn Progress) -> (Capture, Capture) {
        if let Some(log) = &mut self.log {
            log.finish(progress);
        }
        (self.stdout.keeper.finish(), self.stderr.keeper.finish())
    }
}

/// Writes what the pipe accepts. A program may ignore the rest of its input.
fn feed(stdin: &mut Option<Input>) {
    let Some(input) = stdin else { return };
    while input.written < input.bytes.len() {
        match input.pipe.write(&input.bytes[input.written..]) {
            Ok(0) => break,
            Ok(written) => input.written += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => break,
        }
    }
    *stdin = None;
}

impl<P: Read> Stream<P> {
    fn drain(
        &mut self,
        source: Source,
        chunk: &mut [u8],
        log: &mut Option<Log>,
        progress: &mut dyn Progress,
    ) {
        for _ in 0..CHUNKS_PER_TURN {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(chunk) {
                Ok(0) => self.pipe = None,
                Ok(len) => {
                    let bytes = &chunk[..len];
                    self.keeper.push(bytes);
                    match &mut self.unread {
                        // The caller says what it means.
                        Some(unread) => unread.extend_from_slice(bytes),
                        None => progress.output(bytes),
                    }
                    if let Some(log) = log {
                        log.push(source, bytes, progress);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}
