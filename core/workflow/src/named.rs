//! The files that a check names, as far as its text shows.
//!
//! Callers ask whether an agent has changed the files of its own checks. They compare with changed
//! files, so extra names are harmless.

use std::collections::BTreeSet;

use super::{Check, ShellCheck};

/// Most words read from one text; real checks and scripts have fewer.
const WORDS: usize = 4096;

/// Every path that a check may name, relative to the folder in which the run works.
pub fn named_by(check: &Check) -> BTreeSet<String> {
    match check {
        Check::Shell(shell) => {
            let folder = shell.cwd.as_deref().unwrap_or_default();
            named_in(&shell.command, &["", folder])
        }
        Check::Artifact { path, .. } => joined("", path).into_iter().collect(),
        Check::Browser { .. } | Check::HumanReview { .. } => BTreeSet::new(),
    }
}

/// Every path that a text may name, relative to one of these folders, or to one that it changes to.
pub fn named_in(text: &str, folders: &[&str]) -> BTreeSet<String> {
    let words = words(text);
    let mut from: BTreeSet<String> = folders.iter().filter_map(|f| joined("", f)).collect();
    for pair in words.windows(2) {
        if matches!(pair[0].as_str(), "cd" | "pushd" | "-C" | "--prefix" | "--directory") {
            from.extend(folders.iter().filter_map(|folder| joined(folder, &pair[1])));
        }
    }
    let mut named = BTreeSet::new();
    for word in &words {
        // The text before it may be a variable.
        let word = word.trim_start_matches('/');
        named.extend(from.iter().filter_map(|folder| joined(folder, word)));
    }
    named.remove("");
    named
}

/// The files that a check runs as programs, relative to the folder in which the run works.
pub fn run_by(check: &Check) -> BTreeSet<String> {
    match check {
        Check::Shell(ShellCheck { command, cwd, .. }) => {
            let mut found = BTreeSet::new();
            run_in(command, cwd.as_deref().unwrap_or_default(), 4, &mut found);
            found
        }
        Check::Artifact { .. } | Check::Browser { .. } | Check::HumanReview { .. } => {
            BTreeSet::new()
        }
    }
}

/// The files that a script in `folder` runs or sources, relative to the folder in which the run
/// works. The script may start there or in its own folder.
pub fn run_in_script(script: &str, folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // The part before a slash is often the folder of the script.
    let plain = script.replace("$(dirname \"$0\")", ".").replace(['"', '\''], "");
    for from in ["", folder] {
        run_in(&plain, from, 0, &mut found);
    }
    let own = |path: &str| path.rsplit_once('/').and_then(|(_, name)| joined(folder, name));
    let moved: Vec<String> = found.iter().filter_map(|path| own(path)).collect();
    found.extend(moved);
    found
}

/// Adds the programs of a shell line, and of quoted lines in it up to `depth` levels.
fn run_in(text: &str, folder: &str, depth: u32, found: &mut BTreeSet<String>) {
    const INTERPRETERS: [&str; 16] = [
        ".", "source", "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "deno",
        "bun", "ruby", "perl", "php", "pwsh",
    ];
    each_command(text, folder, depth, &mut |folder, command, words| {
        let [program, arguments @ ..] = words else { return };
        // `$HERE/check.sh` is a path even without the variable.
        let written = command.split_whitespace().find(|word| unquoted(word) == *program);
        let is_path = written.is_some_and(|word| word.contains('/')) && !program.starts_with('/');
        let name = program.rsplit('/').next().unwrap_or_default();
        if INTERPRETERS.contains(&name) {
            let script = arguments.iter().find(|word| !word.starts_with('-'));
            found.extend(script.and_then(|script| joined(folder, script)));
        } else if is_path {
            found.extend(joined(folder, program));
        }
    });
    found.remove("");
}

/// Calls `each` for every command of a shell line, with its folder, its text and its words from the
/// program on. Quoted text may be a line as well, up to `depth` levels.
pub(super) fn each_command(
    text: &str,
    folder: &str,
    depth: u32,
    each: &mut dyn FnMut(&str, &str, &[&str]),
) {
    let mut folder = folder.to_owned();
    for command in text.split([';', '|', '&', '\n', '(', ')', '`']) {
        let words: Vec<&str> = command.split_whitespace().map(unquoted).collect();
        let mut rest = words.as_slice();
        while let [first, after @ ..] = rest
            && (first.contains('=')
                || matches!(*first, "!" | "env" | "exec" | "time" | "command" | "then" | "do"))
        {
            rest = after;
        }
        match rest {
            ["cd", to, ..] => folder = joined(&folder, to).unwrap_or(folder),
            rest => each(&folder, command, rest),
        }
    }
    if depth > 0 {
        for quoted in quoted(text) {
            each_command(quoted, &folder, depth - 1, each);
        }
    }
}

/// The word without its quotes, and without a variable for its folder.
fn unquoted(word: &str) -> &str {
    let word = word.trim_matches(['"', '\'']);
    match word.strip_prefix('$').and_then(|word| word.split_once('/')) {
        Some((_, rest)) => rest,
        None => word,
    }
}

/// Every part that may be a word, without quotes, operators and variables.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().filter(|c| *c != '\n')),
            '$' => {
                words.push(std::mem::take(&mut word));
                let braced = chars.next_if_eq(&'{').is_some();
                let in_name = |c: &char| match braced {
                    true => *c != '}',
                    false => c.is_ascii_alphanumeric() || *c == '_',
                };
                while chars.next_if(in_name).is_some() {}
            }
            ';' | '|' | '&' | '(' | ')' | '<' | '>' | '"' | '\'' | '`' | '{' | '}' | '=' | ','
            | ':' | '[' | ']' => words.push(std::mem::take(&mut word)),
            c if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
        if words.len() >= WORDS {
            break;
        }
    }
    words.push(word);
    words.extend(quoted(text).map(str::to_owned));
    words.retain(|word| !word.is_empty());
    words.truncate(WORDS);
    words
}

/// The texts between quotes of the same kind.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    ['"', '\''].into_iter().flat_map(|quote| text.split(quote).skip(1).step_by(2))
}

/// `path` relative to the top, taken from `folder`, without `.` and `..`; `None` if it leads above
/// the top.
pub(super) fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A check of a shell line with default settings.
#[cfg(test)]
pub(super) fn shell(command: &str, cwd: Option<&str>) -> Check {
    Check::Shell(ShellCheck { cwd: cwd.map(str::to_owned), ..ShellCheck::new(command) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Assertion;

    #[test]
    fn a_file_is_named_whatever_surrounds_it() {
        let table = [
            ("sh check.sh", None, "check.sh"),
            ("./ci/check.sh --fast", None, "ci/check.sh"),
            ("FAST=1 bash -c 'sh ci/check.sh'", None, "ci/check.sh"),
            ("cd ci && ./check.sh", None, "ci/check.sh"),
            ("make -C ci -f check.mk", None, "ci/check.mk"),
            ("check.sh", Some("ci"), "ci/check.sh"),
            ("../check.sh", Some("ci"), "check.sh"),
            ("pytest --config=ci/pytest.ini", None, "ci/pytest.ini"),
            ("diff <(./made) expected.txt", None, "expected.txt"),
            ("sh \"my check.sh\"", None, "my check.sh"),
            ("sh my\\ check.sh", None, "my check.sh"),
            ("test \"$(cat out/made.txt)\" = done", None, "out/made.txt"),
            ("$ROOT/check.sh", None, "check.sh"),
            ("${ROOT}/ci/../check.sh", None, "check.sh"),
        ];
        for (command, cwd, expected) in table {
            let named = named_by(&shell(command, cwd));
            assert!(named.contains(expected), "{command}: {named:?}");
        }
        assert!(!named_by(&shell("cat ../../etc/passwd", None)).contains("etc/passwd"));
        let path = "./docs//made.md".to_owned();
        let artifact = Check::Artifact { path, assertion: Assertion::Exists };
        assert_eq!(Vec::from_iter(named_by(&artifact)), ["docs/made.md"]);
        let script = "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\n\"$HERE\"/more.sh\n";
        let named = named_in(script, &["", "ci"]);
        assert!(named.contains("ci/lib.sh") && named.contains("ci/more.sh"), "{named:?}");
        let ran = run_in_script(script, "ci");
        assert!(ran.contains("ci/lib.sh") && ran.contains("ci/more.sh"), "{ran:?}");
        assert!(run_in_script("test -f out.txt\n", "ci").is_empty());
    }

    #[test]
    fn what_is_run_is_told_from_what_is_looked_at() {
        let table: [(&str, &[&str]); 10] = [
            ("sh check.sh", &["check.sh"]),
            ("bash -eu ci/check.sh README.md", &["ci/check.sh"]),
            ("./check.sh && grep -q done README.md", &["check.sh"]),
            ("! ci/check", &["ci/check"]),
            ("cd ci; A=1 ./check.sh", &["ci/check.sh"]),
            ("bash -c \"python3 tools/check.py\"", &["python3", "tools/check.py"]),
            ("grep -q done README.md", &[]),
            ("test -f out.txt", &[]),
            ("/usr/bin/true", &[]),
            ("cargo test", &[]),
        ];
        for (command, expected) in table {
            let found: Vec<String> = run_by(&shell(command, None)).into_iter().collect();
            assert_eq!(found, expected, "{command}");
        }
    }
}
