//! The pipes of a running program: fed, drained, kept and copied without ever blocking.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use onloop_core::effect::{Capture, ProcessSpec};
use rustix::io::ioctl_fionbio;

use super::capture::Keeper;
use crate::host::{Progress, failure};

/// Bytes read at once: what a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks read from one stream before the others get their turn.
const CHUNKS_PER_TURN: usize = 16;

/// All three standard streams of a program, as seen from our side.
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
}

struct Log {
    file: File,
    path: String,
}

/// One of the streams, for `poll`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Stdin,
    Stdout,
    Stderr,
}

impl Streams {
    /// Takes over the pipes of `child`; an interactive one has none.
    pub(super) fn new(
        child: &mut Child,
        spec: &ProcessSpec,
        log: Option<File>,
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
        let path = spec.stream_to.clone().unwrap_or_default();
        Ok(Streams {
            stdin,
            stdout: Stream { pipe: stdout, keeper: Keeper::new(spec.capture_bytes) },
            stderr: Stream { pipe: stderr, keeper: Keeper::new(spec.capture_bytes) },
            log: log.map(|file| Log { file, path }),
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

    /// Whether both output streams have ended.
    pub(super) fn ended(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Nobody reads our input any more.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Moves what can be moved now.
    pub(super) fn serve(&mut self, which: Which, progress: &mut dyn Progress) {
        let Streams { stdin, stdout, stderr, log, chunk } = self;
        match which {
            Which::Stdin => feed(stdin),
            Which::Stdout => stdout.drain(chunk, log, progress),
            Which::Stderr => stderr.drain(chunk, log, progress),
        }
    }

    pub(super) fn finish(self) -> (Capture, Capture) {
        (self.stdout.keeper.finish(), self.stderr.keeper.finish())
    }
}

/// Writes what the pipe takes. A program that does not read all of its input is not a failure.
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
    fn drain(&mut self, chunk: &mut [u8], log: &mut Option<Log>, progress: &mut dyn Progress) {
        for _ in 0..CHUNKS_PER_TURN {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(chunk) {
                Ok(0) => self.pipe = None,
                Ok(len) => {
                    let bytes = &chunk[..len];
                    self.keeper.push(bytes);
                    progress.output(bytes);
                    write_log(log, bytes, progress);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// A log that cannot be written ends early and says so; the program it follows continues,
/// because its work is worth more than its log.
fn write_log(log: &mut Option<Log>, bytes: &[u8], progress: &mut dyn Progress) {
    if let Some(Log { file, path }) = log
        && let Err(error) = file.write_all(bytes)
    {
        let reason = failure::reason(&error);
        progress.warn(&format!("the log `{path}` ends early: {reason}"));
        *log = None;
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Warnings(Vec<String>);

    impl Progress for Warnings {
        fn tick_every_ms(&self) -> Option<u64> {
            None
        }

        fn tick(&mut self) {}

        fn output(&mut self, _bytes: &[u8]) {}

        fn warn(&mut self, message: &str) {
            self.0.push(message.to_owned());
        }
    }

    #[test]
    fn a_log_on_a_full_disk_ends_with_one_warning_and_the_stream_goes_on() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut log = Some(Log { file, path: "a.log".to_owned() });
        let mut warnings = Warnings::default();
        let mut stream = Stream { pipe: Some(&b"some output"[..]), keeper: Keeper::new(100) };
        stream.drain(&mut [0; 4], &mut log, &mut warnings);
        assert_eq!(stream.keeper.finish().head, *b"some output");
        assert_eq!(
            warnings.0,
            ["the log `a.log` ends early: no space is left on the device; free some and try again"]
        );
    }
}
