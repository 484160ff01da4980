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

pub use class::Class;

use super::judge::entry::{
    Flag, ProgramEntry, Role, attached, makes, makes_with, plain, program, takes, takes_named,
};
use super::judge::tasks;
use super::paths::pattern_matches;

/// A program that sends away what it makes, but for `commands`.
const fn publisher(names: &'static str, commands: &'static [ProgramEntry]) -> ProgramEntry {
    program(names, Class::Publishes, "publishes what the project makes")
        .any_options()
        .subcommands(commands)
        .otherwise(Class::Publishes)
}

/// Sub-commands of such a program that stay on this machine or only show something. Each program has
/// words of its own: one that it does not know may be a folder to publish.
const fn stays(names: &'static str) -> ProgramEntry {
    program(names, Class::Runs, "tries on this machine").any_options().check(tasks::task)
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
