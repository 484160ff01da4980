//! What is known about programs, as data.
//!
//! An entry says what running a program does ([`Class`]), what its options change, and what
//! its arguments are ([`Role`]). Nothing here decides anything: the classes have one policy
//! ([`Class::decision`]), and the arguments are judged by their roles. A program without an
//! entry is never allowed.
//!
//! To teach the engine a program, add an entry to the file it belongs to. Start from the
//! harmless reading of the program and list every option that does more.

mod build;
mod check;
mod class;
mod files;
mod forge;
mod git;
mod index;
mod network;
mod packages;
mod repository;
mod services;
mod shell;
mod system;
mod text;

pub(super) use check::ArgCheck;
pub use class::Class;

use super::paths::pattern_matches;

/// What an argument or the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Text without effect: a pattern, a message, a number.
    Data,
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
pub(super) enum Takes {
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
pub(super) struct Flag {
    /// Its names, with their dashes, separated by blanks.
    pub names: &'static str,
    /// Its value.
    pub takes: Takes,
    /// What it turns the program into.
    pub makes: Option<Class>,
}

/// How options that are not listed are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// They take nothing and change nothing that matters.
    Harmless,
    /// A person has to look.
    Refused,
}

/// What is known about a program or one of its sub-commands.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramEntry {
    /// The names it goes by, separated by blanks.
    pub names: &'static str,
    /// What running it does when no option says otherwise.
    pub class: Class,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// Its options.
    pub options: &'static [Flag],
    /// Options that it shares with others.
    pub more_options: &'static [Flag],
    /// How options that are not listed are treated where the class alone would allow.
    pub others: Others,
    /// What its arguments are; the last role repeats.
    pub operands: &'static [Role],
    /// Words that are not known are as harmless as known ones, because no option matters.
    pub open: bool,
    /// Its sub-commands; when there are any, the first argument must be one of them.
    pub subcommands: &'static [ProgramEntry],
    /// More of them, in lists.
    pub more_subcommands: &'static [&'static [ProgramEntry]],
    /// What it is with a sub-command that has no entry; `None` asks.
    pub otherwise: Option<Class>,
    /// Without a sub-command it is what the entry says.
    pub alone: bool,
    /// The judgement that its arguments need besides their roles.
    pub check: Option<ArgCheck>,
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

    pub(crate) const fn subcommands(mut self, subcommands: &'static [ProgramEntry]) -> Self {
        self.subcommands = subcommands;
        self
    }

    pub(crate) const fn check(mut self, check: ArgCheck) -> Self {
        self.check = Some(check);
        self
    }

    /// Whether the entry goes by `name`.
    pub(super) fn is_called(&self, name: &str) -> bool {
        words(self.names).any(|known| known == name)
    }

    /// Every option.
    pub(super) fn flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.options.iter().chain(self.more_options)
    }

    /// Whether its first argument is a sub-command.
    pub(super) fn has_subcommands(&self) -> bool {
        !self.subcommands.is_empty() || !self.more_subcommands.is_empty()
    }

    /// Every sub-command.
    pub(super) fn every_subcommand(&self) -> impl Iterator<Item = &'static ProgramEntry> {
        self.subcommands.iter().chain(self.more_subcommands.iter().copied().flatten())
    }

    /// Whether an option without an entry needs a person. Where the class asks anyway, it changes
    /// nothing.
    pub(super) fn is_strict(&self) -> bool {
        let decides = self.class.is_allowed() || self.has_subcommands();
        self.others == Others::Refused && !self.open && decides
    }

    /// The option called `name`, with that name.
    pub(super) fn option(&self, name: &str) -> Option<(&'static Flag, &'static str)> {
        self.flags().find_map(|flag| {
            let full = words(flag.names).find(|full| *full == name)?;
            Some((flag, full))
        })
    }
}

/// The words of a list in a table.
pub(super) fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
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

/// Entries with what they were made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// What the table is called.
    pub name: &'static str,
    /// The manuals and sources that the entries follow.
    pub source: &'static str,
    /// The entries.
    pub entries: &'static [ProgramEntry],
}

const fn table(
    name: &'static str,
    source: &'static str,
    entries: &'static [ProgramEntry],
) -> Table {
    Table { name, source, entries }
}

/// Every entry.
pub(super) const TABLES: [Table; 10] = [
    table("text", text::SOURCE, text::TABLE),
    table("files", files::SOURCE, files::TABLE),
    table("git", git::SOURCE, git::TABLE),
    table("forge", forge::SOURCE, forge::TABLE),
    table("build", build::SOURCE, build::TABLE),
    table("packages", packages::SOURCE, packages::TABLE),
    table("services", services::SOURCE, services::TABLE),
    table("network", network::SOURCE, network::TABLE),
    table("shell", shell::SOURCE, shell::TABLE),
    table("system", system::SOURCE, system::TABLE),
];

/// The entry for a program's name.
pub(super) fn find(name: &str) -> Option<&'static ProgramEntry> {
    find_row(name).map(|(_, program)| program)
}

/// The table that knows a program, and its entry.
pub(super) fn find_row(name: &str) -> Option<(&'static Table, &'static ProgramEntry)> {
    index::row(name)
}

/// Names of programs that the file name pattern `pattern` may stand for, if they are ones
/// that can be forbidden.
pub(super) fn matching(pattern: &str) -> impl Iterator<Item = &'static str> {
    const FORBIDDEN: [&str; 8] = ["rm", "sudo", "su", "doas", "git", "shred", "mkfs", "cd"];
    FORBIDDEN.into_iter().filter(move |name| pattern_matches(pattern, name))
}
