//! The log of one program: both streams as they come, without secrets.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use onloop_core::effect::{RedactedStream, Redaction};

use crate::host::{Progress, failure};

/// One of the two streams that come into a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Stdout,
    Stderr,
}

/// A log that is being written; `None` after it could not be.
pub(super) struct Log {
    open: Option<File>,
    path: String,
    /// A secret may lie across two chunks of one stream.
    streams: [RedactedStream; 2],
}

impl Log {
    /// A log that goes on in `file`, behind what is there.
    pub(super) fn new(file: File, path: &str, redaction: &Arc<Redaction>) -> Log {
        let stream = || RedactedStream::new(redaction.clone());
        Log { open: Some(file), path: path.to_owned(), streams: [stream(), stream()] }
    }

    /// Adds what came. A log that cannot be written ends early and says so; the program it follows
    /// goes on, because its work is worth more than its log.
    pub(super) fn push(&mut self, source: Source, bytes: &[u8], progress: &mut dyn Progress) {
        if let Some(open) = &mut self.open {
            let written = open.write_all(&self.streams[source as usize].push(bytes));
            self.check(written, progress);
        }
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, progress: &mut dyn Progress) {
        let Some(open) = &mut self.open else { return };
        let mut written = Ok(());
        for stream in &mut self.streams {
            written = written.and_then(|()| open.write_all(&stream.finish()));
        }
        self.check(written, progress);
    }

    fn check(&mut self, written: io::Result<()>, progress: &mut dyn Progress) {
        if let Err(error) = written {
            let reason = failure::reason(&error);
            progress.warn(&format!("the log `{}` ends early: {reason}", self.path));
            self.open = None;
        }
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

    fn redaction() -> Arc<Redaction> {
        let env = [("A_KEY".to_owned(), "hush-hush".to_owned())];
        Arc::new(Redaction::new(&env.into_iter().collect()))
    }

    #[test]
    fn a_log_on_a_full_disk_ends_with_one_warning() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut log = Log::new(file, "a.log", &redaction());
        let mut warnings = Warnings::default();
        for _ in 0..3 {
            log.push(Source::Stdout, b"some output", &mut warnings);
        }
        log.finish(&mut warnings);
        assert_eq!(
            warnings.0,
            ["the log `a.log` ends early: no space is left on the device; free some and try again"]
        );
    }

    #[test]
    fn secrets_stay_out_across_chunks_while_both_streams_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = Log::new(File::create(&path).unwrap(), "a.log", &redaction());
        let mut warnings = Warnings::default();
        for (source, chunk) in [
            (Source::Stdout, "one hush"),
            (Source::Stderr, "two hush-h"),
            (Source::Stdout, "-hush\n"),
            (Source::Stderr, "ush\nhush"),
        ] {
            log.push(source, chunk.as_bytes(), &mut warnings);
        }
        log.finish(&mut warnings);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "one two [redacted A_KEY]\n[redacted A_KEY]\nhush");
        assert!(warnings.0.is_empty());
    }
}
