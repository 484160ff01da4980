//! From byte offsets to the offsets of JavaScript strings.

/// Bytes between two places whose offset is remembered.
const STRIDE_BYTES: usize = 1024;

/// Translates offsets of one text, in any order, each in constant time.
pub(crate) struct Utf16<'s> {
    source: &'s str,
    /// For each multiple of the stride, the UTF-16 offset of the character around it.
    marks: Vec<usize>,
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
        Utf16 { source, marks }
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
}
