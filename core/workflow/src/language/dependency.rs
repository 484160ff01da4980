//! The steps that `depends_on` lists: their positions, completion and changes.

use std::collections::BTreeSet;

use super::refer::StepMention;
use super::{Proposal, ProposalKind, Reading};
use crate::value;
use crate::{FieldPlace, PlaceKind, Section, StepPlace};
use onloop_syntax::diagnostic::{Edit, Span};
use onloop_syntax::text;

/// The numbers in every `depends_on`, in the order of the file.
pub(super) fn listed(reading: Reading<'_>) -> Vec<StepMention> {
    let places = reading.fields().iter();
    places.filter(|place| is_list(place)).flat_map(|place| numbers(reading, place)).collect()
}

fn is_list(place: &FieldPlace) -> bool {
    place.is(Section::Step, "depends_on")
}

fn numbers(reading: Reading<'_>, place: &FieldPlace) -> Vec<StepMention> {
    let text = reading.slice(place.value);
    let items = value::list(text).unwrap_or_default();
    let mention = |item: &str| {
        let start = place.value.start + (item.as_ptr() as usize - text.as_ptr() as usize);
        let number = item.parse().ok()?;
        Some(StepMention { number, span: Span::new(start, start + item.len()) })
    };
    items.into_iter().filter_map(mention).collect()
}

/// Most steps that are proposed.
const PROPOSED: usize = 100;

/// The earlier steps that the list at `offset` does not name yet, the nearest first; empty at other
/// positions.
pub(super) fn proposals(reading: Reading<'_>, offset: usize) -> Vec<Proposal> {
    let Some(at) = reading.step_index(offset) else { return Vec::new() };
    let steps = reading.steps();
    let Some(place) = reading.step_field(&steps[at], "depends_on") else { return Vec::new() };
    let from = place.key.end + 1;
    let Some(before) = reading.text.get(from..offset) else { return Vec::new() };
    let is_part = |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '[' | ',' | '-');
    let line = reading.slice(Span::new(reading.line(offset).start, offset)).trim_start();
    let is_below = before.contains('\n');
    let has_begun = is_below || before.contains('[');
    if !before.chars().all(is_part) || is_below && !before.contains('[') && !line.starts_with('-') {
        return Vec::new();
    }
    let digits = |c: &char| c.is_ascii_digit();
    let typed = before.chars().rev().take_while(digits).count();
    let follows = reading.text[offset..].chars().take_while(digits).count();
    let span = Span::new(offset - typed, offset + follows);
    let taken: BTreeSet<u32> = numbers(reading, place)
        .into_iter()
        .filter(|mention| mention.span.start != span.start)
        .map(|mention| mention.number)
        .collect();
    let proposal = |label: String, about: String| Proposal {
        label: label.clone(),
        snippet: label,
        about,
        span,
        kind: ProposalKind::Value,
        goes_on: false,
    };
    let earlier = steps[..at].iter().rev().filter(|step| !taken.contains(&step.number));
    let mut found: Vec<Proposal> = earlier
        .take(PROPOSED)
        .map(|step| {
            let number = match has_begun {
                true => step.number.to_string(),
                false => format!("[{}]", step.number),
            };
            proposal(number, text::one_line(&step.name))
        })
        .collect();
    if !has_begun {
        found.push(proposal("[]".to_owned(), "No step.".to_owned()));
    }
    found
}

/// The edit that makes `numbers` the steps that `step` needs.
pub(super) fn written(reading: Reading<'_>, step: &StepPlace, numbers: &[u32]) -> Option<Edit> {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    with_field(reading, step, "depends_on", &format!("[{}]", words.join(", ")))
}

/// The edit that gives a field of a step this value on one line.
pub(super) fn with_field(
    reading: Reading<'_>,
    step: &StepPlace,
    name: &str,
    value: &str,
) -> Option<Edit> {
    if let Some(place) = reading.step_field(step, name) {
        let whole = Span::new(place.key.end, place.value.end);
        return Some(Edit::replace(whole, format!(": {value}")));
    }
    let fields = reading.fields_in(step.span);
    let last = fields.iter().rfind(|place| {
        matches!(place.what, PlaceKind::Field(Section::Step, _) | PlaceKind::Unknown(Section::Step))
    })?;
    let indent = " ".repeat(reading.column(last.key.start));
    let end = reading.whole_lines(last.span()).end;
    let line_break = reading.line_break();
    let text = match reading.text[..end].ends_with('\n') {
        true => format!("{indent}{name}: {value}{line_break}"),
        false => format!("{line_break}{indent}{name}: {value}"),
    };
    Some(Edit::insert(end, text))
}

/// The edits that remove an item of a list in brackets with its comma, or its line.
pub(super) fn without_item(reading: Reading<'_>, item: Span) -> Option<Edit> {
    let place = reading.fields().iter().find(|place| {
        is_list(place) && place.value.start <= item.start && item.end <= place.value.end
    })?;
    let inside = Span::new(place.value.start, item.start);
    if !reading.slice(inside).starts_with('[') {
        return Some(Edit::replace(reading.whole_lines(item), ""));
    }
    let after = reading.slice(Span::new(item.end, place.value.end));
    let blanks = |text: &str| text.len() - text.trim_start().len();
    if let Some(rest) = after.trim_start().strip_prefix(',') {
        let end = item.end + blanks(after) + 1 + blanks(rest);
        return Some(Edit::replace(Span::new(item.start, end), ""));
    }
    let kept = reading.slice(inside).trim_end();
    let kept = kept.strip_suffix(',').unwrap_or(kept).trim_end();
    Some(Edit::replace(Span::new(inside.start + kept.len(), item.end), ""))
}
