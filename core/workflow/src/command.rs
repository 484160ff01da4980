//! Static findings about commands.

use onloop_syntax::diagnostic::Span;
use onloop_syntax::text;

use super::finding::{self, Findings};
use super::runner::{TestRunner, test_runners};
use super::value::Value;
use super::{Expectation, ShellCheck, heredoc};
use onloop_effect::Shell;

mod windows;

pub(crate) use windows::windows_part;

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
    if let Some(inner) = in_backticks(command) {
        findings.push(finding::check::command_in_backticks(span, inner));
        return;
    }
    if command.len() != value.trimmed().len() {
        findings.push(finding::check::quoted_command(span, stands_alone(command)));
    }
    let shape = Shape::of(command);
    let foreign = posix.then(|| windows_part(command)).flatten();
    if shape.reads_like_prose(command) {
        findings.push(finding::check::looks_like_prose(span));
    } else if let Some((part, written_for)) = foreign {
        findings.push(finding::check::windows_command(span, part, written_for, check.shell));
    } else if let Some(why) = check.cannot_fail() {
        findings.push(finding::check::vacuous(span, why));
    } else if let Some(runner) = lists_only(check) {
        findings.push(finding::check::lists_tests(span, runner.name, runner.lists.unwrap_or("")));
    } else if check.ignores_lines() {
        findings.push(finding::check::last_line_decides(span));
    }
    let drive_path =
        windows::drive_path(command).filter(|path| foreign.is_none_or(|(part, _)| part != *path));
    if let Some(path) = machine_path(command).or(drive_path) {
        let start = value.text.find(path).filter(|_| !command.contains('\n'));
        let span = start.map_or(span, |at| {
            Span::new(value.span.start + at, value.span.start + at + path.len())
        });
        findings.push(finding::check::machine_path(span, path));
    }
}

impl ShellCheck {
    /// Why the command exits with 0 whatever the work is; `None`: it can fail, or has to.
    pub(crate) fn cannot_fail(&self) -> Option<&'static str> {
        let command = self.command.as_str();
        Shape::of(command).vacuous(command).filter(|_| self.expect == Expectation::Pass)
    }

    /// Whether failures of all lines but the last are ignored.
    fn ignores_lines(&self) -> bool {
        let posix = matches!(self.shell, Shell::Bash | Shell::Sh);
        posix && self.expect == Expectation::Pass && last_line_decides(&self.command)
    }

    /// Which failures do not fail the check, in words for people; `None`: none is known.
    pub fn vacuous(&self) -> Option<String> {
        let ignores = || {
            self.ignores_lines().then(|| "only its last line decides whether it passes".to_owned())
        };
        self.cannot_fail().map(|why| format!("it cannot fail: {why}")).or_else(ignores)
    }
}

/// The runner of a check all of whose test runners run no test.
fn lists_only(check: &ShellCheck) -> Option<TestRunner> {
    if check.allow_no_tests || check.expect == Expectation::Fail {
        return None;
    }
    let runners = test_runners(&check.command);
    runners.iter().all(|runner| runner.lists.is_some()).then(|| runners.first().cloned())?
}

fn has_hidden_characters(command: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    !command.bytes().all(plain) && text::printable(command) != command
}

/// The command between backticks around the whole text.
fn in_backticks(command: &str) -> Option<&str> {
    let inner = command.strip_prefix('`')?.strip_suffix('`')?;
    (!inner.trim().is_empty() && !inner.contains('`')).then_some(inner)
}

/// The command, if it is read the same without quotes around it.
fn stands_alone(command: &str) -> Option<&str> {
    let begins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '$' | '!' | '(');
    (command.starts_with(begins) && !command.contains('\n') && command.trim() == command)
        .then_some(command)
}

/// The pieces of a command line.
struct Shape<'t> {
    /// The commands between operators, each with the operator before it.
    pieces: Vec<(Option<&'static str>, &'t str)>,
    /// Whether text outside quotes contains shell syntax.
    has_syntax: bool,
    /// Whether the last command runs in the background.
    in_background: bool,
}

impl<'t> Shape<'t> {
    fn of(command: &'t str) -> Shape<'t> {
        let bytes = command.as_bytes();
        let mut shape = Shape { pieces: Vec::new(), has_syntax: false, in_background: false };
        let (mut at, mut start, mut before) = (0, 0, None);
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"') => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != quote {
                        at += if quote == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b'&' | b'|' | b';' | b'\n' => {
                    let operator = match &bytes[at..] {
                        [b'&', b'&', ..] => "&&",
                        [b'|', b'|', ..] => "||",
                        [b'|', ..] => "|",
                        [b';' | b'\n', ..] => ";",
                        _ => "&",
                    };
                    shape.has_syntax |= bytes[at] != b'\n';
                    // `2>&1` and `&>file` are redirections.
                    let redirects = operator == "&"
                        && (bytes[..at].ends_with(b">")
                            || bytes[..at].ends_with(b"<")
                            || bytes[at..].starts_with(b"&>"));
                    if !redirects {
                        shape.pieces.push((before, &command[start..at]));
                        (start, before) = (at + operator.len(), Some(operator));
                    }
                    at += operator.len() - 1;
                }
                b'$' | b'<' | b'>' | b'=' | b'`' | b'*' | b'{' | b'[' => shape.has_syntax = true,
                _ => {}
            }
            at += 1;
        }
        shape.in_background = before == Some("&") && command[start..].trim().is_empty();
        shape.pieces.push((before, &command[start..]));
        shape.pieces.retain(|(_, piece)| !piece.trim().is_empty());
        shape
    }

    /// Why the command cannot fail.
    fn vacuous(&self, command: &str) -> Option<&'static str> {
        if self.pieces.iter().any(|(_, piece)| ends_well(piece)) {
            return Some("its `trap` exits with 0 whatever happens");
        }
        if command.contains('\n') {
            return None;
        }
        if self.in_background {
            return Some("nothing waits for its last part");
        }
        let ((operator, last), before) = self.pieces.split_last()?;
        if first_word(last) == "fi" && self.only_prints() && !stops_at_failure(command) {
            return Some("all branches of its `if` succeed");
        }
        let why = succeeds(last);
        match operator {
            None | Some("&&") => {
                let joined = before.iter().rev().zip(self.pieces.iter().rev());
                let mut chain = joined.take_while(|(_, (operator, _))| *operator == Some("&&"));
                let leads = |piece: &str| changes_place(piece) || succeeds(piece).is_some();
                let lead = chain.all(|((_, piece), _)| leads(piece));
                why.filter(|_| lead && !stops_at_failure(command))
            }
            Some("||") => why.map(|_| "its last part always succeeds"),
            Some("|") => (is_pipe_end(first_word(last)) && !command.contains("pipefail"))
                .then_some("the last command of the pipe succeeds whatever the others do"),
            Some(_) => {
                why.filter(|_| !stops_at_failure(command)).map(|_| "its last part always succeeds")
            }
        }
    }

    /// Whether the command is one `if` whose branches only print.
    fn only_prints(&self) -> bool {
        let pieces = self.pieces.iter().map(|(_, piece)| *piece);
        let mut branches = pieces.skip_while(|piece| first_word(piece) != "then");
        branches.all(|piece| match first_word(piece) {
            keyword @ ("then" | "else") => {
                let inner = piece.trim_start().strip_prefix(keyword).unwrap_or(piece);
                succeeds(inner).is_some()
            }
            "elif" | "fi" => true,
            _ => succeeds(piece).is_some(),
        })
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

/// The words of one command, without the parentheses of a subshell.
fn words(piece: &str) -> impl Iterator<Item = &str> {
    piece.trim_matches([' ', '\t', '(', ')']).split_ascii_whitespace()
}

fn first_word(piece: &str) -> &str {
    words(piece).next().unwrap_or_default()
}

/// Whether a command only says where or how the next one runs.
fn changes_place(piece: &str) -> bool {
    matches!(first_word(piece), "cd" | "pushd" | "export")
}

/// Why one command always succeeds.
fn succeeds(piece: &str) -> Option<&'static str> {
    let mut words = words(piece);
    match words.next()? {
        "true" | ":" | "echo" | "printf" | "pwd" => Some("it always succeeds"),
        "exit" => words.eq(["0"]).then_some("it always succeeds"),
        "wait" => words.next().is_none().then_some("`wait` ignores how what it waits for ends"),
        "git" => vacuous_git(words),
        "make" | "gmake" => vacuous_make(words),
        "find" => {
            let runs = words.any(|word| matches!(word, "-exec" | "-execdir"));
            let one_by_one = runs && words.any(|word| matches!(word, "\\;" | "';'" | "\";\""));
            one_by_one.then_some("`find` ignores how the commands of `-exec … \\;` end")
        }
        "bash" | "sh" => {
            let command = inner_command(piece)?;
            Shape::of(command).vacuous(command)
        }
        _ => None,
    }
}

/// The quoted command of `sh -c`, which is all that the shell runs.
fn inner_command(piece: &str) -> Option<&str> {
    let (shell, rest) = piece.split_once(" -c ").or_else(|| piece.split_once(" -lc "))?;
    let rest = rest.trim_matches([' ', '\t', ')']);
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = rest.strip_prefix(quote)?.strip_suffix(quote)?;
    (words(shell).count() == 1 && !inner.contains(quote)).then_some(inner)
}

/// Whether a command makes the shell end with 0 whatever happens.
fn ends_well(piece: &str) -> bool {
    first_word(piece) == "trap"
        && piece.contains("exit 0")
        && words(piece).last().is_some_and(|signal| matches!(signal, "EXIT" | "0"))
}

/// Why `make` with these words succeeds although its recipes fail.
fn vacuous_make<'w>(words: impl Iterator<Item = &'w str>) -> Option<&'static str> {
    // What follows these letters is their value.
    const VALUES: [char; 9] = ['C', 'f', 'I', 'j', 'l', 'o', 'W', 'O', 'E'];
    let mut options = words.filter(|word| word.starts_with('-'));
    options.find_map(|option| {
        let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let letters = letters.unwrap_or("").split(VALUES).next().unwrap_or("");
        match option {
            "--dry-run" | "--just-print" | "--recon" => Some(MAKE_PRINTS),
            "--ignore-errors" => Some(MAKE_IGNORES),
            _ if letters.contains('n') => Some(MAKE_PRINTS),
            _ if letters.contains('i') => Some(MAKE_IGNORES),
            _ => None,
        }
    })
}

const MAKE_PRINTS: &str = "`make -n` prints commands and runs none";
const MAKE_IGNORES: &str = "`make -i` ignores errors";

fn vacuous_git<'w>(words: impl Iterator<Item = &'w str>) -> Option<&'static str> {
    const TELLS: [&str; 3] = ["--exit-code", "--quiet", "--check"];
    let mut words = words;
    let verb = loop {
        match words.next()? {
            "-C" | "-c" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    match verb {
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
pub(crate) fn outside_quotes(command: &str) -> String {
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

/// Whether a failure of any part ends the command.
fn stops_at_failure(command: &str) -> bool {
    ["set -e", "set -o errexit", "set -Ee", "#!"].iter().any(|stop| command.contains(stop))
}

/// Whether `command` has several lines and ignores failures of all but the last.
fn last_line_decides(command: &str) -> bool {
    if !command.contains('\n') {
        return false;
    }
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    if command.contains("<<") || stops_at_failure(command) {
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
            "cd sub && git status --short",
            "cd sub; git status",
            "(cd sub && git --no-pager log -1)",
            "git -C sub -c x=y status",
            "pushd sub && echo there && git diff",
            "make; git status",
            "make || git log -1",
            "npm test &",
            "go test ./... & wait",
            "cd sub && make -n",
            "make -kis test",
            "make --ignore-errors",
            "find . -name '*.py' -exec python3 -m py_compile {} \\;",
            "find . -exec sh -n {} ';'",
            "trap 'exit 0' EXIT; npm test",
            "trap 'exit 0' EXIT\nnpm test",
            "if npm test; then echo ok; else echo no; fi",
            "if npm test 2>&1; then echo ok; fi",
            "bash -c \"npm test; exit 0\"",
            "sh -c 'npm test || true'",
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
            "cd sub && make",
            "cd sub && make && git status",
            "cd sub && make; git status && test -f x",
            "set -e; make; git status",
            "git -C sub diff --exit-code",
            "echo 'a && true'; make",
            "npm test 2>&1",
            "npm test &>log",
            "server & npm test",
            "npm test & wait $!",
            "make -C nested -j4 test",
            "make -f ci.mk",
            "find . -name x -exec grep -q y {} +",
            "find . -exec false \\; | grep -q x",
            "trap 'kill $pid' EXIT; npm test",
            "if npm test; then echo ok; else exit 1; fi",
            "if npm test; then make; else echo no; fi",
            "bash -c 'npm test'",
            "bash -ec 'npm test; exit 0'",
            "bash -e -c 'npm test; exit 0'",
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
    fn backticks_are_one_pair_around_everything() {
        assert_eq!(in_backticks("`npm test`"), Some("npm test"));
        assert_eq!(in_backticks("`a` `b`"), None);
        assert_eq!(in_backticks("npm `test`"), None);
        assert_eq!(in_backticks("``"), None);
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
