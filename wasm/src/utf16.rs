//! From byte offsets to the offsets of JavaScript strings, and back.

use onloop_core::diagnostic::{Edit, Span};
use serde_json::{Value, json};

/// Bytes between two places whose offset is remembered.
const STRIDE_BYTES: usize = 1024;

/// Translates offsets of one text, in any order, each in constant time.
pub struct Utf16<'s> {
    source: &'s str,
    /// For each multiple of the stride, the UTF-16 offset of the character around it.
    marks: Vec<usize>,
    /// The byte with which each line begins.
    lines: Vec<usize>,
}

/// A place as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In UTF-16 units from the beginning of the line, from 1.
    pub column: usize,
}

impl<'s> Utf16<'s> {
    /// Looks at the whole of `source` once.
    pub fn new(source: &'s str) -> Utf16<'s> {
        let mut marks = Vec::with_capacity(source.len() / STRIDE_BYTES + 1);
        let mut units = 0;
        let mut from = 0;
        for mark in (0..=source.len()).step_by(STRIDE_BYTES) {
            let mark = floor(source, mark);
            units += length(&source[from..mark]);
            marks.push(units);
            from = mark;
        }
        let breaks = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Utf16 { source, marks, lines }
    }

    /// The line and the column of the byte at `offset`.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.source.len());
        let line = self.lines.partition_point(|start| *start <= offset);
        let column = self.offset(offset) - self.offset(self.lines[line - 1]) + 1;
        Position { line, column }
    }

    /// The UTF-16 offset of the byte at `offset`; one inside a character counts as its
    /// beginning, one beyond the end as the end.
    pub fn offset(&self, offset: usize) -> usize {
        let offset = floor(self.source, offset.min(self.source.len()));
        let mark = offset / STRIDE_BYTES;
        let from = floor(self.source, mark * STRIDE_BYTES);
        self.marks[mark] + length(&self.source[from..offset])
    }

    /// The byte at an offset in UTF-16 units; inside of a character it is its beginning, and beyond
    /// the end it is the end.
    pub fn byte(&self, units: usize) -> usize {
        let mark = self.marks.partition_point(|before| *before <= units) - 1;
        let from = floor(self.source, mark * STRIDE_BYTES);
        let mut at = self.marks[mark];
        for (offset, c) in self.source[from..].char_indices() {
            at += c.len_utf16();
            if at > units {
                return from + offset;
            }
        }
        self.source.len()
    }

    /// Where something is: offsets in UTF-16 units from 0, lines and columns from 1.
    pub fn placed(&self, span: Span) -> Value {
        let (from, to) = (self.position(span.start), self.position(span.end));
        json!({
            "start": self.offset(span.start),
            "end": self.offset(span.end),
            "line": from.line,
            "column": from.column,
            "end_line": to.line,
            "end_column": to.column,
        })
    }

    /// Edits with offsets in UTF-16 units.
    pub fn edits(&self, edits: &[Edit]) -> Value {
        let edit = |edit: &Edit| {
            let start = self.offset(edit.span.start);
            json!({ "start": start, "end": self.offset(edit.span.end), "text": edit.text })
        };
        edits.iter().map(edit).collect()
    }
}

fn floor(source: &str, mut offset: usize) -> usize {
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offset_of_a_mixed_text_is_the_one_that_javascript_counts() {
        let text = "a\u{e9}日\u{1f600}\u{fffd}b".repeat(500);
        let utf16 = Utf16::new(&text);
        let mut units = 0;
        for (offset, c) in text.char_indices() {
            for inside in 0..c.len_utf8() {
                assert_eq!(utf16.offset(offset + inside), units, "{offset}");
            }
            units += c.len_utf16();
        }
        assert_eq!(utf16.offset(text.len()), units);
        assert_eq!(utf16.offset(text.len() + 9), units);
        assert_eq!(Utf16::new("").offset(3), 0);
    }

    #[test]
    fn every_offset_of_javascript_leads_back_to_its_character() {
        let text = "a\u{e9}日\u{1f600}\u{fffd}b".repeat(500);
        let utf16 = Utf16::new(&text);
        let mut units = 0;
        for (offset, c) in text.char_indices() {
            for inside in 0..c.len_utf16() {
                assert_eq!(utf16.byte(units + inside), offset, "{units}");
            }
            units += c.len_utf16();
        }
        assert_eq!(utf16.byte(units), text.len());
        assert_eq!(utf16.byte(usize::MAX), text.len());
        assert_eq!(Utf16::new("").byte(3), 0);
    }

    #[test]
    fn lines_and_columns_begin_with_one() {
        let utf16 = Utf16::new("a\u{1f600}b\r\n\n日\u{e9}");
        let table = [
            (0, 1, 1),
            (1, 1, 2),
            (5, 1, 4),
            (7, 1, 6),
            (8, 2, 1),
            (9, 3, 1),
            (12, 3, 2),
            (99, 3, 3),
        ];
        for (offset, line, column) in table {
            assert_eq!(utf16.position(offset), Position { line, column }, "{offset}");
        }
        assert_eq!(Utf16::new("").position(3), Position { line: 1, column: 1 });
    }
}
