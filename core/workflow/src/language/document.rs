//! A text in an editor: positions are lines and columns in an encoding, changes are ranges.

use onloop_syntax::diagnostic::Span;

/// The unit of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Code units of UTF-16.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// A position in a text; both numbers count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentPosition {
    /// Line; `\n`, `\r\n` and `\r` end one.
    pub line: usize,
    /// Column, in units of an [`Encoding`].
    pub character: usize,
}

/// A text, and the starts of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    text: String,
    starts: Vec<usize>,
}

impl Document {
    /// Indexes the text.
    pub fn new(text: String) -> Document {
        let starts = line_starts(&text);
        Document { text, starts }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces a range of offsets from [`Document::offset`].
    pub fn change(&mut self, span: Span, text: &str) {
        self.text.replace_range(span.start..span.end, text);
        self.starts = line_starts(&self.text);
    }

    /// The byte at a position. A column after the end of its line is the end of the line, a line
    /// after the last is the end of the text, and a position inside a character is before it.
    pub fn offset(&self, at: DocumentPosition, encoding: Encoding) -> usize {
        let Some(&start) = self.starts.get(at.line) else { return self.text.len() };
        let line = &self.text[start..self.line_end(at.line)];
        let mut units = 0;
        for (offset, c) in line.char_indices() {
            units += width(c, encoding);
            if units > at.character {
                return start + offset;
            }
        }
        start + line.len()
    }

    /// The position of the byte at `offset`; offsets beyond the end count as the end.
    pub fn position(&self, offset: usize, encoding: Encoding) -> DocumentPosition {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let before = &self.text.as_bytes()[self.starts[line]..offset];
        // Most lines are ASCII, where every encoding counts bytes.
        let character = if before.is_ascii() || encoding == Encoding::Utf8 {
            before.len()
        } else {
            String::from_utf8_lossy(before).chars().map(|c| width(c, encoding)).sum()
        };
        DocumentPosition { line, character }
    }

    /// The end of a line, before its line break.
    fn line_end(&self, line: usize) -> usize {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        start + self.text[start..end].trim_end_matches(['\n', '\r']).len()
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
    let ends = ends.filter(|&at| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
    std::iter::once(0).chain(ends.map(|at| at + 1)).collect()
}

fn width(c: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => c.len_utf8(),
        Encoding::Utf16 => c.len_utf16(),
        Encoding::Utf32 => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé\u{1f600}b\r\nc\rd\n";

    #[test]
    fn places_are_counted_in_every_encoding() {
        let document = Document::new(TEXT.to_owned());
        let table = [
            (Encoding::Utf8, [(0, 0, 0), (0, 1, 1), (0, 3, 3), (0, 7, 7), (0, 8, 8), (1, 0, 10)]),
            (Encoding::Utf16, [(0, 0, 0), (0, 1, 1), (0, 2, 3), (0, 4, 7), (0, 5, 8), (1, 0, 10)]),
            (Encoding::Utf32, [(0, 0, 0), (0, 1, 1), (0, 2, 3), (0, 3, 7), (0, 4, 8), (1, 0, 10)]),
        ];
        for (encoding, places) in table {
            for (line, character, offset) in places {
                let place = DocumentPosition { line, character };
                assert_eq!(document.offset(place, encoding), offset, "{encoding:?} {place:?}");
                assert_eq!(document.position(offset, encoding), place, "{encoding:?} {offset}");
            }
        }
    }

    #[test]
    fn places_outside_of_the_text_are_brought_in() {
        let document = Document::new(TEXT.to_owned());
        let table = [
            ((0, 99), 8, "behind the end of a line"),
            ((0, 3), 3, "inside of a surrogate pair"),
            ((1, 9), 11, "before a lone carriage return"),
            ((2, 0), 12, "after it"),
            ((3, 0), 14, "the empty last line"),
            ((9, 9), 14, "behind the last line"),
        ];
        for ((line, character), expected, why) in table {
            let place = DocumentPosition { line, character };
            assert_eq!(document.offset(place, Encoding::Utf16), expected, "{why}");
        }
        let end = DocumentPosition { line: 3, character: 0 };
        assert_eq!(document.position(usize::MAX, Encoding::Utf16), end);
        let empty = Document::new(String::new());
        assert_eq!(empty.offset(DocumentPosition { line: 0, character: 5 }, Encoding::Utf8), 0);
    }

    #[test]
    fn a_change_moves_what_follows() {
        let mut document = Document::new("a\nb\n".to_owned());
        document.change(Span::new(1, 2), "x\r\ny\n");
        assert_eq!(document.text(), "ax\r\ny\nb\n");
        assert_eq!(document, Document::new("ax\r\ny\nb\n".to_owned()));
    }
}
