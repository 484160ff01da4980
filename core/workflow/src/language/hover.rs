//! Hover: explains the text at the cursor.

use super::Reading;
use super::refer::{mentions, steps_by_number};
use crate::graph::step_list;
use crate::{Field, Loop, Section, Step, StepPlace};
use onloop_syntax::diagnostic::Span;
use onloop_syntax::text;

/// An explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// As Markdown.
    pub markdown: String,
    /// The range that it explains.
    pub span: Span,
}

/// The address of the format's documentation.
pub(super) const FORMAT: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/workflow-format.md");

/// The explanation of the field, the step or the mention of a step at `offset`.
pub fn hover(reading: Reading<'_>, offset: usize) -> Option<Hover> {
    let touches = |span: Span| span.start <= offset && offset <= span.end;
    let fields = reading.fields();
    let until = fields.partition_point(|place| place.key.start <= offset);
    // The field explains its allowed words; it is close to them.
    for place in fields[..until].iter().rev().take(2) {
        let Some(field) = place.field() else { continue };
        if touches(place.key) {
            return Some(Hover { markdown: meaning(field), span: place.key });
        }
        if !field.values.is_empty() && field.name != "loop" && touches(place.value) {
            return Some(Hover { markdown: meaning(field), span: place.value });
        }
    }
    let at = reading.step_index(offset)?;
    let place = &reading.steps()[at];
    let header = reading.line(place.span.start);
    if touches(header) {
        return Some(Hover { markdown: about_step(reading, at), span: header });
    }
    let mention = mentions(reading).into_iter().find(|mention| touches(mention.span))?;
    let named = *steps_by_number(reading).get(&mention.number)?;
    Some(Hover { markdown: about_step(reading, named), span: mention.span })
}

/// The documentation of a field, as Markdown.
pub(super) fn meaning(field: &Field) -> String {
    let place = match field.section {
        Section::Frontmatter => "frontmatter".to_owned(),
        Section::Step => "field of a step".to_owned(),
        Section::Check if field.types.is_empty() => "field of a check".to_owned(),
        Section::Check => {
            let types = field.types.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>();
            format!("field of a check of type {}", types.join(" or "))
        }
        Section::Assert => "part of an assertion".to_owned(),
    };
    let mut markdown = format!("**`{}`** ({place})\n\n{}", field.name, field.about);
    if !field.default.is_empty() {
        markdown += &format!("\n\nLeft out: {}", field.default);
    }
    markdown + &format!("\n\n[Format]({FORMAT})")
}

fn about_step(reading: Reading<'_>, at: usize) -> String {
    let place = &reading.steps()[at];
    let steps = reading.steps().len();
    let name = markdown_text(&place.name);
    let title = format!("**Step {} of {steps}: {name}**", place.number);
    let plan = reading.parsed.plan.as_ref();
    match plan.and_then(|plan| plan.steps.get(at)) {
        Some(step) => format!("{title}\n\n{}", facts(reading, place, step)),
        None => title,
    }
}

fn facts(reading: Reading<'_>, place: &StepPlace, step: &Step) -> String {
    let mut facts = Vec::new();
    facts.push(match &step.repeat {
        Loop::Never => "One attempt".to_owned(),
        Loop::Until { condition, limit } => {
            let attempts = text::counted(u64::from(limit.get()), "attempt");
            format!("Until {}, at most {attempts}", markdown_text(condition))
        }
    });
    if let Some(needed) = &step.depends_on {
        facts.push(format!("Needs {}", step_list(needed)));
    }
    facts.push(match step.checks.len() {
        0 => "No check".to_owned(),
        count => text::counted(count as u64, "check"),
    });
    if let Some(gate) = reading.step_field(place, "gate") {
        facts.push(format!("Gate: {}", markdown_text(reading.slice(gate.value))));
    }
    if step.script.is_some() {
        facts.push("Has a script".to_owned());
    }
    if step.sensitive {
        facts.push("Touches security".to_owned());
    }
    facts.join(" · ")
}

/// Text of the file, escaped for Markdown.
fn markdown_text(text: &str) -> String {
    let text = text::one_line(text);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ':' | ';' | '\'' | '/' | '?') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
