//! From the words of a line to the arguments a program gets, as far as they are known.
//!
//! Two answers are kept apart: what is *certain* (which alone can allow) and a *guess* at
//! what an unknown part probably is (which can only forbid).

mod braces;
mod output;

use std::collections::{BTreeMap, BTreeSet};

use super::shell::{AssignmentForm, ParsedShell, Piece, ScopeKind, Simple, Word};
use braces::braces;
use onloop_syntax::text::says_secret;
use output::{MADE, Output, TEMPORARY};

/// Stands for text that is not known. The byte itself cannot occur in an argument.
pub const HOLE: char = '\0';

/// `text` for people: what is not known shows as `…`.
pub fn shown(text: &str) -> String {
    text.replace(HOLE, "…")
}

/// Most words that braces in one word, or loop variables in one command, may make.
const EXPANSIONS: usize = 64;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arg {
    /// Its text, with [`HOLE`] for what is not known.
    pub text: String,
    /// How much of it is certain.
    pub shape: Shape,
    /// The text with guesses in its holes; `None` where it equals `text`.
    pub guess: Option<String>,
    /// Whether a variable in it has a name that says that it is secret.
    pub secret: bool,
    /// Whether git names a commit in each of its holes, and nothing else.
    pub commit: bool,
}

/// How much of an argument is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Exactly this text.
    Exact,
    /// A file name pattern: becomes the matching names, or stays as it is.
    Pattern,
    /// One word with unknown parts.
    Holes,
    /// Any number of words.
    Splits,
}

impl Arg {
    /// An argument that is certain.
    pub(crate) fn exact(text: impl Into<String>) -> Arg {
        Arg { text: text.into(), shape: Shape::Exact, guess: None, secret: false, commit: false }
    }

    /// An argument of which nothing is certain but how many words it is.
    pub(crate) fn unknown(shape: Shape) -> Arg {
        Arg { shape, ..Arg::exact(HOLE) }
    }

    /// The text, when it is certain.
    pub(crate) fn known(&self) -> Option<&str> {
        (self.shape == Shape::Exact).then_some(self.text.as_str())
    }

    /// The best guess at the text.
    pub(crate) fn guessed(&self) -> &str {
        self.guess.as_deref().unwrap_or(&self.text)
    }

    /// Whether the word may begin with anything, an option included.
    pub(crate) fn opaque_start(&self) -> bool {
        self.shape == Shape::Splits || self.text.starts_with(HOLE)
    }

    /// Whether the word may become an option: it is not known, or a pattern that matches a file whose
    /// name is one.
    pub(crate) fn may_be_option(&self) -> bool {
        self.opaque_start()
            || self.shape == Shape::Pattern && self.text.starts_with(['*', '?', '['])
    }
}

/// Commands that write variables named by their arguments. `wait` and `printf` do so with an option.
const WRITERS: [&str; 13] = [
    "read",
    "mapfile",
    "readarray",
    "printf",
    "getopts",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "let",
    "wait",
];

/// The variables of a script, as far as the script itself determines them.
pub(crate) struct Variables<'s> {
    script: &'s ParsedShell,
    /// What `PWD` holds; `None` where it is not known.
    pub cwd: Option<&'s str>,
    home: &'s str,
    temporary: Option<&'s str>,
    known: BTreeMap<&'s str, Variable<'s>>,
    /// Variables that the script gives the value of a secret.
    secrets: BTreeSet<&'s str>,
    /// Variables of the environment that hold a secret.
    given: Option<&'s BTreeSet<String>>,
    /// Some command runs code that may write any variable.
    rewritten: bool,
}

/// Commands that run code in this shell, wherever they stand among wrappers.
const EVALUATORS: [&str; 3] = ["eval", "trap", "source"];

/// Whether the shell writes a variable itself, so that what the script gives it does not last.
/// Source: manual of bash 5.2.
fn is_written_by_shell(name: &str) -> bool {
    const NAMES: &str = "_ REPLY MAPFILE OPTARG OPTIND PWD OLDPWD DIRSTACK LINENO FUNCNAME \
        PIPESTATUS GROUPS HISTCMD RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME SHELLOPTS \
        SHLVL UID EUID PPID HOSTNAME HOSTTYPE MACHTYPE OSTYPE COLUMNS LINES";
    NAMES.split(' ').any(|known| known == name)
        || ["BASH", "COMP_", "COMPREPLY", "COPROC", "READLINE_"]
            .iter()
            .any(|begin| name.starts_with(begin))
}

#[derive(Default)]
struct Variable<'s> {
    writes: usize,
    certain_at: Option<usize>,
    value: Option<&'s Word>,
}

/// What a variable holds.
enum Value {
    Known(String),
    /// One of the names that this pattern matches.
    Matching(String),
    Unknown {
        guess: Option<String>,
    },
}

type Binding<'a> = (&'a str, &'a Arg);

/// The variable that a command writes that gets this word; `None` if it is only known when the line runs.
fn written_name(word: &Word) -> Option<&str> {
    match word {
        Word::Literal(text) => text.split('=').next(),
        Word::Pieces(pieces) => match pieces.first()? {
            Piece::Text(text) => Some(text.split_once('=')?.0),
            _ => None,
        },
    }
}

/// Whether a program whose name the line computes may be one that writes variables.
fn may_write_any(simple: &Simple, known: &BTreeMap<&str, Variable<'_>>) -> bool {
    let is_prefix = |word: &&Word| {
        word.as_literal().is_some_and(|text| matches!(text, "command" | "builtin" | "-p" | "--"))
    };
    let program = match simple.words.iter().find(|word| !is_prefix(word)) {
        Some(Word::Pieces(pieces)) => pieces.as_slice(),
        Some(Word::Literal(_)) | None => return false,
    };
    let name = match program {
        [Piece::Variable { name, .. }] => name,
        // Alone, it is `test`.
        [Piece::Wildcard('[')] => return false,
        _ => return true,
    };
    let value = known.get(name.as_str()).filter(|variable| variable.writes == 1);
    let value = value.and_then(|variable| variable.value?.as_literal());
    value.is_none_or(|text| {
        let mut words = text.split_ascii_whitespace();
        words.any(|word| word == "." || WRITERS.contains(&word) || EVALUATORS.contains(&word))
    })
}

impl<'s> Variables<'s> {
    /// Finds everything in `script` that writes a variable. `home` is what `~`
    /// becomes; `cwd` is `None` where the script changes it; `temporary` is the run's own folder.
    pub(crate) fn new(
        script: &'s ParsedShell,
        cwd: Option<&'s str>,
        home: &'s str,
        temporary: Option<&'s str>,
    ) -> Self {
        let mut known: BTreeMap<&str, Variable<'_>> = BTreeMap::new();
        let mut rewritten = false;
        for (index, simple) in script.commands.iter().enumerate() {
            for assignment in &simple.assignments {
                let variable = known.entry(&assignment.name).or_default();
                variable.writes += 1;
                variable.value = Some(&assignment.value);
                let plain = assignment.form == AssignmentForm::Plain && simple.words.is_empty();
                variable.certain_at = (plain && simple.certain).then_some(index);
            }
            // `command`, `builtin` and the like may stand before the name.
            let mut words = simple.words.iter().filter_map(Word::as_literal);
            rewritten |= words.clone().any(|word| EVALUATORS.contains(&word));
            rewritten |= words.clone().next() == Some(".");
            let Some(writer) = words.find(|word| WRITERS.contains(word)) else { continue };
            for word in simple.words.iter().skip(1) {
                match written_name(word) {
                    Some(name) => known.entry(name).or_default().writes += 2,
                    // `printf` and `wait` ask where a word may be their option.
                    None => rewritten |= !matches!(writer, "printf" | "wait"),
                }
                // `read -rax` names `x`.
                let letters = word.as_literal().filter(|text| text.starts_with('-'));
                for (at, _) in letters.into_iter().flat_map(|l| l.match_indices(['a', 'p', 'v'])) {
                    known.entry(&letters.unwrap_or_default()[at + 1..]).or_default().writes += 2;
                }
            }
        }
        for (_, variable) in known.iter_mut().filter(|(name, _)| is_written_by_shell(name)) {
            variable.writes += 2;
        }
        for name in &script.volatile {
            known.entry(name).or_default().writes += 2;
        }
        for scope in &script.scopes {
            if let ScopeKind::For { variable, .. } = &scope.kind {
                known.entry(variable).or_default().writes += 1;
            }
        }
        rewritten |= script.commands.iter().any(|simple| may_write_any(simple, &known));
        let secrets = BTreeSet::new();
        Variables { script, cwd, home, temporary, known, secrets, given: None, rewritten }
    }

    /// Follows secrets from variable to variable, until nothing is added; `given` are those of the
    /// environment. What an expansion such as
    /// `${name:=value}` writes counts as a secret wherever a word has one.
    pub(crate) fn find_secrets(&mut self, given: &'s BTreeSet<String>) {
        self.given = Some(given);
        let script = self.script;
        let commands = || script.commands.iter().enumerate();
        let assigned = || {
            let assignments = commands().flat_map(|(at, simple)| {
                let assignments = simple.assignments.iter();
                assignments.map(move |a| (at, a.name.as_str(), std::slice::from_ref(&a.value)))
            });
            let loops = script.scopes.iter().filter_map(|scope| match &scope.kind {
                ScopeKind::For { variable, values } => {
                    Some((0, variable.as_str(), values.as_deref()?))
                }
                _ => None,
            });
            assignments.chain(loops)
        };
        loop {
            let known = self.secrets.len();
            for (at, name, values) in assigned() {
                if values.iter().flat_map(Word::variables).any(|used| self.is_secret(used, at)) {
                    self.secrets.insert(name);
                }
            }
            let has_secret = |(at, simple): (usize, &Simple)| {
                let mut used = simple.words.iter().flat_map(Word::variables);
                used.any(|used| self.is_secret(used, at))
            };
            if !script.volatile.is_empty() && commands().any(has_secret) {
                self.secrets.extend(script.volatile.iter().map(String::as_str));
            }
            if self.secrets.len() == known {
                break;
            }
        }
    }

    /// Whether some variable gets the value of a secret.
    pub(crate) fn hold_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    fn value(&self, name: &str, at: usize, bindings: &[Binding<'_>]) -> Value {
        if let Some((_, arg)) = bindings.iter().find(|(bound, _)| *bound == name) {
            return match arg.shape {
                Shape::Pattern => Value::Matching(arg.text.clone()),
                _ => Value::Known(arg.text.clone()),
            };
        }
        match self.known.get(name) {
            Some(_) if self.output(name, at) == Some(Output::Made) => {
                Value::Unknown { guess: Some(format!("{TEMPORARY}/{MADE}")) }
            }
            None => {
                let known = match name {
                    "HOME" => Some(self.home),
                    "PWD" => self.cwd,
                    "TMPDIR" => self.temporary.filter(|_| !self.rewritten),
                    _ => None,
                };
                let guess = match name {
                    "IFS" => Some(" ".to_owned()),
                    "TMPDIR" => Some(TEMPORARY.to_owned()),
                    _ => None,
                };
                known.map_or(Value::Unknown { guess }, |text| Value::Known(text.to_owned()))
            }
            Some(variable) => {
                let once = variable.writes == 1 && !self.rewritten;
                let certain = once && variable.certain_at.is_some_and(|w| w < at);
                let value = variable.value.and_then(Word::as_literal);
                match value {
                    Some(text) if certain => Value::Known(text.to_owned()),
                    other => Value::Unknown { guess: other.map(str::to_owned) },
                }
            }
        }
    }

    /// The arguments of the command at `index`: one list for each value of the loop
    /// variables it uses.
    pub(crate) fn commands(&self, index: usize) -> Vec<Vec<Arg>> {
        let simple = &self.script.commands[index];
        let mut alternatives: Vec<Vec<Binding<'_>>> = vec![Vec::new()];
        let loops = self.loops(simple, index);
        for (name, values) in &loops {
            if alternatives.len() * values.len() > EXPANSIONS {
                continue;
            }
            let mut longer = Vec::new();
            for bound in &alternatives {
                longer.extend(values.iter().map(|value| [&bound[..], &[(*name, value)]].concat()));
            }
            alternatives = longer;
        }
        alternatives
            .iter()
            .map(|bindings| {
                let sources = simple.source.iter().skip(simple.assignments.len());
                let words = simple.words.iter().zip(sources);
                words.flat_map(|(word, source)| self.word(word, index, bindings, source)).collect()
            })
            .collect()
    }

    /// The loop variables that `simple` uses, with the values they take.
    fn loops(&self, simple: &Simple, index: usize) -> Vec<(&'s str, Vec<Arg>)> {
        let mut loops = Vec::new();
        for at in self.script.scopes_around(simple.scope) {
            let (variable, values) = match &self.script.scopes[at].kind {
                ScopeKind::Function => break,
                ScopeKind::For { variable, values: Some(values) } => (variable.as_str(), values),
                _ => continue,
            };
            if self.rewritten || self.known.get(variable).is_some_and(|known| known.writes > 1) {
                continue;
            }
            let args: Vec<Arg> =
                values.iter().flat_map(|value| self.word(value, index, &[], "")).collect();
            let certain = |arg: &Arg| matches!(arg.shape, Shape::Exact | Shape::Pattern);
            if args.iter().all(certain) && !args.is_empty() {
                loops.push((variable, args));
            }
        }
        loops
    }

    /// The arguments that a single word becomes, used by the command at `index`.
    /// `source` is how it is written, where that is known.
    pub(crate) fn word(
        &self,
        word: &Word,
        index: usize,
        bindings: &[Binding<'_>],
        source: &str,
    ) -> Vec<Arg> {
        match word {
            Word::Literal(text) => vec![Arg::exact(text.as_str())],
            Word::Pieces(pieces) => {
                let Some(words) = braces(pieces, EXPANSIONS) else {
                    return vec![self.pieces(pieces, index, bindings, source).into_splitting()];
                };
                words.iter().map(|word| self.pieces(word, index, bindings, source)).collect()
            }
        }
    }

    /// The one argument that a word becomes where it is not split: an assignment's value, a
    /// redirection's target.
    pub(crate) fn single(&self, word: &Word, index: usize) -> Arg {
        let mut args = self.word(word, index, &[], "");
        match args.len() {
            1 => args.remove(0),
            _ => {
                let secret = args.iter().any(|arg| arg.secret);
                Arg { secret, ..Arg::unknown(Shape::Splits) }
            }
        }
    }

    /// Whether a variable holds a secret where the command at `index` uses it: it gets the value of one,
    /// or it has the name of one and the script may not have set it before. A name with small letters
    /// is the script's own if it sets it anywhere.
    fn is_secret(&self, name: &str, index: usize) -> bool {
        let is_set = |variable: &Variable<'_>| {
            let before = variable.certain_at.is_some_and(|at| at < index);
            variable.writes == 1 && (before || self.loops_over(name, index))
                || name.bytes().any(|b| b.is_ascii_lowercase())
        };
        self.secrets.contains(name)
            || (says_secret(name) || self.given.is_some_and(|given| given.contains(name)))
                && !self.known.get(name).is_some_and(is_set)
    }

    /// Whether the command at `index` stands in a loop that gives this variable its values.
    fn loops_over(&self, name: &str, index: usize) -> bool {
        let begin = self.script.commands[index].scope;
        self.script
            .scopes_around(begin)
            .map(|scope| &self.script.scopes[scope].kind)
            .take_while(|kind| !matches!(kind, ScopeKind::Function))
            .any(|kind| matches!(kind, ScopeKind::For { variable, .. } if variable == name))
    }

    fn pieces(
        &self,
        pieces: &[Piece],
        index: usize,
        bindings: &[Binding<'_>],
        source: &str,
    ) -> Arg {
        let is_unknown = |piece: &&Piece| matches!(piece, Piece::Unknown { .. });
        let names_commit = output::within(source) == Some(Output::Commit)
            && pieces.iter().filter(is_unknown).count() == 1;
        let is_empty = |piece: &&Piece| matches!(piece, Piece::Text(text) if text.is_empty());
        let is_alone = pieces.iter().filter(|piece| !is_empty(piece)).count() == 1;
        let is_made = |name: &str| {
            self.output(name, index) == Some(Output::Made) && self.is_after_success(name, index)
        };
        let mut out = Joined::default();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.quoted(text),
                Piece::Wildcard(c) => {
                    out.wildcards.push(*c);
                    out.push(c.encode_utf8(&mut [0; 4]));
                }
                Piece::Tilde(user) => match user.as_str() {
                    "" => out.push(self.home),
                    // It is what `PWD` holds, which the line may set.
                    "+" => out.hole(None, true),
                    other => {
                        out.push("~");
                        out.push(other);
                    }
                },
                // Alone: in front of a path, a name that could not be made would leave another path.
                Piece::Variable { name, .. } if is_alone && is_made(name) => match self.temporary {
                    Some(folder) => out.push(&format!("{folder}/{MADE}")),
                    None => out.hole(Some(&format!("{TEMPORARY}/{MADE}")), true),
                },
                Piece::Variable { name, .. }
                    if self.output(name, index) == Some(Output::Commit) =>
                {
                    out.commit();
                }
                Piece::Unknown { name: None, .. } if names_commit => out.commit(),
                Piece::Variable { name, quoted } => {
                    out.secret |= self.is_secret(name, index);
                    match self.value(name, index, bindings) {
                        Value::Known(text) => {
                            let splits = text.is_empty()
                                || text.contains([' ', '\t', '\n', '*', '?', '[', ']']);
                            out.splits |= splits && !quoted;
                            out.quoted(&text);
                        }
                        Value::Matching(pattern) => {
                            // A name that matches may have blanks in it.
                            out.splits |= !quoted;
                            out.wildcards.push_str(&pattern);
                            out.push(&pattern);
                        }
                        Value::Unknown { guess } => out.hole(guess.as_deref(), *quoted),
                    }
                }
                Piece::Unknown { name, quoted } => {
                    out.secret |= name.as_ref().is_some_and(|name| self.is_secret(name, index));
                    out.hole(None, *quoted);
                }
                Piece::BraceOpen => out.push("{"),
                Piece::BraceComma => out.push(","),
                Piece::BraceClose => out.push("}"),
            }
        }
        out.finish()
    }
}

impl Arg {
    fn into_splitting(self) -> Arg {
        Arg { shape: Shape::Splits, ..self }
    }
}

#[derive(Default)]
struct Joined {
    text: String,
    guess: String,
    wildcards: String,
    /// Where a `]` stands in the text that closes no bracket.
    literal_ends: Vec<usize>,
    holes: bool,
    /// Some part that is not known may be something else than a name of a commit.
    others: bool,
    splits: bool,
    secret: bool,
}

impl Joined {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.guess.push_str(text);
    }

    /// Adds text of which no character is a wildcard.
    fn quoted(&mut self, text: &str) {
        let begin = self.text.len();
        self.literal_ends.extend(text.match_indices(']').map(|(at, _)| begin + at));
        self.push(text);
    }

    fn hole(&mut self, guess: Option<&str>, quoted: bool) {
        self.text.push(HOLE);
        self.guess.push_str(guess.unwrap_or_default());
        (self.holes, self.others) = (true, true);
        self.splits |= !quoted;
    }

    /// A name of a commit, which has no blanks.
    fn commit(&mut self) {
        self.text.push(HOLE);
        self.holes = true;
    }

    fn finish(mut self) -> Arg {
        let pattern = self.wildcards.contains(['*', '?'])
            || (self.wildcards.contains('[') && self.wildcards.contains(']'));
        let shape = match (self.splits, self.holes, pattern) {
            (true, _, _) => Shape::Splits,
            (false, true, _) => Shape::Holes,
            (false, false, true) => Shape::Pattern,
            (false, false, false) => Shape::Exact,
        };
        if shape == Shape::Pattern {
            self.literal_ends.iter().rev().for_each(|at| self.text.insert(*at, '\\'));
        }
        let guess = (self.holes && self.guess != self.text).then_some(self.guess);
        Arg {
            text: self.text,
            shape,
            guess,
            secret: self.secret,
            commit: self.holes && !self.others,
        }
    }
}
