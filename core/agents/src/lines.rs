//! Cutting a stream of bytes into lines, in bounded memory.

use onloop_syntax::limits;

/// Collects what comes until a line is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamLines {
    begun: Vec<u8>,
    /// Bytes of a line that is too long, so far; 0 while none is.
    skipped_bytes: u64,
}

/// One line, without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamLine {
    /// All of it; what was not UTF-8 is replaced.
    Whole(String),
    /// Longer than [`limits::AGENT_LINE_BYTES`].
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

impl StreamLines {
    /// The lines that are whole with these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<StreamLine> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.collect(&rest[..end]);
            lines.push(self.take());
            rest = &rest[end + 1..];
        }
        self.collect(rest);
        lines
    }

    /// The last line, where the stream ended without a line break.
    pub fn finish(&mut self) -> Option<StreamLine> {
        let is_empty = self.begun.is_empty() && self.skipped_bytes == 0;
        (!is_empty).then(|| self.take())
    }

    fn collect(&mut self, bytes: &[u8]) {
        let room = limits::AGENT_LINE_BYTES.saturating_sub(self.begun.len());
        if self.skipped_bytes > 0 || bytes.len() > room {
            self.skipped_bytes += (self.begun.len() + bytes.len()) as u64;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> StreamLine {
        let begun = std::mem::take(&mut self.begun);
        match std::mem::take(&mut self.skipped_bytes) {
            0 => StreamLine::Whole(String::from_utf8_lossy(&begun).into_owned()),
            bytes => StreamLine::TooLong { bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> StreamLine {
        StreamLine::Whole(text.to_owned())
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let stream = "one\n\nthree é\nrest".as_bytes();
        for cut in 0..=stream.len() {
            let mut lines = StreamLines::default();
            let mut found = lines.push(&stream[..cut]);
            found.extend(lines.push(&stream[cut..]));
            found.extend(lines.finish());
            assert_eq!(found, [whole("one"), whole(""), whole("three é"), whole("rest")], "{cut}");
            assert_eq!(lines.finish(), None);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_the_next_one_is_read() {
        let mut lines = StreamLines::default();
        let chunk = vec![b'x'; 1_000_000];
        for _ in 0..10 {
            assert_eq!(lines.push(&chunk), []);
            assert!(lines.begun.len() <= limits::AGENT_LINE_BYTES);
        }
        let found = lines.push(b"y\nnext\n");
        assert_eq!(found, [StreamLine::TooLong { bytes: 10_000_001 }, whole("next")]);
    }
}
