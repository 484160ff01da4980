//! Lines of a file, with byte offsets of the file as it is on disk.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use onloop_syntax::diagnostic::Span;

/// One line without its terminator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// The line; neither `\n` nor `\r\n` at its end.
    pub text: &'a str,
    /// Offset of its first byte in the file.
    pub start: usize,
}

impl<'a> Line<'a> {
    /// Offset after its last byte.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Number of blanks before its first other character; a tab counts as one.
    pub(super) fn indent(&self) -> usize {
        self.text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// The line without blanks around it.
    pub(super) fn trimmed(&self) -> &'a str {
        self.text.trim_matches([' ', '\t', '\r'])
    }

    pub(super) fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }

    /// The span of [`Self::trimmed`] in the file.
    pub(super) fn span(&self) -> Span {
        let start = self.start + self.indent().min(self.text.len());
        Span::new(start, start.max(self.start + self.text.trim_end().len()))
    }
}

/// The line break of a file: that of its first line.
pub(crate) fn line_break(source: &str) -> &'static str {
    let first = source.split_once('\n').map_or("", |(first, _)| first);
    if first.ends_with('\r') { "\r\n" } else { "\n" }
}

/// Returns lines from first to last; the parser never goes back.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    peeked: Option<Line<'a>>,
    after_peeked: usize,
    last_short_lines: OnceCell<BTreeMap<&'a str, usize>>,
}

/// Longest delimiter of a heredoc.
const HEREDOC_DELIMITER_BYTES: usize = 64;

impl<'a> Cursor<'a> {
    /// Reads `text` from `start` to its end. Offsets count from the beginning of `text`.
    pub(super) fn new(text: &'a str, start: usize) -> Self {
        let mut cursor =
            Cursor { text, peeked: None, after_peeked: start, last_short_lines: OnceCell::new() };
        cursor.advance();
        cursor
    }

    /// The next line, without moving past it.
    pub(super) fn peek(&self) -> Option<Line<'a>> {
        self.peeked
    }

    /// Moves past the next line.
    pub(super) fn advance(&mut self) {
        let start = self.after_peeked;
        if start >= self.text.len() {
            self.peeked = None;
            return;
        }
        let rest = &self.text[start..];
        let (mut len, next) = match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(at) => (at, start + at + 1),
            None => (rest.len(), self.text.len()),
        };
        if rest[..len].ends_with('\r') && next > start + len {
            len -= 1;
        }
        self.peeked = Some(Line { text: &rest[..len], start });
        self.after_peeked = next;
    }

    /// Offset of the first byte after the lines that were read.
    pub(super) fn position(&self) -> usize {
        self.peeked.map_or(self.text.len(), |line| line.start)
    }

    /// The whole text.
    pub(super) fn source(&self) -> &'a str {
        self.text
    }

    /// Whether a later line consists of `word` and blanks.
    ///
    /// The first call indexes the whole file, so that thousands of heredocs without an end do not
    /// each search it.
    pub(super) fn has_later_line(&self, word: &str) -> bool {
        let lines = self.last_short_lines.get_or_init(|| {
            let mut lines = BTreeMap::new();
            let mut cursor = Cursor::new(self.text, self.position());
            while let Some(line) = cursor.peek() {
                let trimmed = line.trimmed();
                if !trimmed.is_empty() && trimmed.len() <= HEREDOC_DELIMITER_BYTES {
                    lines.insert(trimmed, line.start);
                }
                cursor.advance();
            }
            lines
        });
        lines.get(word).is_some_and(|&start| start >= self.position())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(usize, &str)> {
        let mut cursor = Cursor::new(text, 0);
        let mut lines = Vec::new();
        while let Some(line) = cursor.peek() {
            lines.push((line.start, line.text));
            cursor.advance();
        }
        lines
    }

    #[test]
    fn every_way_to_end_a_line() {
        assert_eq!(lines("a\nb"), [(0, "a"), (2, "b")]);
        assert_eq!(lines("a\r\nb\r\n"), [(0, "a"), (3, "b")]);
        assert_eq!(lines("\n\r\n"), [(0, ""), (1, "")]);
        assert_eq!(lines("a\rb\r"), [(0, "a\rb\r")]);
        assert_eq!(lines(""), []);
    }

    #[test]
    fn later_lines_are_found_only_while_they_are_later() {
        let mut cursor = Cursor::new("x\n  EOF \ny\n", 0);
        assert!(cursor.has_later_line("EOF"));
        assert!(!cursor.has_later_line("END"));
        cursor.advance();
        assert!(cursor.has_later_line("EOF"));
        cursor.advance();
        assert!(!cursor.has_later_line("EOF"));
    }
}
