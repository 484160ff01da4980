//! When the lines of a log were written: a file beside the log, which stays plain text.
//!
//! Each line, `OFFSET MILLISECONDS`, says when the log was continued at that byte. A second has one line
//! at most, so that a busy agent does not fill the disk with times.

use onloop_effect::{Durability, Io};
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;

/// Shortest time between two lines.
const APART_MS: u64 = 1000;

/// The times of a log that grows.
pub(crate) struct LogTimes {
    path: String,
    /// `None`: the file was not looked at yet.
    size_bytes: Option<u64>,
    last: Option<Timestamp>,
    /// It could not be written; the log is worth more.
    is_broken: bool,
}

impl LogTimes {
    pub(crate) fn new(path: String) -> LogTimes {
        LogTimes { path, size_bytes: None, last: None, is_broken: false }
    }

    /// Notes that the log is continued now, behind `offset` bytes.
    pub(crate) async fn mark(&mut self, io: &Io, offset: u64) {
        let now = io.now();
        let is_soon = |last| now.millis_since(last) < APART_MS;
        if self.is_broken || self.last.is_some_and(is_soon) {
            return;
        }
        let size_bytes = match self.size_bytes {
            Some(size_bytes) => size_bytes,
            None => io.stat(&self.path).await.map_or(0, |stat| stat.size_bytes),
        };
        let line = format!("{offset} {}\n", now.as_millis());
        self.size_bytes = Some(size_bytes + line.len() as u64);
        let added = io.append(&self.path, line.into_bytes(), size_bytes, Durability::Relaxed).await;
        self.is_broken = added.is_err();
        self.last = Some(now);
    }
}

/// Where a log was continued, and when, in the order of the offsets. Lines that say nothing are left out.
pub(crate) async fn read(io: &Io, path: &str) -> Vec<(u64, Timestamp)> {
    let Ok((bytes, _)) = io.read(path, limits::RECORD_BYTES).await else { return Vec::new() };
    let mut marks: Vec<(u64, Timestamp)> = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let Some((offset, at)) = line.split_once(' ') else { continue };
        let (Ok(offset), Ok(at)) = (offset.parse(), at.parse()) else { continue };
        if marks.last().is_none_or(|(before, _)| *before < offset) {
            marks.push((offset, Timestamp::from_millis(at)));
        }
    }
    marks
}
