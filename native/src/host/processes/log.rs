//! The log of one program: both streams in their order, without secrets and bounded.
//!
//! The head and the tail are kept. The tail is always on the disk, for readers and for a crash. So
//! the file may grow to twice its bound before its older half is dropped.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;

use onloop_core::effect::{RedactedStream, Redaction};
use onloop_core::limits::{LOG_HEAD_BYTES, LOG_TAIL_BYTES};

use crate::host::{Progress, failure};

/// One of the two streams that come into a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Stdout,
    Stderr,
}

/// A log that is being written; `None` after it could not be.
pub(super) struct Log {
    open: Option<Open>,
    path: String,
    /// A secret may lie across two chunks of one stream.
    streams: [RedactedStream; 2],
}

struct Open {
    file: File,
    tail_bytes: usize,
    /// What may still be written before the end begins.
    head_room: usize,
    /// Where the end begins; what somebody wrote earlier is before it.
    head_end: u64,
    /// What is in the file behind the head and the line that says what was left out.
    tail: Vec<u8>,
    omitted_bytes: u64,
}

impl Log {
    /// Continues the log `file` after its content.
    pub(super) fn new(file: File, path: &str, redaction: &Arc<Redaction>) -> Log {
        Log::bounded(file, path, redaction, LOG_HEAD_BYTES, LOG_TAIL_BYTES)
    }

    fn bounded(
        mut file: File,
        path: &str,
        redaction: &Arc<Redaction>,
        head_bytes: usize,
        tail_bytes: usize,
    ) -> Log {
        // A file without positions is not a regular file and has no bound.
        let head_end = file.seek(SeekFrom::End(0)).unwrap_or(0);
        let (tail, omitted_bytes) = (Vec::new(), 0);
        let head_room = head_bytes;
        let open = Open { file, tail_bytes, head_room, head_end, tail, omitted_bytes };
        let stream = || RedactedStream::new(redaction.clone());
        Log { open: Some(open), path: path.to_owned(), streams: [stream(), stream()] }
    }

    /// Appends output. If a write fails, the log ends with a warning; the program continues,
    /// because its work is worth more.
    pub(super) fn push(&mut self, source: Source, bytes: &[u8], progress: &mut dyn Progress) {
        if let Some(open) = &mut self.open {
            let written = open.push(&self.streams[source as usize].push(bytes));
            self.check(written, progress);
        }
    }

    /// Ends the log.
    pub(super) fn finish(&mut self, progress: &mut dyn Progress) {
        let Some(open) = &mut self.open else { return };
        let mut written = Ok(());
        for stream in &mut self.streams {
            written = written.and_then(|()| open.push(&stream.finish()));
        }
        let written = written.and_then(|()| open.finish());
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

impl Open {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (head, rest) = bytes.split_at(self.head_room.min(bytes.len()));
        self.file.write_all(head)?;
        self.head_room -= head.len();
        self.head_end += head.len() as u64;
        for part in rest.chunks(self.tail_bytes.max(1)) {
            if self.tail.len() + part.len() > 2 * self.tail_bytes {
                self.make_room()?;
            }
            self.file.write_all(part)?;
            self.tail.extend(part);
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.tail.len() > self.tail_bytes { self.make_room() } else { Ok(()) }
    }

    /// Drops all but the last bytes of the tail.
    fn make_room(&mut self) -> io::Result<()> {
        let surplus = self.tail.len() - self.tail_bytes;
        self.tail.drain(..surplus);
        self.omitted_bytes += surplus as u64;
        self.file.set_len(self.head_end)?;
        self.file.seek(SeekFrom::Start(self.head_end))?;
        writeln!(self.file, "\n[… {} bytes not kept …]", self.omitted_bytes)?;
        self.file.write_all(&self.tail)
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
        let env = [("A_KEY".to_owned(), "hush42-hush42".to_owned())];
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
            (Source::Stdout, "one hush42"),
            (Source::Stderr, "two hush42-h"),
            (Source::Stdout, "-hush42\n"),
            (Source::Stderr, "ush42\nhush42"),
        ] {
            log.push(source, chunk.as_bytes(), &mut warnings);
        }
        log.finish(&mut warnings);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "one two [redacted A_KEY]\n[redacted A_KEY]\nhush42");
        assert!(warnings.0.is_empty());
    }

    /// The definition: everything, cut at the end.
    fn reference(all: &[u8], head: usize, tail: usize) -> Vec<u8> {
        if all.len() <= head + tail {
            return all.to_vec();
        }
        let omitted = all.len() - head - tail;
        let line = format!("\n[… {omitted} bytes not kept …]\n");
        [&all[..head], line.as_bytes(), &all[all.len() - tail..]].concat()
    }

    #[test]
    fn every_length_and_chunk_size_keeps_both_ends_behind_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let all: Vec<u8> = (b' '..b'~').collect();
        for (head, tail) in [(0, 0), (0, 3), (5, 0), (4, 3), (10, 20)] {
            for len in (0..all.len()).step_by(3) {
                for chunk in [1, 2, 5, 11, 100] {
                    std::fs::write(&path, "earlier\n").unwrap();
                    let file = File::options().write(true).open(&path).unwrap();
                    let nothing = Arc::new(Redaction::new(&std::collections::BTreeMap::new()));
                    let mut log = Log::bounded(file, "a.log", &nothing, head, tail);
                    let mut warnings = Warnings::default();
                    for bytes in all[..len].chunks(chunk) {
                        log.push(Source::Stdout, bytes, &mut warnings);
                        let size = std::fs::metadata(&path).unwrap().len();
                        assert!(size <= (8 + head + 2 * tail + 40) as u64);
                    }
                    log.finish(&mut warnings);
                    let kept = std::fs::read(&path).unwrap();
                    let expected =
                        [&b"earlier\n"[..], &reference(&all[..len], head, tail)].concat();
                    assert_eq!(kept, expected, "{head} {tail} {len} {chunk}");
                }
            }
        }
    }
}
