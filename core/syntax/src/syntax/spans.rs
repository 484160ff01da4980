//! Editing text at spans. Every byte outside the spans stays.

use std::ops::Range;

/// The text with ranges replaced. The ranges do not overlap. Insertions at one position keep their
/// order.
pub fn spliced<T: AsRef<str>>(text: &str, mut edits: Vec<(Range<usize>, T)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (range, new) in edits {
        out.push_str(&text[from..range.start]);
        out.push_str(new.as_ref());
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// The start of the line around `at`, after a byte-order mark, which belongs to the file.
pub fn line_start(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    if text[start..at].starts_with('\u{feff}') { start + '\u{feff}'.len_utf8() } else { start }
}

/// The line break of the text's first line.
pub fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}
