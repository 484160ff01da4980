//! A ruling for people: what was understood, what each part is, what decided.

use std::fmt::Write as _;

use super::allowing::Offer;
use super::expand::shown;
use super::verdict::Decision;
use super::{Examined, Ruling};
use onloop_syntax::text;

/// Lines of at most `columns` columns: the decision, the reason, then one block for each
/// command. `offers` says what to offer about each.
pub fn text(ruling: &Ruling, offers: &[Offer], notes: &[String], columns: usize) -> String {
    let mut out = String::new();
    paragraph(&mut out, "", ruling.decision.as_str(), &ruling.reason, columns);
    paragraph(&mut out, "  ", "rule", &ruling.rule.to_string(), columns);
    for (at, command) in ruling.commands.iter().enumerate() {
        command_block(&mut out, command, offers.get(at), columns);
    }
    for note in notes {
        paragraph(&mut out, "", "note", note, columns);
    }
    out
}

fn command_block(out: &mut String, command: &Examined, offer: Option<&Offer>, columns: usize) {
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
    match offer {
        Some(Offer::Rule(rule)) => {
            let quoted = rule.replace('\'', "''");
            writeln!(out, "{within}Allow it with: '{quoted}'").expect("a string takes text");
        }
        Some(Offer::NotEnough) => {
            let why = "no allow rule is enough, because something else in it asks too";
            paragraph(out, &within, "to change it", why, columns);
        }
        Some(Offer::Nothing) | None => {
            if let Some(remedy) = finding.remedy() {
                paragraph(out, &within, "to change it", remedy, columns);
            }
        }
    }
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
