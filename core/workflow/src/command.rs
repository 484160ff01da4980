//! Static findings about commands.

use onloop_syntax::diagnostic::Span;
use onloop_syntax::text;

use super::finding::{self, Findings};
use super::value::Value;
use super::{Expectation, ShellCheck, heredoc};
use onloop_effect::Shell;

/// Reports suspicious parts of a check's command.
pub(super) fn look_at(check: &ShellCheck, value: &Value<'_>, field: &str, findings: &mut Findings) {
    let command = check.command.as_str();
    let span = value.span;
    let posix = matches!(check.shell, Shell::Bash | Shell::Sh);
    if posix && let Some(delimiter) = heredoc::unterminated(command) {
        findings.push(finding::check::unterminated_heredoc(span, &delimiter));
    }
    if has_hidden_characters(command) {
        findings.push(finding::step::hidden_character(span, field));
    }
    if let Some(inner) = wrapped(command) {
        findings.push(finding::quoted_value(span, field, inner));
        return;
    }
    let shape = Shape::of(command);
    if shape.reads_like_prose(command) {
        findings.push(finding::check::looks_like_prose(span));
    } else if posix && looks_like_powershell(command) {
        findings.push(finding::check::windows_command(span));
    } else if let (Some(why), Expectation::Pass) = (shape.vacuous(command), check.expect) {
        findings.push(finding::check::vacuous(span, why));
    } else if posix && check.expect == Expectation::Pass && last_line_decides(command) {
        findings.push(finding::check::last_line_decides(span));
    }
    if let Some(path) = machine_path(command) {
        let start = value.text.find(path).filter(|_| !command.contains('\n'));
        let span = start.map_or(span, |at| {
            Span::new(value.span.start + at, value.span.start + at + path.len())
        });
        findings.push(finding::check::machine_path(span, path));
    }
}

fn has_hidden_characters(command: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    !command.bytes().all(plain) && text::printable(command) != command
}

/// The command inside one pair of quotes or backticks around the whole text.
pub(super) fn wrapped(command: &str) -> Option<&str> {
    ['"', '\'', '`'].into_iter().find_map(|quote| {
        let inner = command.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.trim().is_empty() && !inner.contains(quote)).then_some(inner)
    })
}

/// The pieces of a command line.
struct Shape<'t> {
    /// The operator before the last piece.
    last_operator: Option<&'static str>,
    /// The last piece.
    last: &'t str,
    /// Whether text outside quotes contains shell syntax.
    has_syntax: bool,
}

impl<'t> Shape<'t> {
    fn of(command: &'t str) -> Shape<'t> {
        let bytes = command.as_bytes();
        let mut shape = Shape { last_operator: None, last: command.trim(), has_syntax: false };
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"') => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != quote {
                        at += if quote == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b'&' | b'|' | b';' => {
                    let operator = match &bytes[at..] {
                        [b'&', b'&', ..] => "&&",
                        [b'|', b'|', ..] => "||",
                        [b'|', ..] => "|",
                        [b';', ..] => ";",
                        _ => "&",
                    };
                    at += operator.len() - 1;
                    shape.has_syntax = true;
                    let rest = command[at + 1..].trim();
                    if operator != "&" && !rest.is_empty() {
                        shape.last_operator = Some(operator);
                        shape.last = rest;
                    }
                }
                b'$' | b'<' | b'>' | b'=' | b'`' | b'*' | b'{' | b'[' => shape.has_syntax = true,
                _ => {}
            }
            at += 1;
        }
        shape
    }

    /// Why the command cannot fail.
    fn vacuous(&self, command: &str) -> Option<&'static str> {
        if command.contains('\n') {
            return None;
        }
        let mut words = self.last.split_ascii_whitespace();
        let first = words.next()?;
        let succeeds =
            matches!(first, "true" | ":" | "echo" | "printf" | "pwd") || self.last == "exit 0";
        match self.last_operator {
            None if succeeds => Some("it always succeeds"),
            None if first == "git" => vacuous_git(words),
            Some("||" | ";") if succeeds => Some("its last part always succeeds"),
            Some("|") if is_pipe_end(first) && !command.contains("pipefail") => {
                Some("the last command of the pipe succeeds whatever the others do")
            }
            Some(_) | None => None,
        }
    }

    /// Whether a sentence stands in place of a command.
    fn reads_like_prose(&self, command: &str) -> bool {
        if command.contains('\n') {
            return false;
        }
        let bare = outside_quotes(command);
        let is_cjk = |c: char| {
            matches!(c, '\u{3000}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ff60}')
        };
        let first = bare.split_ascii_whitespace().next().unwrap_or("");
        if first.contains(is_cjk) || bare.contains(['。', '，', '；', '→', '—', '…']) {
            return true;
        }
        if self.has_syntax {
            return false;
        }
        let words: Vec<&str> = bare.split_ascii_whitespace().take(40).collect();
        let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let capital = first.len() > 1
            && first.as_bytes()[0].is_ascii_uppercase()
            && first.as_bytes()[1..].iter().all(u8::is_ascii_lowercase);
        let speaks = |word: &&str| {
            const SMALL: [&str; 14] = [
                "the",
                "that",
                "and",
                "is",
                "are",
                "should",
                "must",
                "without",
                "with",
                "when",
                "all",
                "shows",
                "correctly",
                "works",
            ];
            SMALL.contains(&word.trim_end_matches(['.', ',']))
        };
        let has_option = words.iter().any(|word| word.starts_with('-') || word.contains('/'));
        let sentence = capital && words.len() >= 3 && words.get(1).is_some_and(is_word);
        sentence || (!has_option && words.iter().filter(|word| speaks(word)).count() >= 2)
    }
}

fn vacuous_git<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<&'static str> {
    const TELLS: [&str; 3] = ["--exit-code", "--quiet", "--check"];
    match words.next()? {
        "status" | "branch" => Some("git prints the state and always exits 0"),
        "log" | "show" => {
            words.all(|word| word.starts_with('-')).then_some("git prints the history and exits 0")
        }
        "diff" => (!words.any(|word| TELLS.contains(&word)))
            .then_some("`git diff` exits 0 even with differences, unless it has `--exit-code`"),
        _ => None,
    }
}

fn is_pipe_end(program: &str) -> bool {
    matches!(program, "wc" | "tail" | "head" | "cat" | "tee" | "sort" | "uniq" | "less" | "nl")
}

/// `command` without its quoted parts.
fn outside_quotes(command: &str) -> String {
    let mut bare = String::new();
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                chars.next();
            }
            (None, c) => bare.push(c),
            (Some(_), _) => {}
        }
    }
    bare
}

/// `.\gradlew.bat` and `Select-String`: bash drops the backslash or finds no program.
fn looks_like_powershell(command: &str) -> bool {
    let first = command.split_ascii_whitespace().next().unwrap_or("");
    if first.starts_with(".\\") {
        return true;
    }
    let Some((verb, noun)) = first.split_once('-') else {
        return false;
    };
    let pascal = |word: &str| {
        word.len() > 1
            && word.as_bytes()[0].is_ascii_uppercase()
            && word.as_bytes()[1].is_ascii_lowercase()
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    pascal(verb) && pascal(noun)
}

/// A folder of one person's account.
fn machine_path(command: &str) -> Option<&str> {
    const HOMES: [&str; 4] = ["/Users/", "/home/", "C:\\Users\\", "C:/Users/"];
    let start = HOMES.iter().filter_map(|home| command.find(home)).min()?;
    let outside = start == 0 || !is_path_byte(command.as_bytes()[start - 1]);
    let rest = &command[start..];
    let end = rest.find([' ', '\'', '"', ';', '&', '|', ')', '\n', '`']).unwrap_or(rest.len());
    outside.then_some(&rest[..end])
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'~' | b'}')
}

/// Whether `command` has several lines and ignores failures of all but the last.
fn last_line_decides(command: &str) -> bool {
    if !command.contains('\n') {
        return false;
    }
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let stops = ["set -e", "set -o errexit", "set -Ee", "#!"];
    if command.contains("<<") || stops.iter().any(|stop| command.contains(stop)) {
        return false;
    }
    let mut depth = 0_i32;
    while let Some(line) = lines.next() {
        let first = line.split_ascii_whitespace().next().unwrap_or("");
        let opens = matches!(first, "if" | "for" | "while" | "until" | "case");
        let closes = matches!(first, "fi" | "done" | "esac");
        depth += i32::from(opens) - i32::from(closes);
        let joins =
            ["&&", "||", "|", "\\", "{", "(", "do", "then"].iter().any(|end| line.ends_with(end));
        let harmless = matches!(first, "cd" | "export" | "#") || line.starts_with('#') || closes;
        if lines.peek().is_some() && depth == 0 && !joins && !harmless && !line.contains("|| exit")
        {
            return true;
        }
    }
    false
}

/// Empty values of YAML, which no shell can run.
const NOTHING: [&str; 6] = ["\"\"", "''", "[]", "{}", "null", "~"];

/// Whether `command` consists of comments and blank lines, or is an empty value of YAML. Every
/// shell accepts it, and nothing is verified.
pub(super) fn does_nothing(command: &str) -> bool {
    if NOTHING.contains(&command.trim()) {
        return true;
    }
    let mut lines = command.lines().map(str::trim_start);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_cannot_fail() {
        for command in [
            "true",
            ":",
            "echo ok",
            "exit 0",
            "git status",
            "git status --short",
            "git log -1",
            "git diff",
            "git diff main",
            "npm test || true",
            "npm test; echo done",
            "grep x f | wc -l",
            "npm test 2>&1 | tail -20",
            "a && b | cat",
            "pwd",
        ] {
            assert!(Shape::of(command).vacuous(command).is_some(), "{command}");
        }
        for command in [
            "npm test",
            "test -f x && echo ok",
            "git diff --check",
            "git diff --exit-code",
            "grep -q 'a | wc' f",
            "set -o pipefail; a | tail",
            "git log --oneline main..x",
            "echo x | grep -q x",
            "! echo",
            "git merge-base a b",
            "echo \"a || true\" | sh",
        ] {
            assert!(Shape::of(command).vacuous(command).is_none(), "{command}");
        }
    }

    #[test]
    fn sentences_are_told_from_commands() {
        for text in [
            "All tests pass",
            "The page shows the new badge.",
            "app launches and shows the list",
            "npm test → all pass",
            "确认所有测试通过",
            "Run the tests and check the output",
            "npm test — no failures",
        ] {
            assert!(Shape::of(text).reads_like_prose(text), "{text}");
        }
        for text in [
            "npm test",
            "cargo test -p x",
            "grep -q \"The page shows and is\" README.md",
            "rg -n '确认' docs",
            "Rscript check.R",
            "make all",
            "test -f the/and/is",
            "! python3 -m pytest",
            "bash -c 'All tests and the rest'",
            "./All tests",
        ] {
            assert!(!Shape::of(text).reads_like_prose(text), "{text}");
        }
    }

    #[test]
    fn wrapping_quotes_are_one_pair_around_everything() {
        assert_eq!(wrapped("\"npm test\""), Some("npm test"));
        assert_eq!(wrapped("`npm test`"), Some("npm test"));
        assert_eq!(wrapped("\"a\" \"b\""), None);
        assert_eq!(wrapped("npm 'test'"), None);
        assert_eq!(wrapped("\"\""), None);
    }

    #[test]
    fn folders_of_one_person() {
        assert_eq!(machine_path("cd /Users/x/app && make"), Some("/Users/x/app"));
        assert_eq!(machine_path("ls '/home/me'"), Some("/home/me"));
        assert_eq!(machine_path("ls app/home/x"), None);
        assert_eq!(machine_path("make"), None);
    }

    #[test]
    fn lines_that_can_fail_unnoticed() {
        for command in ["npm run lint\nnpm test", "a\nb\nc"] {
            assert!(last_line_decides(command), "{command}");
        }
        for command in [
            "npm test",
            "set -e\na\nb",
            "a &&\nb",
            "cd x\nmake",
            "if a; then\n b\nfi",
            "for x in 1; do\n a\ndone",
            "a \\\n b",
            "python3 - <<'E'\na\nE",
        ] {
            assert!(!last_line_decides(command), "{command}");
        }
    }
}
