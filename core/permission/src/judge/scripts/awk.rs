//! A reader of awk programs that finds what reaches beyond the input.

/// Names that start programs, read other files, or show the environment.
const NAMES: [&str; 10] = [
    "system", "getline", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "close", "fflush", "SYMTAB",
    "FUNCTAB",
];

const UNREADABLE: &str = "gets a program that cannot be read";

/// Why `program` may not be run without asking. Strings and regular expressions are skipped; a
/// slash counts as the start of one only where it certainly is.
pub(super) fn objection(program: &str) -> Option<&'static str> {
    let bytes = program.as_bytes();
    let mut at = 0;
    let mut before = b'\n';
    let mut printing = false;
    let mut keyword = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => match closing(bytes, at, b'"') {
                Some(end) => at = end,
                None => return Some(UNREADABLE),
            },
            // A slash behind a value divides; elsewhere it begins a pattern. Where that is not
            // certain, both readings count.
            b'/' if b"(,{;!~&|\n}?:=<>+-*%^".contains(&before) => match closing(bytes, at, b'/') {
                Some(end) => at = end,
                None => return Some(UNREADABLE),
            },
            b'/' if before == b'a' && keyword => match closing(bytes, at, b'/') {
                Some(end) => at = end,
                None => return Some(UNREADABLE),
            },
            b'/' if hides(bytes, at) => return Some(UNREADABLE),
            b'\\' => {
                at += 2;
                continue;
            }
            b'#' => {
                at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let start = at;
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    at += 1;
                }
                let name = &program[start..at];
                if NAMES.contains(&name) {
                    return Some("gets a program that reaches beyond its input");
                }
                printing |= name == "print" || name == "printf";
                keyword =
                    matches!(name, "print" | "printf" | "return" | "in" | "case" | "else" | "do");
                before = b'a';
                continue;
            }
            b'@' => return Some("gets a program that loads or calls by name"),
            b'|' if bytes.get(at + 1) == Some(&b'|') => at += 1,
            b'|' => return Some("gets a program that starts another"),
            b'>' if printing => return Some("gets a program that writes files"),
            b';' | b'}' => printing = false,
            // After these a statement continues on the next line.
            b'\n' => printing &= b",&|{(?:".contains(&before),
            _ => {}
        }
        if let Some(&byte) = bytes.get(at)
            && !byte.is_ascii_whitespace() | (byte == b'\n')
        {
            before = byte;
        }
        at += 1;
    }
    None
}

/// Whether what stands between this slash and the next one would hide code if it were a pattern
/// and not a division.
fn hides(bytes: &[u8], slash: usize) -> bool {
    closing(bytes, slash, b'/')
        .is_some_and(|end| bytes[slash..end].iter().any(|b| matches!(b, b'"' | b'#')))
}

/// The position of the `quote` that closes the one at `open`.
fn closing(bytes: &[u8], open: usize, quote: u8) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            byte if *byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}
