//! A ruling for people: what was understood, what each part is, what decided.

use std::fmt::Write as _;

use super::expand::{HOLE, shown};
use super::verdict::{Decision, Rule, Subject};
use super::{Examined, Ruling};
use onloop_syntax::text;

/// Lines of at most `columns` columns: the decision, the reason, then one block for each
/// command.
pub fn text(ruling: &Ruling, notes: &[String], columns: usize) -> String {
    let mut out = String::new();
    paragraph(&mut out, "", ruling.decision.as_str(), &ruling.reason, columns);
    paragraph(&mut out, "  ", "rule", &ruling.rule.to_string(), columns);
    for command in &ruling.commands {
        command_block(&mut out, command, columns);
    }
    for note in notes {
        paragraph(&mut out, "", "note", note, columns);
    }
    out
}

fn command_block(out: &mut String, command: &Examined, columns: usize) {
    let indent = "  ".repeat(command.depth.min(8));
    let words: Vec<String> =
        command.words.iter().map(|word| text::shell_word(&text::one_line(&shown(word)))).collect();
    let line = text::ellipsis(&words.join(" "), columns.saturating_sub(indent.len() + 2));
    writeln!(out, "{indent}$ {line}").expect("a string takes text");
    let (decision, reason) = match (&command.finding, command.class) {
        (Some(finding), _) => (finding.decision, finding.reason.clone()),
        (None, Some(class)) => (
            Decision::Allow,
            match command.about {
                "" => format!("`{}` {}", command.name, class.sentence()),
                about => format!("`{}` {about}: it {}", command.name, class.sentence()),
            },
        ),
        (None, None) => (Decision::Allow, "judged by what is in it".to_owned()),
    };
    let within = format!("{indent}  ");
    paragraph(out, &within, decision.as_str(), &reason, columns);
    if let Some(class) = command.class {
        let effect =
            format!("it {} (table `{}`, row `{}`)", class.sentence(), command.table, command.name);
        paragraph(out, &within, "effect", &effect, columns);
    }
    let Some(finding) = &command.finding else { return };
    if let Some(rule) = allowing_rule(command) {
        writeln!(out, "{within}Allow it with: {rule}").expect("a string takes text");
    } else if let Some(remedy) = finding.remedy() {
        paragraph(out, &within, "to change it", remedy, columns);
    }
}

/// The allow rule, as a line of a configuration, that allows a command which is asked about; `None`
/// where no rule does.
fn allowing_rule(command: &Examined) -> Option<String> {
    let finding = command.finding.as_ref().filter(|finding| finding.decision == Decision::Ask)?;
    let names_option = matches!(finding.rule, Rule::Option(_));
    if !names_option && !finding.rule.overridable(Subject::Command) {
        return None;
    }
    let certain = !command.words.iter().any(|word| word.contains(HOLE));
    let (first, rest) = command.words.split_first().filter(|_| certain)?;
    // As much of the command as the tables have a name for, and all of it where an option decides.
    let of_name = command.name.split(' ').count().saturating_sub(1);
    let known = if names_option { rest } else { &rest[..of_name.min(rest.len())] };
    let words = std::iter::once(first).chain(known);
    let pattern: Vec<String> = words.map(|word| escaped(word)).collect();
    let end = if names_option { "$" } else { "( |$)" };
    let rule = format!("^{}{end}", pattern.join(" "));
    Some(format!("'{}'", rule.replace('\'', "''")))
}

/// A word as a regular expression that matches it alone.
fn escaped(word: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    let escape = |c: char| if special(c) { format!("\\{c}") } else { c.to_string() };
    text::one_line(word).chars().map(escape).collect()
}

/// `label: text`, wrapped between words.
fn paragraph(out: &mut String, indent: &str, label: &str, content: &str, columns: usize) {
    let mut line = format!("{indent}{label}:");
    for word in text::one_line(content).split(' ') {
        if line.chars().count() + 1 + word.chars().count() > columns && line.trim() != "" {
            writeln!(out, "{line}").expect("a string takes text");
            line = format!("{indent} ");
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "{line}").expect("a string takes text");
}
