//! Reads the arguments of a program by its entry in the table: options, their values, and
//! what is left. It judges nothing: what has to be judged is listed, in the order of the words.

use super::expand::{Arg, HOLE, Shape};
use super::judge::entry::{
    ArgFinding, Flag, Others, ParsedArgs, ProgramEntry, Role, Seen, Takes, is_number, lists, words,
};
use super::programs::{Class, find};
use super::verdict::Decision;

/// Reads `args` as the arguments of `program`, which is called `name` in rules and reasons.
pub(super) fn parse<'p>(
    program: &'static ProgramEntry,
    name: &'p str,
    args: &'p [Arg],
) -> ParsedArgs<'p> {
    let parsed = ParsedArgs {
        program,
        name,
        args,
        seen: Vec::new(),
        operands: Vec::new(),
        rest: None,
        other_starts: Vec::new(),
        found: Vec::new(),
    };
    let mut reader = OptionReader { parsed, next: 0, ended: false, shifts: false, may_take: false };
    while reader.next < args.len() && reader.parsed.rest.is_none() {
        reader.word();
    }
    reader.parsed
}

/// The words behind `name` that are certainly names of tests, tasks or packages, and of no file: a folder of
/// packages may be one (`./licenses`).
pub(super) fn names<'p>(name: &'p str, args: &'p [Arg]) -> Vec<&'p Arg> {
    let is_plain = |text: &str| {
        let text = text.strip_prefix("./").unwrap_or(text);
        let text = text.strip_suffix("/...").unwrap_or(text);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-:/".contains(c);
        !text.starts_with('/') && text.chars().all(plain)
    };
    // Behind `--` may be words of another program.
    let end = args.iter().position(|arg| arg.text == "--").unwrap_or(args.len());
    let (mut entry, mut args) = (find(name), &args[..end]);
    while let Some(program) = entry {
        let parsed = parse(program, name, args);
        let Some(rest) = parsed.rest.filter(|_| program.has_subcommands()) else {
            let roles = program.operands;
            let is_name = |at: usize| roles[at.min(roles.len() - 1)] == Role::Name;
            let operands = parsed.operands.iter().enumerate();
            let named =
                operands.filter(|(at, arg)| is_name(*at) && arg.known().is_some_and(is_plain));
            return named.filter(|_| parsed.is_certain()).map(|(_, arg)| *arg).collect();
        };
        entry = program.every_subcommand().find(|sub| sub.is_called(&args[rest].text));
        args = &args[rest + 1..];
    }
    Vec::new()
}

struct OptionReader<'p> {
    parsed: ParsedArgs<'p>,
    next: usize,
    /// Whether `--` has ended the options.
    ended: bool,
    /// Whether what follows may be another operand than it seems: a pattern came before, or an option
    /// that may have taken a word.
    shifts: bool,
    /// Whether the word before was an option without an entry, which may take the next word.
    may_take: bool,
}

/// Options that take nothing in every program.
const TAKE_NOTHING: &str = "-q --quiet --silent -v --verbose --debug -y --yes --json --help";

impl<'p> OptionReader<'p> {
    fn word(&mut self) {
        let program = self.parsed.program;
        let arg = &self.parsed.args[self.next];
        self.next += 1;
        let text = arg.text.as_str();
        // The first word of `cargo +nightly test` chooses the toolchain.
        let may_be_taken = std::mem::take(&mut self.may_take) || text.starts_with('+');
        // Behind an option's letters such a word may be a value and any number of operands.
        let may_be_more = !program.open || text.starts_with('-');
        if arg.may_be_option() && may_be_more && !self.ended {
            self.parsed.found.push(ArgFinding::PossibleOption(arg));
        }
        self.ended |= program.whole_names && !self.parsed.operands.is_empty();
        let in_command = self.role() == Role::Command && !self.parsed.operands.is_empty();
        let option = text.len() > 1 && text.starts_with('-') && !self.ended && !in_command;
        if option && text == "--" {
            self.ended = true;
        } else if option && text.starts_with("--") {
            self.long(arg);
        } else if option {
            self.short(arg);
        } else {
            self.operand(arg);
            if may_be_taken && self.parsed.rest.is_some() {
                self.parsed.other_starts.push(self.next);
            }
        }
    }

    fn role(&self) -> Role {
        let roles = self.parsed.program.operands;
        let at = self.parsed.operands.len().min(roles.len().saturating_sub(1));
        roles.get(at).copied().unwrap_or(Role::Data)
    }

    fn operand(&mut self, arg: &'p Arg) {
        let role = self.role();
        if role == Role::Command || self.parsed.program.has_subcommands() {
            self.parsed.rest = Some(self.next - 1);
            if self.shifts {
                self.parsed.found.push(ArgFinding::UnknownCommand);
            }
            return;
        }
        self.suspicious(arg);
        if is_judged(role) {
            self.parsed.found.push(ArgFinding::Operand(arg, role));
        }
        self.parsed.operands.push(arg);
        self.further_names(arg);
    }

    /// A pattern or what is split stands for any number of words, so that those behind the first are
    /// further operands, and so is what follows it.
    fn further_names(&mut self, arg: &'p Arg) {
        self.shifts |= matches!(arg.shape, Shape::Pattern | Shape::Splits);
        if !self.shifts {
            return;
        }
        let roles = self.parsed.program.operands;
        let at = self.parsed.operands.len().min(roles.len().saturating_sub(1));
        let later = roles[at..].iter();
        self.parsed.found.extend(later.filter_map(|role| match role {
            Role::Command => Some(ArgFinding::UnknownCommand),
            role => is_judged(*role).then_some(ArgFinding::Operand(arg, *role)),
        }));
    }

    fn suspicious(&mut self, arg: &'p Arg) {
        if !arg.text.starts_with("--") {
            return;
        }
        let name = arg.text.split('=').next().unwrap_or_default();
        let flag = self.parsed.program.option(name);
        let matters = |class: Class| class.decision() > Decision::Allow;
        if flag.is_some_and(|(flag, _)| flag.makes.is_some_and(matters)) {
            self.parsed.found.push(ArgFinding::MisplacedOption(name));
        }
    }

    fn long(&mut self, arg: &'p Arg) {
        let (name, value) = match arg.text.split_once('=') {
            Some((name, value)) => (name, Some(part(arg, value))),
            None => (arg.text.as_str(), None),
        };
        if let Some((flag, full)) = self.parsed.program.option(name) {
            // Of a name and its value in one word, some put the value back as the name.
            let takes_none = matches!(flag.takes, Takes::Nothing | Takes::NamedValue(_));
            if takes_none && value.is_some() {
                self.unlisted(&arg.text);
            }
            return self.flagged(flag, full, value);
        }
        match self.shortened(name) {
            Some((flag, full)) => {
                let shortened = ArgFinding::ShortenedOption(name.to_owned());
                if self.parsed.program.is_strict() {
                    self.parsed.found.push(shortened);
                }
                self.flagged(flag, full, value);
            }
            None => self.unlisted(name),
        }
    }

    /// The option that a beginning of a name may mean; of several, the worst.
    fn shortened(&self, name: &str) -> Option<(&'static Flag, &'static str)> {
        let options = self.parsed.program.flags();
        let named = options.flat_map(|flag| {
            words(flag.names).filter(|full| full.starts_with(name)).map(move |full| (flag, full))
        });
        let writes = |flag: &Flag| {
            matches!(flag.takes, Takes::Value(Role::Write) | Takes::Attached(Role::Write))
        };
        named.max_by_key(|(flag, _)| (flag.makes.map(Class::decision), writes(flag)))
    }

    fn flagged(&mut self, flag: &'static Flag, name: &'static str, value: Option<Arg>) {
        let value = match flag.takes {
            Takes::Nothing | Takes::Attached(_) => value,
            // All of a command in one word, and operands behind it.
            Takes::Value(Role::Command) if value.is_some() => {
                self.parsed.found.push(ArgFinding::UnknownCommand);
                value
            }
            Takes::Value(Role::Command) => {
                self.parsed.rest = Some(self.next);
                None
            }
            Takes::Value(role) => value.or_else(|| {
                let is_own = |own: &Flag| words(own.names).any(|full| full == name);
                if !self.parsed.program.options.iter().any(is_own) {
                    self.parsed.other_starts.push(self.next);
                }
                self.next_value(name, role)
            }),
            Takes::NamedValue(role) => {
                self.next_value(name, Role::Data);
                self.next_value(name, role)
            }
        };
        let at = self.parsed.seen.len();
        match flag.takes {
            Takes::Value(role) | Takes::Attached(role) | Takes::NamedValue(role)
                if value.is_some() && is_judged(role) =>
            {
                self.parsed.found.push(ArgFinding::Value(at, role));
            }
            Takes::Nothing | Takes::Value(_) | Takes::Attached(_) | Takes::NamedValue(_) => {}
        }
        self.parsed.found.extend(flag.makes.map(|class| ArgFinding::Makes(name, class)));
        self.parsed.seen.push(Seen { name, value });
    }

    fn next_value(&mut self, name: &str, role: Role) -> Option<Arg> {
        let arg = self.parsed.args.get(self.next)?;
        self.next += 1;
        self.suspicious(arg);
        if role != Role::Text && looks_like_option(&arg.text) {
            self.parsed.found.push(ArgFinding::PossibleOption(arg));
        }
        if matches!(arg.shape, Shape::Splits | Shape::Pattern) && !self.parsed.program.open {
            self.parsed.found.push(ArgFinding::UnquotedValue);
        }
        if arg.shape == Shape::Pattern {
            self.further_names(arg);
        }
        // Behind the first argument some systems read no options, and programs that share a row may
        // not agree on what takes a value, so that this is a file there. What is only listed is often
        // left out by a long option (`--exclude .env`), on which they agree; `fd` has another name only.
        let roles = self.parsed.program.operands;
        let shared = self.parsed.program.names.contains(' ');
        let is_file = match self.role() {
            Role::Read => shared || !self.parsed.operands.is_empty(),
            Role::List => shared && roles == [Role::List] && !name.starts_with("--"),
            _ => false,
        };
        if is_file {
            self.parsed.found.push(ArgFinding::Operand(arg, self.role()));
        }
        Some(arg.clone())
    }

    fn unlisted(&mut self, name: &str) {
        self.may_take = !name.starts_with("--no-") && !lists(TAKE_NOTHING, name);
        if self.parsed.program.is_strict() {
            self.parsed.found.push(ArgFinding::UnlistedOption(name.to_owned()));
        }
    }

    fn short(&mut self, arg: &'p Arg) {
        let program = self.parsed.program;
        let text = arg.text.as_str();
        if let Some((flag, name)) = program.option(text) {
            return self.flagged(flag, name, None);
        }
        if is_number(&text[1..]) {
            return;
        }
        // `-var=x`, as programs written in Go take it.
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| name.len() > 2)
            && let Some((flag, full)) = program.option(name)
        {
            return self.flagged(flag, full, Some(part(arg, value)));
        }
        self.cluster(arg);
    }

    /// Letters behind one dash, of which the last may have a value. Where options are not listed, the
    /// word may as well be one long name, of which only the first letter can be an option with a value.
    fn cluster(&mut self, arg: &'p Arg) {
        let text = arg.text.as_str();
        if self.parsed.program.whole_names {
            return self.unlisted(text);
        }
        if self.parsed.program.others == Others::Harmless {
            let first = text.char_indices().nth(2).map_or(text, |(end, _)| &text[..end]);
            let found = self.parsed.program.option(first);
            if let Some((flag, name)) = found.filter(|(flag, _)| flag.takes != Takes::Nothing) {
                let value = part(arg, &text[first.len()..]);
                self.attached(arg, flag, name, &value);
                self.flagged(flag, name, Some(value));
            } else if first.ends_with([HOLE, '*', '?', '[']) && arg.known().is_none() {
                self.shifts = true;
                self.parsed.found.push(ArgFinding::PossibleOption(arg));
            } else {
                self.unlisted(text);
            }
            return;
        }
        let mut name = String::from("-");
        for (at, letter) in text.char_indices().skip(1) {
            if letter == HOLE {
                return self.unlisted(text);
            }
            name.truncate(1);
            name.push(letter);
            let Some((flag, full)) = self.parsed.program.option(&name) else {
                self.unlisted(&name);
                continue;
            };
            let rest = &text[at + letter.len_utf8()..];
            match flag.takes {
                Takes::Nothing => self.flagged(flag, full, None),
                Takes::Value(_) | Takes::Attached(_) | Takes::NamedValue(_) => {
                    let value = (!rest.is_empty()).then(|| part(arg, rest));
                    if let Some(value) = &value {
                        self.attached(arg, flag, full, value);
                    }
                    return self.flagged(flag, full, value);
                }
            }
        }
    }

    /// Notes a value behind the letter of its option that may turn out empty: the option takes the next
    /// word then, and what follows is read otherwise. And one behind `=`, which some programs take as
    /// the beginning of the value, others not.
    fn attached(&mut self, arg: &'p Arg, flag: &Flag, name: &'static str, value: &Arg) {
        if let (Some(behind), Takes::Value(role) | Takes::Attached(role) | Takes::NamedValue(role)) =
            (value.text.strip_prefix('='), flag.takes)
            && is_judged(role)
            && !behind.is_empty()
        {
            self.parsed.found.push(ArgFinding::Value(self.parsed.seen.len(), role));
            self.parsed.seen.push(Seen { name, value: Some(part(arg, behind)) });
        }
        let takes_next = matches!(flag.takes, Takes::Value(_) | Takes::NamedValue(_));
        if takes_next && self.next < self.parsed.args.len() && may_be_empty(value) {
            self.shifts = true;
            self.parsed.found.push(ArgFinding::PossibleOption(arg));
        }
    }
}

/// Whether a value may be empty: all of it is not known, or is a pattern that matches nothing as well.
pub(super) fn may_be_empty(value: &Arg) -> bool {
    value.known().is_none() && value.text.chars().all(|c| matches!(c, HOLE | '*'))
}

/// Whether a word is an option where the one in front of it takes no value after all; no number, and not an
/// item of a list.
fn looks_like_option(text: &str) -> bool {
    let letters = text.strip_prefix('-').unwrap_or_default();
    letters.starts_with(|c: char| !c.is_ascii_digit() && !c.is_whitespace())
}

/// Whether there is anything to judge about a word of this role.
fn is_judged(role: Role) -> bool {
    match role {
        Role::Data | Role::Text | Role::Name | Role::Command => false,
        Role::Word
        | Role::List
        | Role::Glob
        | Role::Code
        | Role::Address
        | Role::Read
        | Role::Write
        | Role::AtFile
        | Role::Object
        | Role::Shell
        | Role::Refused => true,
    }
}

/// A part of an argument's text, as uncertain as the whole.
fn part(arg: &Arg, text: &str) -> Arg {
    let shape = match arg.shape {
        Shape::Holes if !text.contains(HOLE) => Shape::Exact,
        shape => shape,
    };
    Arg { shape, ..Arg::exact(text) }
}
