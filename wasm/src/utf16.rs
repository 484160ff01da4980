//! From byte offsets to the offsets of JavaScript strings, and back.

use onloop_core::diagnostic::{Edit, Span};
use serde::Serialize;
use serde_json::{Value, json};

/// Most bytes between two places whose offset is remembered.
const STRIDE_BYTES: usize = 1024;

/// A place in both units.
#[derive(Clone, Copy, Debug)]
struct Mark {
    byte: usize,
    units: usize,
}

/// Translates offsets of one text, in any order. A translation looks at one line, and at no more than
/// some bytes of it.
pub struct Utf16<'s> {
    source: &'s str,
    /// Where each line begins.
    lines: Vec<Mark>,
    /// Where each line begins, and places within long ones; all of them between characters.
    marks: Vec<Mark>,
    /// Both units are the same.
    is_ascii: bool,
}

/// A place as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In UTF-16 units from the beginning of the line, from 1.
    pub column: usize,
}

/// Where something is: offsets in UTF-16 units from 0, lines and columns from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The line of its beginning.
    pub line: usize,
    /// The column of its beginning.
    pub column: usize,
    /// The line of its end.
    pub end_line: usize,
    /// The column of its end.
    pub end_column: usize,
}

impl<'s> Utf16<'s> {
    /// Looks at the whole of `source` once.
    pub fn new(source: &'s str) -> Utf16<'s> {
        let is_ascii = source.is_ascii();
        let mut mark = Mark { byte: 0, units: 0 };
        let (mut lines, mut marks) = (Vec::new(), Vec::new());
        for line in source.split_inclusive('\n') {
            lines.push(mark);
            let end = mark.byte + line.len();
            while !is_ascii && end - mark.byte > STRIDE_BYTES {
                marks.push(mark);
                mark = after(source, mark, floor(source, mark.byte + STRIDE_BYTES));
            }
            marks.push(mark);
            mark = match is_ascii {
                true => Mark { byte: end, units: end },
                false => after(source, mark, end),
            };
        }
        if source.is_empty() || source.ends_with('\n') {
            lines.push(mark);
            marks.push(mark);
        }
        Utf16 { source, lines, marks, is_ascii }
    }

    /// The line and the column of the byte at `offset`.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.source.len());
        let line = self.lines.partition_point(|start| start.byte <= offset);
        let column = self.offset(offset) - self.lines[line - 1].units + 1;
        Position { line, column }
    }

    /// The UTF-16 offset of the byte at `offset`; one inside a character counts as its
    /// beginning, one beyond the end as the end.
    pub fn offset(&self, offset: usize) -> usize {
        let offset = floor(self.source, offset.min(self.source.len()));
        if self.is_ascii {
            return offset;
        }
        let mark = self.marks[self.marks.partition_point(|mark| mark.byte <= offset) - 1];
        after(self.source, mark, offset).units
    }

    /// The byte at an offset in UTF-16 units; inside of a character it is its beginning, and beyond
    /// the end it is the end.
    pub fn byte(&self, units: usize) -> usize {
        if self.is_ascii {
            return units.min(self.source.len());
        }
        let mark = self.marks[self.marks.partition_point(|mark| mark.units <= units) - 1];
        let mut at = mark.units;
        for (offset, c) in self.source[mark.byte..].char_indices() {
            at += c.len_utf16();
            if at > units {
                return mark.byte + offset;
            }
        }
        self.source.len()
    }

    /// Where a span is.
    pub fn place(&self, span: Span) -> Placed {
        let (from, to) = (self.position(span.start), self.position(span.end));
        Placed {
            start: self.offset(span.start),
            end: self.offset(span.end),
            line: from.line,
            column: from.column,
            end_line: to.line,
            end_column: to.column,
        }
    }

    /// [`Utf16::place`] as a JSON object.
    pub fn placed(&self, span: Span) -> Value {
        json!(self.place(span))
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

/// The place at `byte`, which is behind `mark`.
fn after(source: &str, mark: Mark, byte: usize) -> Mark {
    let text = &source[mark.byte..byte];
    Mark { byte, units: mark.units + text.chars().map(char::len_utf16).sum::<usize>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long and short lines of characters of every length.
    fn mixed() -> String {
        let line = "a\u{e9}日\u{1f600}\u{fffd}b";
        format!("{}\n\n{line}\r\n{}", line.repeat(300), line.repeat(200))
    }

    #[test]
    fn every_offset_of_a_mixed_text_is_the_one_that_javascript_counts() {
        let text = mixed();
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
        let text = mixed();
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
        let ascii = Utf16::new("ab\ncd");
        assert_eq!((ascii.byte(4), ascii.offset(4), ascii.byte(9)), (4, 4, 5));
        assert_eq!(ascii.position(4), Position { line: 2, column: 2 });
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
