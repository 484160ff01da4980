//! Invisible characters, and characters that look like others.

use onloop_syntax::text::is_invisible;

/// The first character in `line` that is invisible or changes how others are displayed.
pub(super) fn hidden(line: &str) -> Option<char> {
    if line.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return None;
    }
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        // CRLF is harmless; a carriage return within a line overwrites what is displayed.
        let returns = c == '\r' && chars.peek() != Some(&'\n');
        if returns || (c.is_control() && !matches!(c, '\n' | '\t' | '\r')) || is_invisible(c) {
            return Some(c);
        }
    }
    None
}

/// `line` as a hurried reader sees it: without invisible characters, and with full-width and
/// foreign letters replaced by those they look like. `None` when that changes nothing.
pub(super) fn folded(line: &str) -> Option<String> {
    if line.is_ascii() && hidden(line).is_none() {
        return None;
    }
    let folded: String = line
        .chars()
        .filter(|c| {
            !is_invisible(*c) && !matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}')
        })
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .map(shown_as)
        .collect();
    (folded != line).then_some(folded)
}

fn shown_as(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' | 'χ' => 'x',
        'у' => 'y',
        'і' | 'ι' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ԁ' => 'd',
        'һ' => 'h',
        'ո' => 'n',
        'ν' => 'v',
        'м' => 'm',
        'г' => 'r',
        'т' => 't',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2215}' | '\u{2044}' => '/',
        '\u{037e}' => ';',
        '\u{2223}' => '|',
        c => c,
    }
}
