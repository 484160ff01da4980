//! A flag that one thread raises and another waits for in `poll`.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag with a pipe that is readable exactly while it is raised.
#[derive(Debug)]
pub(super) struct WakePipe {
    /// Each change to `true` writes one byte to the pipe and each change to `false` reads one.
    raised: AtomicBool,
    reader: PipeReader,
    writer: PipeWriter,
}

impl WakePipe {
    /// Not raised.
    pub(super) fn new() -> std::io::Result<WakePipe> {
        let (reader, writer) = std::io::pipe()?;
        Ok(WakePipe { raised: AtomicBool::new(false), reader, writer })
    }

    pub(super) fn raise(&self) {
        if !self.raised.swap(true, Ordering::SeqCst) {
            // The pipe holds at most one byte, so this cannot block; it cannot fail either,
            // because we hold the other end.
            let _ = (&self.writer).write(&[0]);
        }
    }

    /// Whether it is raised; it stays so.
    pub(super) fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Whether it was raised; it is not any more.
    pub(super) fn take(&self) -> bool {
        let taken = self.raised.swap(false, Ordering::SeqCst);
        if taken {
            let _ = (&self.reader).read(&mut [0]);
        }
        taken
    }

    /// Readable while it is raised.
    #[cfg(unix)]
    pub(super) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.reader)
    }
}
