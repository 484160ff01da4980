//! What the table says about a program, and its arguments as they were read by it.

use super::Judge;
use crate::expand::Arg;
use crate::programs::Class;

/// The judgement that a program's arguments need besides their roles.
pub(crate) type Check = fn(&mut Judge<'_>, &ParsedArgs<'_>);

/// What an argument or the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Text without effect: a name, a number.
    Data,
    /// The same, also with a dash in front: a pattern, a message.
    Text,
    /// The name of a test, a task or a package, which no file is read for.
    Name,
    /// A word without a path in it.
    Word,
    /// A path of which names, sizes or counts are shown.
    List,
    /// A pattern of names of files whose content is read.
    Glob,
    /// A path whose content is read.
    Read,
    /// A path that is written.
    Write,
    /// A file or folder that code or configuration is taken from.
    Code,
    /// An address on a network.
    Address,
    /// Data, unless it starts with `@`, which names a file to read.
    AtFile,
    /// A git revision, perhaps with a path: `HEAD:src/main.rs`.
    Object,
    /// Shell code.
    Shell,
    /// The first word of a command that takes the rest of the line.
    Command,
    /// Anything here needs a person.
    Refused,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// The next word, or what follows in the same one.
    Value(Role),
    /// Only what follows in the same word (`--color=always`).
    Attached(Role),
    /// The next two words: a name, then the value.
    NamedValue(Role),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    /// Its names, with their dashes, separated by blanks.
    pub names: &'static str,
    /// Its value.
    pub takes: Takes,
    /// What it turns the program into.
    pub makes: Option<Class>,
}

/// How options that are not listed are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// They take nothing and change nothing that matters.
    Harmless,
    /// A person has to look.
    Refused,
}

/// What is known about a program or one of its sub-commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramEntry {
    /// The names it goes by, separated by blanks.
    pub names: &'static str,
    /// What running it does when no option says otherwise.
    pub class: Class,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// Its options.
    pub options: &'static [Flag],
    /// Options that it shares with others, which may read them otherwise.
    pub more_options: &'static [Flag],
    /// How options that are not listed are treated where the class alone would allow.
    pub others: Others,
    /// What its arguments are; the last role repeats.
    pub operands: &'static [Role],
    /// A word that is not known before the line runs may be an option: none of them matters.
    pub open: bool,
    /// Letters behind one dash are one name, and not several options; behind an operand is none.
    pub whole_names: bool,
    /// Its sub-commands; when there are any, the first argument must be one of them.
    pub subcommands: &'static [ProgramEntry],
    /// More of them, in lists.
    pub more_subcommands: &'static [&'static [ProgramEntry]],
    /// What it is with a sub-command that has no entry; `None` asks.
    pub otherwise: Option<Class>,
    /// Without a sub-command it is what the entry says.
    pub alone: bool,
    /// The judgement that its arguments need besides their roles.
    pub check: Option<Check>,
}

/// An entry without options, whose arguments are data.
pub(crate) const fn program(
    names: &'static str,
    class: Class,
    about: &'static str,
) -> ProgramEntry {
    ProgramEntry {
        names,
        class,
        about,
        options: &[],
        more_options: &[],
        others: Others::Refused,
        operands: &[Role::Data],
        open: false,
        whole_names: false,
        subcommands: &[],
        more_subcommands: &[],
        otherwise: None,
        alone: false,
        check: None,
    }
}

impl ProgramEntry {
    pub(crate) const fn options(mut self, options: &'static [Flag]) -> Self {
        self.options = options;
        self
    }

    /// Options that several programs have in common.
    pub(crate) const fn more_options(mut self, options: &'static [Flag]) -> Self {
        self.more_options = options;
        self
    }

    /// Further lists of sub-commands.
    pub(crate) const fn more_subcommands(
        mut self,
        lists: &'static [&'static [ProgramEntry]],
    ) -> Self {
        self.more_subcommands = lists;
        self
    }

    /// A sub-command without an entry makes it this.
    pub(crate) const fn otherwise(mut self, class: Class) -> Self {
        self.otherwise = Some(class);
        self
    }

    /// It works without a sub-command.
    pub(crate) const fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// No option of the program does more than its class says, nor takes the next word.
    pub(crate) const fn any_options(mut self) -> Self {
        self.others = Others::Harmless;
        self
    }

    pub(crate) const fn operands(mut self, operands: &'static [Role]) -> Self {
        self.operands = operands;
        self
    }

    pub(crate) const fn open(mut self) -> Self {
        self.open = true;
        self
    }

    pub(crate) const fn whole_names(mut self) -> Self {
        self.whole_names = true;
        self
    }

    pub(crate) const fn subcommands(mut self, subcommands: &'static [ProgramEntry]) -> Self {
        self.subcommands = subcommands;
        self
    }

    pub(crate) const fn check(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Whether the entry goes by `name`.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        lists(self.names, name)
    }

    /// Every option.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.options.iter().chain(self.more_options)
    }

    /// Whether its first argument is a sub-command.
    pub(crate) fn has_subcommands(&self) -> bool {
        !self.subcommands.is_empty() || !self.more_subcommands.is_empty()
    }

    /// Every sub-command.
    pub(crate) fn every_subcommand(&self) -> impl Iterator<Item = &'static ProgramEntry> {
        self.subcommands.iter().chain(self.more_subcommands.iter().copied().flatten())
    }

    /// Whether an option without an entry is unknown.
    pub(crate) fn is_strict(&self) -> bool {
        let is_listed = self.flags().next().is_some();
        let decides = self.class.is_allowed() || self.has_subcommands() || is_listed;
        self.others == Others::Refused && decides
    }

    /// The option called `name`, with that name.
    pub(crate) fn option(&self, name: &str) -> Option<(&'static Flag, &'static str)> {
        self.flags().find_map(|flag| {
            let full = words(flag.names).find(|full| *full == name)?;
            Some((flag, full))
        })
    }
}

/// The words of a list in a table.
pub(crate) fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

/// Whether a list in a table has this word.
pub(crate) fn lists(list: &'static str, word: &str) -> bool {
    words(list).any(|known| known == word)
}

/// Whether a word is digits alone.
pub(crate) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// An option without a value that changes nothing.
pub(crate) const fn plain(names: &'static str) -> Flag {
    Flag { names, takes: Takes::Nothing, makes: None }
}

/// An option with a value.
pub(crate) const fn takes(names: &'static str, role: Role) -> Flag {
    Flag { names, takes: Takes::Value(role), makes: None }
}

/// An option with a name and a value.
pub(crate) const fn takes_named(names: &'static str, role: Role) -> Flag {
    Flag { names, takes: Takes::NamedValue(role), makes: None }
}

/// An option whose value, if any, is in the same word.
pub(crate) const fn attached(names: &'static str) -> Flag {
    Flag { names, takes: Takes::Attached(Role::Data), makes: None }
}

/// An option that turns the program into something else.
pub(crate) const fn makes(names: &'static str, class: Class) -> Flag {
    Flag { names, takes: Takes::Nothing, makes: Some(class) }
}

/// An option with a value that turns the program into something else.
pub(crate) const fn makes_with(names: &'static str, role: Role, class: Class) -> Flag {
    Flag { names, takes: Takes::Value(role), makes: Some(class) }
}

/// The arguments of one program or sub-command.
pub(crate) struct ParsedArgs<'p> {
    /// The entry.
    pub program: &'static ProgramEntry,
    /// What it is called in rules and reasons: `git push`.
    pub name: &'p str,
    /// Every argument behind the name.
    pub args: &'p [Arg],
    /// The options that have an entry.
    pub seen: Vec<Seen>,
    /// What is neither an option nor an option's value.
    pub operands: Vec<&'p Arg>,
    /// Where a wrapped command or a sub-command starts in `args`.
    pub rest: Option<usize>,
    /// Where a sub-command starts if an option in front of it takes another number of words.
    pub other_starts: Vec<usize>,
    /// What has to be judged, in the order of the words.
    pub found: Vec<ArgFinding<'p>>,
}

/// An option that was given.
pub(crate) struct Seen {
    /// Its name as the table has it, written out.
    pub name: &'static str,
    /// Its value, if it has one.
    pub value: Option<Arg>,
}

/// Something in the arguments that has to be judged.
pub(crate) enum ArgFinding<'p> {
    /// An operand, by what the table says that it is.
    Operand(&'p Arg, Role),
    /// The value of the option at this index of [`ParsedArgs::seen`].
    Value(usize, Role),
    /// An option of this name, which makes the program do something else.
    Makes(&'static str, Class),
    /// A word that is not known and may be an option, or one that may be an option and no value.
    PossibleOption(&'p Arg),
    /// Words that are not known, in place of an option's value: more than one may come of them.
    UnquotedValue,
    /// A word in front of a command that is not known, so that the command may begin elsewhere, or a
    /// command in the word of its option.
    UnknownCommand,
    /// An option that matters, where another word is expected: after `--`, or in place of a
    /// value. Programs do not agree on how to take it.
    MisplacedOption(&'p str),
    /// An option without an entry, of a program whose options must all have one.
    UnlistedOption(String),
    /// The beginning of an option's name, which another version may complete to another option.
    ShortenedOption(String),
}

impl ParsedArgs<'_> {
    /// Whether an option by one of these names was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.count(names) > 0
    }

    /// Whether an option by one of these names was given that makes the command harmless, and nothing
    /// else that may take it back: its negation, or a word that is not known.
    pub(crate) fn has_certainly(&self, names: &[&str]) -> bool {
        self.has(names) && self.is_certain()
    }

    /// Whether every option is known, and no word may turn out to be another one.
    pub(crate) fn is_certain(&self) -> bool {
        let is_option = |found: &ArgFinding<'_>| match found {
            ArgFinding::PossibleOption(_)
            | ArgFinding::UnquotedValue
            | ArgFinding::UnlistedOption(_)
            | ArgFinding::ShortenedOption(_) => true,
            ArgFinding::Operand(..)
            | ArgFinding::Value(..)
            | ArgFinding::Makes(..)
            | ArgFinding::UnknownCommand
            | ArgFinding::MisplacedOption(_) => false,
        };
        !self.found.iter().any(is_option)
    }

    /// How often options by one of these names were given.
    pub(crate) fn count(&self, names: &[&str]) -> usize {
        self.seen.iter().filter(|seen| names.contains(&seen.name)).count()
    }

    /// The values of the options by one of these names.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<&Arg> {
        let given = self.seen.iter().filter(|seen| names.contains(&seen.name));
        given.filter_map(|seen| seen.value.as_ref()).collect()
    }

    /// The arguments from the first operand on; empty without one.
    pub(crate) fn behind_options(&self) -> &[Arg] {
        let first = self.operands.first();
        let is_first = |arg: &Arg| first.is_some_and(|first| std::ptr::eq(arg, *first));
        let at = self.args.iter().position(is_first).unwrap_or(self.args.len());
        &self.args[at..]
    }

    /// The arguments, when every one of them is certain.
    pub(crate) fn known_args(&self) -> Option<Vec<&str>> {
        self.args.iter().map(Arg::known).collect()
    }

    /// The operands, when every one of them is certain.
    pub(crate) fn known_operands(&self) -> Option<Vec<&str>> {
        self.operands.iter().map(|arg| arg.known()).collect()
    }
}
