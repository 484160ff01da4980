//! A reader of awk programs that accepts those that only print.
//!
//! A name that reaches beyond the input is found wherever it stands, in a string or a pattern as well:
//! awks do not agree on where these end. Programs of several lines are not read: a statement may
//! continue behind a line end. Programs with `|`, and those that print and have `>`, are read as tokens.

/// Names that start programs, read other files, or show the environment.
const NAMES: [&str; 10] = [
    "system", "getline", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "close", "fflush", "SYMTAB",
    "FUNCTAB",
];

const UNREADABLE: &str = "gets a program that cannot be read";

/// Why `program` is not known to print only.
pub(super) fn objection(program: &str) -> Option<&'static str> {
    let mut names = program.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // A number may stand directly in front of a name, also with letters: `0x1fsystem(…)`.
    if names.any(|name| NAMES.iter().any(|known| name.ends_with(known))) {
        return Some("gets a program that reaches beyond its input");
    }
    if program.contains('\n') {
        return Some(UNREADABLE);
    }
    let bytes = program.as_bytes();
    // Blanks may stand between `@` and the name.
    let names = |b: u8| b.is_ascii_alphabetic() || b.is_ascii_whitespace() || b == b'_';
    if bytes.windows(2).any(|pair| pair[0] == b'@' && names(pair[1])) {
        return Some("gets a program that loads or calls by name");
    }
    let pipes = bytes.contains(&b'|');
    let writes = program.contains("print") && bytes.contains(&b'>');
    if pipes || writes { directed(bytes) } else { None }
}

/// Why a program that prints may print somewhere else.
fn directed(bytes: &[u8]) -> Option<&'static str> {
    let mut at = 0;
    let mut before = b';';
    let mut printing = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => match end(bytes, at, b"") {
                Some(end) => at = end,
                None => return Some(UNREADABLE),
            },
            // Behind these no value can stand, so that a slash begins a pattern. Awks disagree about brackets
            // and quotes in one.
            b'/' if b"(,{;!~&|".contains(&before) => match end(bytes, at, b"[\"") {
                Some(end) => at = end,
                None => return Some(UNREADABLE),
            },
            b'/' | b'\\' | b'#' => return Some(UNREADABLE),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let start = at;
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    at += 1;
                }
                let word = &bytes[start..at];
                printing |= word.ends_with(b"print") || word.ends_with(b"printf");
                before = b'a';
                continue;
            }
            b'|' if bytes.get(at + 1) == Some(&b'|') => at += 1,
            b'|' => return Some("gets a program that starts another"),
            b'>' if printing => return Some("gets a program that writes files"),
            b';' | b'}' => printing = false,
            _ => {}
        }
        if let Some(&byte) = bytes.get(at)
            && !byte.is_ascii_whitespace()
        {
            before = byte;
        }
        at += 1;
    }
    None
}

/// The position of the sign that closes what one opens at `open`; `None` where one of `stops` comes first.
fn end(bytes: &[u8], open: usize, stops: &[u8]) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == bytes[open] => return Some(at),
            byte if stops.contains(&byte) => return None,
            _ => at += 1,
        }
    }
}
