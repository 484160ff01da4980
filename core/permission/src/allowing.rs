//! The allow rules that would allow what is asked about. Each one is tried before it is offered.

use serde_json::json;

use super::expand::HOLE;
use super::judge::entry::ProgramEntry;
use super::paths::{file_name, in_system_folder};
use super::programs;
use super::rules::Source;
use super::verdict::{Decision, Rule, Subject};
use super::{Call, Context, Examined, Ruling, explain};
use onloop_syntax::text;

/// What can be offered about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// This allow rule, a regular expression, allows it.
    Rule(String),
    /// A rule could outweigh what is found first, and something else would still ask.
    NotEnough,
    /// Nothing, or no rule is about it.
    Nothing,
}

/// What to offer about each command of `ruling`, which [`explain`] made of `call` and `context`.
pub fn offers(ruling: &Ruling, call: &Call, context: &Context) -> Vec<Offer> {
    let commands = &ruling.commands;
    let candidates: Vec<Option<String>> =
        (0..commands.len()).map(|at| candidate(commands, at)).collect();
    if candidates.iter().all(Option::is_none) {
        return vec![Offer::Nothing; commands.len()];
    }
    let rules: Vec<&String> = candidates.iter().flatten().collect();
    let yaml = json!({ "permissions": { "allow": rules } }).to_string();
    let after = explain(call, &context.clone().with_rules(Source::Local, &yaml));
    let is_allowed = |at: usize| {
        let finding = after.commands.get(at).and_then(|command| command.finding.as_ref());
        finding.is_none_or(|finding| finding.decision == Decision::Allow)
    };
    let offered = candidates.into_iter().enumerate().map(|(at, rule)| match rule {
        // What the line as a whole does may still ask.
        Some(rule) if is_allowed(at) && after.decision == Decision::Allow => Offer::Rule(rule),
        Some(rule) if is_allowed(at) && asks_elsewhere(&after, at) => Offer::Rule(rule),
        Some(_) => Offer::NotEnough,
        None => Offer::Nothing,
    });
    offered.collect()
}

/// Whether another command than this one is why the line is not allowed.
fn asks_elsewhere(after: &Ruling, at: usize) -> bool {
    let mut others = after.commands.iter().enumerate().filter(|(index, _)| *index != at);
    others.any(|(_, other)| {
        other
            .finding
            .as_ref()
            .is_some_and(|finding| finding.decision == after.decision && finding.rule == after.rule)
    })
}

/// The rule for the command at this index, which may not be enough.
fn candidate(commands: &[Examined], at: usize) -> Option<String> {
    let command = &commands[at];
    let finding = command.finding.as_ref().filter(|finding| finding.decision == Decision::Ask)?;
    let names_option = matches!(finding.rule, Rule::Option(_));
    if !names_option && !finding.rule.overridable(Subject::Command) {
        return None;
    }
    // The finding of a command within is offered there.
    let mut within = commands[at + 1..].iter().take_while(|inner| inner.depth > command.depth);
    if within.any(|inner| inner.finding.as_ref() == Some(finding)) {
        return None;
    }
    let certain = !command.words.iter().any(|word| word.contains(HOLE));
    let (first, rest) = command.words.split_first().filter(|_| certain)?;
    let first = if in_system_folder(first) { file_name(first) } else { first };
    let of_name = command.name.split(' ').skip(1);
    let is_name = of_name.clone().eq(rest.iter().take(of_name.count()).map(String::as_str));
    // Where the table itself asks, a rule about the sub-command; otherwise an argument decides.
    let is_class = match command.class {
        None => finding.containable,
        Some(class) => {
            class.decision() == Decision::Ask && class.is_containable() == finding.containable
        }
    };
    // A sub-command that the tables do not have is part of the line.
    let is_whole = !takes_subcommand(&command.name) || rest.len() < command.name.split(' ').count();
    let general = is_class && is_name && is_whole && !names_option;
    let known = if general { command.name.split(' ').skip(1).count() } else { rest.len() };
    let words = std::iter::once(first).chain(rest[..known].iter().map(String::as_str));
    let pattern: Vec<String> = words.map(escaped).collect();
    Some(format!("^{}{}", pattern.join(" "), if general { "( |$)" } else { "$" }))
}

/// Whether the table has sub-commands of what is called `name`.
fn takes_subcommand(name: &str) -> bool {
    let mut words = name.split(' ');
    let first = words.next().and_then(programs::find);
    let entry = words.try_fold(first, |entry, word| {
        let found = entry?.every_subcommand().find(|sub| sub.is_called(word))?;
        Some(Some(found))
    });
    entry.flatten().is_some_and(ProgramEntry::has_subcommands)
}

/// A word as a regular expression that matches it alone.
fn escaped(word: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    let escape = |c: char| if special(c) { format!("\\{c}") } else { c.to_string() };
    text::one_line(word).chars().map(escape).collect()
}
