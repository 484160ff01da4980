//! Commands whose output has a known form where it stands in a word or becomes a variable's value.

use super::Variables;
use crate::shell::Word;

/// Where a shell's temporary files are, as a guess.
pub(super) const TEMPORARY: &str = "/tmp";
/// Stands for a name that `mktemp` chose.
pub(super) const MADE: &str = "made";

/// What a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// The path of a new file or folder in the folder for temporary ones.
    Made,
    /// A name of a commit. It has neither blanks nor a colon, behind which a file could stand.
    Commit,
}

/// What is printed by the one command in `$(…)` in a word as it is written.
pub(super) fn within(source: &str) -> Option<Output> {
    let (_, rest) = source.split_once("$(")?;
    let (command, _) = rest.rsplit_once(')')?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b" -_./=~^{}@".contains(&b);
    if !command.bytes().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = command.split_ascii_whitespace().collect();
    let has_only = |words: &[&str], options: &[&str]| {
        let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        let mut given = words.iter().filter(|word| word.starts_with('-'));
        given.all(|word| options.contains(&name(word).as_str()))
    };
    let is_commit = |words: &[&str]| match words {
        ["merge-base", words @ ..] => has_only(words, &["--fork-point", "--octopus"]),
        ["rev-parse", words @ ..] => {
            has_only(words, &["--short", "--verify", "-q", "--quiet", "--abbrev-ref"])
        }
        ["describe", words @ ..] => {
            has_only(words, &["--tags", "--abbrev", "--always", "--exact-match", "--long", "--all"])
        }
        ["branch", "--show-current"] => true,
        _ => false,
    };
    match words.as_slice() {
        ["mktemp", words @ ..] if has_only(words, &["-d", "-q", "-dq", "-qd"]) => {
            words.iter().all(|word| word.starts_with('-')).then_some(Output::Made)
        }
        ["git", words @ ..] => is_commit(words).then_some(Output::Commit),
        _ => None,
    }
}

impl Variables<'_> {
    /// What a variable certainly holds where the command at `at` uses it, if that is the output of such a
    /// command and no more.
    pub(super) fn output(&self, name: &str, at: usize) -> Option<Output> {
        let variable = self.known.get(name)?;
        let once = variable.writes == 1 && !self.rewritten && self.script.functions.is_empty();
        let assigned = variable.certain_at.filter(|assigned| once && *assigned < at)?;
        let mut sources = self.script.commands[assigned].source.iter();
        let value = sources.find_map(|source| source.strip_prefix(name)?.strip_prefix('='))?;
        let value =
            value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
        let is_whole = value.starts_with("$(") && value.ends_with(')');
        let output = within(value).filter(|_| is_whole)?;
        // They may have another program run, say where, or split the name into words.
        let sets = |name: &str| self.known.contains_key(name);
        let mut programs = self.script.commands.iter().filter_map(|command| command.words.first());
        let is_usual = !["TMPDIR", "IFS", "PATH"].into_iter().any(sets)
            && !programs.any(|word| {
                matches!(word.as_literal(), Some("alias" | "hash" | "enable" | "chmod" | "env"))
            });
        (output != Output::Made || is_usual).then_some(output)
    }

    /// Whether the command at `at` does not run where the variable's value could not be made, or stays
    /// harmless then: `cd ""` stays in the folder.
    pub(super) fn is_after_success(&self, name: &str, at: usize) -> bool {
        let simple = &self.script.commands[at];
        let moves = simple.words.first().and_then(Word::as_literal);
        let assigned = self.known.get(name).and_then(|variable| variable.certain_at);
        let is_joined = assigned.is_some_and(|assigned| {
            simple.after_success && self.script.commands[assigned].list == simple.list
        });
        is_joined || !matches!(moves, Some("cd" | "pushd" | "chdir"))
    }
}
