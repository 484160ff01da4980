//! Applying fixes.

use std::collections::BTreeMap;

use super::{Diagnostic, Edit, Fix};

/// `source` with the fixes of `diagnostics` applied, and their number. A fix that overlaps an
/// earlier one waits for the next round, because its text has changed.
pub fn apply_fixes(source: &[u8], diagnostics: &[Diagnostic]) -> (Vec<u8>, usize) {
    let mut accepted: BTreeMap<usize, &Edit> = BTreeMap::new();
    let mut count = 0;
    for fix in diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref()) {
        if fits(&accepted, fix, source.len()) {
            accepted.extend(fix.edits.iter().map(|edit| (edit.span.start, edit)));
            count += 1;
        }
    }
    let mut result = Vec::with_capacity(source.len() + 64);
    let mut from = 0;
    for edit in accepted.values() {
        result.extend_from_slice(&source[from..edit.span.start]);
        result.extend_from_slice(edit.text.as_bytes());
        from = edit.span.end;
    }
    result.extend_from_slice(&source[from..]);
    (result, count)
}

fn fits(accepted: &BTreeMap<usize, &Edit>, fix: &Fix, source_len: usize) -> bool {
    let apart = |edit: &Edit| {
        let before = accepted.range(..=edit.span.start).next_back();
        let after = accepted.range(edit.span.start..).next();
        edit.span.end <= source_len
            && before.is_none_or(|(start, other)| {
                other.span.end <= edit.span.start && *start != edit.span.start
            })
            && after.is_none_or(|(start, _)| edit.span.end <= *start)
    };
    !fix.edits.is_empty() && fix.edits.iter().all(apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Severity, Span};

    fn finding(edits: &[(usize, usize, &str)]) -> Diagnostic {
        let edits =
            edits.iter().map(|(start, end, text)| Edit::replace(Span::new(*start, *end), *text));
        Diagnostic::new("x", Severity::Error, Span::at(0), String::new())
            .with_fix("x", edits.collect())
    }

    #[test]
    fn fixes_apply_whole_or_not_at_all() {
        let table: &[(&[Diagnostic], &str, usize)] = &[
            (&[finding(&[(0, 1, "A"), (3, 4, "D")])], "AbcD", 1),
            (&[finding(&[(0, 2, "")]), finding(&[(1, 3, "x")])], "cd", 1),
            (&[finding(&[(1, 1, "x")]), finding(&[(1, 1, "y")])], "axbcd", 1),
            (&[finding(&[(0, 1, "A")]), finding(&[(1, 2, "B")])], "ABcd", 2),
            (&[finding(&[(0, 1, "A"), (3, 4, "D")]), finding(&[(1, 3, "")])], "AD", 2),
            (&[finding(&[(4, 9, "x")])], "abcd", 0),
            (&[], "abcd", 0),
        ];
        for (findings, expected, count) in table {
            let (bytes, applied) = apply_fixes(b"abcd", findings);
            assert_eq!((String::from_utf8(bytes).unwrap().as_str(), applied), (*expected, *count));
        }
    }
}
