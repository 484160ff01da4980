//! What would change in a file, as a unified diff.

use std::fmt::Write as _;

use similar::DiffTag;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;

/// Lines around a change that are shown.
const CONTEXT_LINES: usize = 3;

/// The diff from `old` to `new`; nothing where they are the same.
///
/// It is put together here because the library's own text diff brings every algorithm that the
/// library knows, which were a twentieth of the WebAssembly module.
pub fn unified(names: (&str, &str), old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut found = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
    let (olds, news) = (0..old.len(), 0..new.len());
    match myers::diff_deadline_raw(&mut found, &old[..], olds, &new[..], news, None) {
        Ok(()) => {}
        Err(never) => match never {},
    }
    let mut text = String::new();
    for hunk in found.into_inner().into_inner().into_grouped_ops(CONTEXT_LINES) {
        if text.is_empty() {
            let _ = writeln!(text, "--- {}\n+++ {}", names.0, names.1);
        }
        let _ = writeln!(text, "{}", UnifiedHunkHeader::new(&hunk));
        for part in hunk {
            let (before, after) = (&old[part.old_range()], &new[part.new_range()]);
            match part.tag() {
                DiffTag::Equal => push(&mut text, ' ', before),
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    push(&mut text, '-', before);
                    push(&mut text, '+', after);
                }
            }
        }
    }
    text
}

fn push(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_diff_of_the_library() {
        let long: String = (0..30).map(|n| format!("line {n}\n")).collect();
        let changed = long.replace("line 3\n", "").replace("line 20\n", "one\nother\n");
        let repeated = "a\n}\n\nb\n}\n\n";
        let pairs = [
            ("", ""),
            ("same\n", "same\n"),
            ("", "new\nfile\n"),
            ("old\nfile\n", ""),
            ("no end", "no end\nmore"),
            ("an end\n", "an end"),
            ("a\r\nb\n", "a\nb\n"),
            (&long, &changed),
            (&changed, &long),
            (repeated, "a\n}\n\nc\n}\n\nb\n}\n\n"),
        ];
        for (old, new) in pairs {
            let diff = similar::TextDiff::from_lines(old, new);
            let expected = diff.unified_diff().header("before", "after").to_string();
            assert_eq!(unified(("before", "after"), old, new), expected, "{old:?} {new:?}");
        }
    }
}
