//! From byte offsets to the offsets of JavaScript strings.

/// Bytes between two places whose offset is remembered.
const STRIDE_BYTES: usize = 1024;

/// Translates offsets of one text, in any order, each in constant time.
pub(crate) struct Utf16<'s> {
    source: &'s str,
    /// For each multiple of the stride, the UTF-16 offset of the character around it.
    marks: Vec<usize>,
    /// The byte with which each line begins.
    lines: Vec<usize>,
}

/// A place as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// From 1.
    pub(crate) line: usize,
    /// In UTF-16 units from the beginning of the line, from 1.
    pub(crate) column: usize,
}

impl<'s> Utf16<'s> {
    /// Looks at the whole of `source` once.
    pub(crate) fn new(source: &'s str) -> Utf16<'s> {
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
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.source.len());
        let line = self.lines.partition_point(|start| *start <= offset);
        let column = self.offset(offset) - self.offset(self.lines[line - 1]) + 1;
        Position { line, column }
    }

    /// The UTF-16 offset of the byte at `offset`; one inside a character counts as its
    /// beginning, one beyond the end as the end.
    pub(crate) fn offset(&self, offset: usize) -> usize {
        let offset = floor(self.source, offset.min(self.source.len()));
        let mark = offset / STRIDE_BYTES;
        let from = floor(self.source, mark * STRIDE_BYTES);
        self.marks[mark] + length(&self.source[from..offset])
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
