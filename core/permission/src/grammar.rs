//! The grammars of the tables, for tests and tools that make lines from them.

use super::judge::entry::{ProgramEntry, Takes, words};
use super::programs::TABLES;

/// A program, or a sub-command of one, that a table knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// How it is called: `git push`.
    pub command: String,
    /// Its options.
    pub options: Vec<KnownOption>,
}

/// An option that a table knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownOption {
    /// Its name, with its dashes.
    pub name: &'static str,
    /// Where its value stands.
    pub value: OptionValue,
}

/// Where the value of an option stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// It has none.
    Nothing,
    /// In the next word, or behind the name.
    Next,
    /// Behind the name, if there is one.
    Attached,
    /// In the next two words.
    NextTwo,
}

/// Every grammar that has no sub-commands, in the order of the tables.
pub fn grammars() -> Vec<Grammar> {
    let mut found = Vec::new();
    for entry in TABLES.iter().flat_map(|table| table.entries) {
        collect("", entry, &mut found);
    }
    found
}

fn collect(above: &str, entry: &'static ProgramEntry, found: &mut Vec<Grammar>) {
    let known = entry.flags().flat_map(|flag| {
        let value = match flag.takes {
            Takes::Nothing => OptionValue::Nothing,
            Takes::Value(_) => OptionValue::Next,
            Takes::Attached(_) => OptionValue::Attached,
            Takes::NamedValue(_) => OptionValue::NextTwo,
        };
        words(flag.names).map(move |name| KnownOption { name, value })
    });
    let options: Vec<KnownOption> = known.collect();
    for name in words(entry.names) {
        let command = format!("{above}{name}");
        if entry.has_subcommands() {
            for sub in entry.every_subcommand() {
                collect(&format!("{command} "), sub, found);
            }
        } else {
            found.push(Grammar { command, options: options.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs that run without a question and whose options are not listed, below `entry`.
    fn accept_any(entry: &'static ProgramEntry, found: &mut Vec<&'static str>) {
        if entry.has_subcommands() {
            entry.every_subcommand().for_each(|sub| accept_any(sub, found));
        } else if entry.class.is_allowed() && !entry.is_strict() && entry.check.is_none() {
            found.push(entry.names);
        }
    }

    #[test]
    fn an_option_that_no_table_lists_is_unknown_wherever_words_are_not_plain_data() {
        let mut found = Vec::new();
        for entry in TABLES.iter().flat_map(|table| table.entries) {
            accept_any(entry, &mut found);
        }
        assert_eq!(found, ["echo", "true false : times dirs suspend", "expr factor"]);
    }
}
