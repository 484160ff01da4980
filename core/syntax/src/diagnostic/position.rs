//! Lines and columns, for people and editors. All other code counts bytes.

use super::Span;

/// A position in a text; both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Unicode scalar value within the line.
    pub column: usize,
}

/// The starts of the lines of a text.
#[derive(Debug)]
pub struct LineIndex<'s> {
    source: &'s [u8],
    starts: Vec<usize>,
}

impl<'s> LineIndex<'s> {
    /// Indexes `source`.
    pub fn new(source: &'s [u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', source).map(|at| at + 1));
        LineIndex { source, starts }
    }

    /// The position of the byte at `offset`; offsets beyond the end count as the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.source.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        // Editors do not show a byte-order mark as a column.
        let start = match line {
            1 if self.source.starts_with("\u{feff}".as_bytes()) => start.max(3).min(offset.max(3)),
            _ => start,
        };
        let before = self.source.get(start..offset).unwrap_or_default();
        let characters = before.iter().filter(|byte| !is_continuation(**byte)).count();
        Position { line, column: characters + 1 }
    }

    /// The first line of `span`: its number from 1, its bytes without terminator, and the part of
    /// `span` in it, relative to its start.
    pub fn first_line(&self, span: Span) -> (usize, &'s [u8], Span) {
        let offset = span.start.min(self.source.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        let end = self.starts.get(line).map_or(self.source.len(), |next| next - 1);
        let text = &self.source[start..end];
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let from = (offset - start).min(text.len());
        let to = span.end.saturating_sub(start).clamp(from, text.len());
        (line, text, Span::new(from, to))
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let index = LineIndex::new("a日b\n\u{e9}\n".as_bytes());
        let at = |offset| {
            let position = index.position(offset);
            (position.line, position.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(4), (1, 3));
        assert_eq!(at(5), (1, 4));
        assert_eq!(at(6), (2, 1));
        assert_eq!(at(8), (2, 2));
        assert_eq!(at(9), (3, 1));
        assert_eq!(at(99), (3, 1));
        let with_mark = LineIndex::new("\u{feff}---\n".as_bytes());
        assert_eq!(with_mark.position(3), Position { line: 1, column: 1 });
        assert_eq!(with_mark.position(0), Position { line: 1, column: 1 });
    }

    #[test]
    fn a_long_span_is_cut_to_its_first_line() {
        let index = LineIndex::new(b"one\r\ntwo\n");
        assert_eq!(index.first_line(Span::new(1, 7)), (1, b"one".as_slice(), Span::new(1, 3)));
        assert_eq!(index.first_line(Span::at(9)), (3, b"".as_slice(), Span::at(0)));
    }
}
