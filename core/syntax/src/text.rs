//! Making text from files, agents and commands safe to show, quote and store.
//!
//! Text that onloop did not write is data. It is capped, stripped of control characters and fenced
//! before it reaches a terminal, a prompt or a report.

mod names;
mod patch;
mod private;
mod word;

pub use names::{name_bytes, name_text};
pub use patch::{PatchLine, colored_patch, patch_lines};
pub use private::{HOME_SECRETS, says_secret};
#[doc(hidden)]
pub use serde;
#[doc(hidden)]
pub use word::read_word;
pub use word::words;
pub use word::{UnknownWord, alternatives};

/// Removes characters that steer a terminal or hide meaning: control characters other than line
/// feed and tab, ANSI escape sequences, and bidirectional or invisible formatting characters.
pub fn printable(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape_sequence(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_invisible(c) => {}
            c => push_shown(&mut out, c),
        }
    }
    out
}

/// Adds a character; one that stands for a byte of a name is shown as that byte.
fn push_shown(out: &mut String, c: char) {
    match names::byte_of(c) {
        Some(byte) => out.extend(["\\x", &hex(&[byte])]),
        None => out.push(c),
    }
}

/// Whether `text` is plain ASCII, which [`printable`] leaves as it is.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // Whole blocks, which the processor compares at once: most long texts are plain.
    text.as_bytes()
        .chunks(64)
        .all(|block| block.iter().fold(true, |so_far, b| so_far & is_plain(b)))
}

/// Two hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // `format!("{byte:02x}")` is slower, and reading a ledger makes two digests a line.
        hex.push(char::from(DIGITS[usize::from(byte >> 4)]));
        hex.push(char::from(DIGITS[usize::from(byte & 0xf)]));
    }
    hex
}

/// [`printable`], on one line: line breaks and tabs become single blanks.
pub fn one_line(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.trim_end().to_owned();
    }
    let printable = printable(text);
    let mut out = String::with_capacity(printable.len());
    for word in printable.split(['\n', '\t']) {
        let word = word.trim_end();
        if !out.is_empty() && !word.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn skip_escape_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            while let Some(&c) = chars.peek() {
                if !c.is_ascii() || c.is_control() {
                    return;
                }
                chars.next();
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    return;
                }
            }
        }
        // Operating system commands end with BEL or ST. The end of the line ends an unfinished one.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(&c) = chars.peek() {
                if c == '\n' {
                    return;
                }
                chars.next();
                if c == '\u{7}' || c == '\u{9c}' {
                    return;
                }
                if c == '\u{1b}' {
                    if chars.peek() == Some(&'\\') {
                        chars.next();
                    }
                    return;
                }
            }
        }
        Some(c) if c.is_ascii() && !c.is_control() => {
            chars.next();
        }
        _ => {}
    }
}

/// `text` with every control or invisible character spelled out, such as `\u{1b}`, except those in
/// `kept`. For people who decide about the text: nothing is left out.
pub fn visible(text: &str, kept: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if kept.contains(&c) => out.push(c),
            c if c.is_control() || is_invisible(c) => out.extend(c.escape_unicode()),
            c => push_shown(&mut out, c),
        }
    }
    out
}

/// Characters that take no space and change how readers see their neighbors.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// The longest prefix of at most `limit_bytes` bytes that ends between characters.
pub fn prefix(text: &str, limit_bytes: usize) -> &str {
    let mut end = limit_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The longest suffix of at most `limit_bytes` bytes that starts between characters.
pub fn suffix(text: &str, limit_bytes: usize) -> &str {
    let mut start = text.len() - limit_bytes.min(text.len());
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// `text`, or its first bytes and `…`, on at most `limit_bytes` bytes in all.
pub fn ellipsis(text: &str, limit_bytes: usize) -> String {
    if text.len() <= limit_bytes {
        return text.to_owned();
    }
    format!("{}…", prefix(text, limit_bytes.saturating_sub('…'.len_utf8())))
}

/// The last `count` lines of untrusted `output`, each after `    | `. A last line says how many
/// lines are hidden and, in the words of `location`, where they are.
pub fn quoted_end(output: &str, count: usize, location: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let hidden = lines.len().saturating_sub(count);
    let mut said = match hidden {
        0 => String::new(),
        hidden => format!("    | … {hidden} more lines {location}\n"),
    };
    for line in &lines[hidden..] {
        said += &format!("    | {}\n", ellipsis(line, 400));
    }
    said
}

/// `text` inside a Markdown code fence that it cannot close.
pub fn fenced(info: &str, text: &str) -> String {
    let mut run = 0;
    let mut longest = 2;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{newline}{fence}\n")
}

/// `text` broken between words into lines of at most `columns` characters. Continued lines begin
/// with `indent` spaces. Text in backticks stays on one line, so that people can copy commands and
/// paths.
pub fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let mut out = String::new();
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let mut used = 0;
        let mut quoted = false;
        let words = line.split(|c| {
            quoted ^= c == '`';
            c == ' ' && !quoted
        });
        for (position, word) in words.enumerate() {
            let width = word.chars().count();
            if position > 0 && used > indent && used + 1 + width > columns {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                used = indent;
            } else if position > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += width;
        }
    }
    out
}

/// Columns that text for people has at most.
pub const COLUMNS: usize = 80;

/// What a line for people begins with that is a message and can be wrapped.
const LABELS: [&str; 5] = ["error: ", "cause: ", "fix: ", "warning: ", "note: "];

/// `text` with its messages wrapped: lines that begin with `error: ` and the like. Other lines stay,
/// because they may be commands or foreign.
pub fn messages_wrapped(text: &str) -> String {
    let is_long = |line: &str| line.chars().count() > COLUMNS;
    if !text.lines().any(is_long) {
        return text.to_owned();
    }
    let lines = text.split('\n').map(|line| {
        let words = line.trim_start_matches(' ');
        let label = LABELS.iter().find(|label| words.starts_with(**label));
        match label.filter(|_| is_long(line)) {
            Some(label) => wrapped(line, COLUMNS, line.len() - words.len() + label.len()),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `1 attempt`, `2 attempts`, `3 processes`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match noun.ends_with(['s', 'x']) {
        _ if count == 1 => "",
        true => "es",
        false => "s",
    };
    format!("{count} {noun}{ending}")
}

/// `9999 tokens`, `18k tokens`, `1.2M tokens`.
pub fn tokens(count: u64) -> String {
    match count {
        0..10_000 => counted(count, "token"),
        10_000..1_000_000 => format!("{}k tokens", count / 1000),
        _ => format!("{}.{}M tokens", count / 1_000_000, count / 100_000 % 10),
    }
}

/// `2 h 3 min 4 s`, without leading zero parts.
pub fn duration(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes} min {rest} s"),
        (_, _) => format!("{hours} h {minutes} min {rest} s"),
    }
}

/// A time in milliseconds, rounded up to seconds, without zero parts at its end: `6 h`.
pub fn span(ms: u64) -> String {
    let whole = duration(ms.div_ceil(1000));
    let minutes = whole.strip_suffix(" 0 s").unwrap_or(&whole);
    minutes.strip_suffix(" 0 min").unwrap_or(minutes).to_owned()
}

/// How long ago something was, for people: `just now`, `3 min ago`, `2 days ago`.
pub fn ago(ms: u64) -> String {
    match ms / 60_000 {
        0 => "just now".to_owned(),
        minutes @ 1..60 => format!("{minutes} min ago"),
        minutes @ 60..2880 => format!("{} h ago", minutes / 60),
        minutes => format!("{} days ago", minutes / 1440),
    }
}

/// `command` as people type it: a character that breaks its line or is hidden, which [`shell_word`] has put
/// between quotes, is spelled out.
pub fn typed(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    for c in command.trim_end().chars() {
        let mut buffer = [0; 4];
        let shown = &*c.encode_utf8(&mut buffer);
        if !matches!(c, '\n' | '\t') && printable(shown) == shown {
            out.push(c);
            continue;
        }
        let byte = names::byte_of(c).map(|byte| vec![byte]);
        let bytes = byte.unwrap_or_else(|| shown.as_bytes().to_vec());
        let spelled: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        out += &format!("'$'{spelled}''");
    }
    out
}

/// `word` as one word of a POSIX shell line, quoted only when necessary.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether `path` is a Windows path: one with a drive, or on a server.
pub fn is_windows_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    let has_drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    has_drive || path.starts_with(r"\\")
}

/// A line that starts a program on Windows. The reader may be `cmd.exe` or PowerShell. Both accept
/// a word without quotes, and `cmd /c` with one pair of quotes around a path with blanks. Other
/// words follow the rules of PowerShell, which most hosts use.
pub fn windows_line(words: &[String]) -> String {
    let plain = |word: &str| {
        let fits = |c: char| c.is_alphanumeric() || "-_./:\\+".contains(c);
        !word.is_empty() && word.chars().all(fits)
    };
    let Some((program, arguments)) = words.split_first() else { return String::new() };
    let blanks_only = plain(&program.replace(' ', ""));
    if arguments.iter().all(|word| plain(word)) && blanks_only {
        let rest: String = arguments.iter().map(|word| format!(" {word}")).collect();
        return match plain(program) {
            true => format!("{program}{rest}"),
            false => format!("cmd /c \"{program}\"{rest}"),
        };
    }
    let quoted = |word: &String| match plain(word) {
        true => format!(" {word}"),
        false => format!(" '{}'", word.replace('\'', "''")),
    };
    let rest: String = arguments.iter().map(quoted).collect();
    format!("& '{}'{rest}", program.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_are_wrapped() {
        let words = "word ".repeat(20);
        let wrapped = messages_wrapped(&format!("  fix: {words}\n  onloop run {words}\nnote: a\n"));
        let (fix, rest) = wrapped.split_once("\n       word").expect("it is wrapped");
        assert_eq!(fix.trim_end(), format!("  fix: {}", "word ".repeat(14)).trim_end());
        assert!(rest.ends_with(&format!("\n  onloop run {words}\nnote: a\n")), "{wrapped}");
    }

    #[test]
    fn escape_sequences_and_hidden_characters_disappear() {
        assert_eq!(printable("a\u{1b}[31mred\u{1b}[0m"), "ared");
        assert_eq!(printable("\u{1b}]0;title\u{7}x"), "x");
        assert_eq!(printable("\u{1b}]8;;http://x\u{1b}\\link"), "link");
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{0}"), "abc");
        assert_eq!(printable("one\r\ntwo\rthree"), "one\ntwo\nthree");
        assert_eq!(printable("\u{1b}"), "");
        assert_eq!(one_line("a\nb\t c\r\n"), "a b  c");
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!(prefix("日本", 4), "日");
        assert_eq!(suffix("日本", 4), "本");
        assert_eq!(ellipsis("abcdef", 5), "ab…");
        assert_eq!(ellipsis("ab", 5), "ab");
    }

    #[test]
    fn fences_outgrow_their_content() {
        assert_eq!(fenced("", "a```b"), "````\na```b\n````\n");
        assert_eq!(fenced("sh", ""), "```sh\n```\n");
    }

    #[test]
    fn lines_for_windows_are_read_alike_by_both_shells_where_that_can_be() {
        let table: [(&[&str], &str); 5] = [
            (&[r"C:\tools\onloop.exe", "hook", "codex"], r"C:\tools\onloop.exe hook codex"),
            (
                &[r"C:\Program Files\onloop.exe", "hook", "--timeout", "60"],
                r#"cmd /c "C:\Program Files\onloop.exe" hook --timeout 60"#,
            ),
            (
                &[r"C:\Program Files (x86)\onloop.exe", "hook"],
                r"& 'C:\Program Files (x86)\onloop.exe' hook",
            ),
            (
                &[r"C:\nodejs\node.exe", r"C:\a b\it's\onloop.mjs", "hook"],
                r"& 'C:\nodejs\node.exe' 'C:\a b\it''s\onloop.mjs' hook",
            ),
            (&[], ""),
        ];
        for (words, expected) in table {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(windows_line(&words), expected);
        }
        for path in [r"C:\a", "d:/a", r"\\server\share\a"] {
            assert!(is_windows_path(path), "{path}");
        }
        for path in ["/usr/bin/onloop", "C:", "node", "", "a:b"] {
            assert!(!is_windows_path(path), "{path}");
        }
    }

    #[test]
    fn lines_break_between_words_and_never_in_backticks() {
        for (text, expected) in [
            ("one two", "one two"),
            ("one two three four", "one two\n  three\n  four"),
            ("say `a b c d e f g` now", "say\n  `a b c d e f g`\n  now"),
            ("a\n  indented line", "a\n  indented\n  line"),
            ("日本語日本語日本 語", "日本語日本語日本 語"),
            ("", ""),
        ] {
            assert_eq!(wrapped(text, 10, 2), expected, "{text:?}");
        }
    }

    #[test]
    fn characters_that_show_nothing_are_left_out_or_spelled_out() {
        for c in ['\u{ad}', '\u{115f}', '\u{2028}', '\u{206a}', '\u{3164}', '\u{e0100}'] {
            let text = format!("a{c}b");
            assert_eq!(printable(&text), "ab", "{}", c.escape_unicode());
            assert_eq!(visible(&text, &[]), format!("a{}b", c.escape_unicode()));
        }
    }

    #[test]
    fn a_command_is_typed_on_one_line() {
        assert_eq!(typed("ls a.md\n"), "ls a.md");
        let command = format!("rm {}", shell_word("a\n b\u{1b}[1m\u{202e}"));
        assert_eq!(typed(&command), r"rm 'a'$'\012'' b'$'\033''[1m'$'\342\200\256'''");
    }

    #[test]
    fn a_shell_word_is_quoted_only_when_necessary() {
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word("docs/a.md"), "docs/a.md");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("a\n b"), "'a\n b'");
        assert_eq!(shell_word(r"\"), r"'\'");
    }
}
