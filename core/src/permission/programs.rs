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
mod files;
mod git;
mod network;
mod shell;
mod system;
mod text;

use std::collections::BTreeMap;
use std::sync::OnceLock;

pub(super) use check::ArgCheck;

use super::paths::pattern_matches;
use super::verdict::Decision;

/// What running a program does, seen from the person who let an agent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Computes and prints.
    Prints,
    /// Reads files; which ones is judged.
    Reads,
    /// Writes files that its arguments name; which ones is judged.
    Writes,
    /// Builds the project with the rules the project has for it.
    Builds,
    /// Changes history or the index of the repository in a way that can be taken back.
    Records,
    /// Reads or files issues, pull requests and the like through the forge's own client.
    Reports,
    /// Runs another command, which is judged by itself.
    Wraps,
    /// Copies, moves, overwrites or edits files in place.
    Changes,
    /// Deletes files or data for good.
    Deletes,
    /// Runs code that cannot be judged: scripts, packages, interpreters.
    Runs,
    /// Talks to a network or to a service of the machine.
    Connects,
    /// Makes something public, or changes something that others use.
    Publishes,
    /// Ends, starts or configures processes and services.
    Administers,
    /// Shows what may be secret.
    Reveals,
    /// Destroys on purpose.
    Destroys,
    /// Gains the rights of another user.
    Escalates,
    /// Leaves the folder that all paths are judged against.
    Leaves,
    /// Throws away work that is not committed, or rewrites what others have.
    Discards,
}

impl Class {
    /// The policy: what a program of this class may do before any rule of the user.
    pub fn decision(self) -> Decision {
        self.policy().0
    }

    /// The class in a sentence: “it …”.
    pub fn sentence(self) -> &'static str {
        self.policy().1
    }

    fn policy(self) -> (Decision, &'static str) {
        match self {
            Class::Prints => (Decision::Allow, "only prints"),
            Class::Reads => (Decision::Allow, "reads files"),
            Class::Writes => (Decision::Allow, "writes the files that it names"),
            Class::Builds => (Decision::Allow, "builds the project"),
            Class::Records => (Decision::Allow, "records work in git"),
            Class::Reports => (Decision::Allow, "reads or files issues and pull requests"),
            Class::Wraps => (Decision::Allow, "runs another command"),
            Class::Changes => (Decision::Ask, "copies, moves or overwrites files"),
            Class::Deletes => (Decision::Ask, "deletes"),
            Class::Runs => (Decision::Ask, "runs code that cannot be judged"),
            Class::Connects => (Decision::Ask, "talks to a network or a service"),
            Class::Publishes => (Decision::Ask, "changes what others use"),
            Class::Administers => (Decision::Ask, "controls processes or services"),
            Class::Reveals => (Decision::Ask, "shows what may be secret"),
            Class::Destroys => (Decision::Deny, "destroys data"),
            Class::Escalates => (Decision::Deny, "gains the rights of another user"),
            Class::Leaves => (Decision::Deny, "leaves the working folder"),
            Class::Discards => (Decision::Deny, "throws work away"),
        }
    }
}

/// What an argument or the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Text without effect: a pattern, a message, a number.
    Data,
    /// A path of which names, sizes or counts are shown.
    List,
    /// A path whose content is read.
    Read,
    /// A path that is written, or a folder that code is taken from.
    Write,
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
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    /// Its names, with their dashes.
    pub names: &'static [&'static str],
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
    /// The names it goes by.
    pub names: &'static [&'static str],
    /// What running it does when no option says otherwise.
    pub class: Class,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// The options that matter: they take a value, or change the class.
    pub options: &'static [Flag],
    /// How options that are not listed are treated.
    pub others: Others,
    /// What its arguments are; the last role repeats.
    pub operands: &'static [Role],
    /// Words that are not known are as harmless as known ones, because no option matters.
    pub open: bool,
    /// Its sub-commands; when there are any, the first argument must be one of them.
    pub subcommands: &'static [ProgramEntry],
    /// The judgement that its arguments need besides their roles.
    pub check: Option<ArgCheck>,
}

/// An entry whose unlisted options are harmless and whose arguments are data.
pub(crate) const fn program(
    names: &'static [&'static str],
    class: Class,
    about: &'static str,
) -> ProgramEntry {
    ProgramEntry {
        names,
        class,
        about,
        options: &[],
        others: Others::Harmless,
        operands: &[Role::Data],
        open: false,
        subcommands: &[],
        check: None,
    }
}

impl ProgramEntry {
    pub(crate) const fn options(mut self, options: &'static [Flag]) -> Self {
        self.options = options;
        self
    }

    /// Options that are not listed need a person.
    pub(crate) const fn only_these_options(mut self) -> Self {
        self.others = Others::Refused;
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

    /// The option called `name`, with that name.
    pub(super) fn option(&self, name: &str) -> Option<(&'static Flag, &'static str)> {
        self.options.iter().find_map(|flag| {
            let full = flag.names.iter().find(|full| **full == name)?;
            Some((flag, *full))
        })
    }
}

/// An option without a value that changes nothing.
pub(crate) const fn plain(names: &'static [&'static str]) -> Flag {
    Flag { names, takes: Takes::Nothing, makes: None }
}

/// An option with a value.
pub(crate) const fn takes(names: &'static [&'static str], role: Role) -> Flag {
    Flag { names, takes: Takes::Value(role), makes: None }
}

/// An option whose value, if any, is in the same word.
pub(crate) const fn attached(names: &'static [&'static str]) -> Flag {
    Flag { names, takes: Takes::Attached(Role::Data), makes: None }
}

/// An option that turns the program into something else.
pub(crate) const fn makes(names: &'static [&'static str], class: Class) -> Flag {
    Flag { names, takes: Takes::Nothing, makes: Some(class) }
}

/// An option with a value that turns the program into something else.
pub(crate) const fn makes_with(names: &'static [&'static str], role: Role, class: Class) -> Flag {
    Flag { names, takes: Takes::Value(role), makes: Some(class) }
}

/// Every entry.
pub(super) const TABLES: [&[ProgramEntry]; 7] = [
    text::TABLE,
    files::TABLE,
    git::TABLE,
    build::TABLE,
    network::TABLE,
    shell::TABLE,
    system::TABLE,
];

/// The entry for a program's name.
pub(super) fn find(name: &str) -> Option<&'static ProgramEntry> {
    static INDEX: OnceLock<BTreeMap<&'static str, &'static ProgramEntry>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let programs = TABLES.into_iter().flatten();
        programs
            .flat_map(|program| program.names.iter().map(move |name| (*name, program)))
            .collect()
    });
    index.get(name).copied()
}

/// Names of programs that the file name pattern `pattern` may stand for, if they are ones
/// that can be forbidden.
pub(super) fn matching(pattern: &str) -> impl Iterator<Item = &'static str> {
    const FORBIDDEN: [&str; 8] = ["rm", "sudo", "su", "doas", "git", "shred", "mkfs", "cd"];
    FORBIDDEN.into_iter().filter(move |name| pattern_matches(pattern, name))
}
