//! Reorders and inserts steps. Numbers at the steps and in mentions follow.

use std::collections::BTreeMap;

use super::Reading;
use super::refer::{mentions, steps_by_number};
use crate::StepPlace;
use onloop_syntax::diagnostic::{Edit, Span};

/// Why a new order is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrangeError {
    /// The order does not name every step exactly once.
    #[error("the order does not name every step once")]
    NotAnOrder,
    /// Text between the steps that move belongs to neither step.
    #[error("step {0} is followed by a heading or text that is part of no step; move it by hand")]
    TextBetween(u32),
}

/// The edits that put the steps into `order`, positions from 0 in the order of the file, and number
/// them 1, 2, 3, …. With the order of the file they only correct the numbers.
///
/// # Errors
///
/// [`ArrangeError`].
pub fn arranged(reading: Reading<'_>, order: &[usize]) -> Result<Vec<Edit>, ArrangeError> {
    let steps = reading.steps();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..steps.len()) {
        return Err(ArrangeError::NotAnOrder);
    }
    let mut numbers = vec![0; steps.len()];
    order.iter().enumerate().for_each(|(position, &at)| numbers[at] = position + 1);
    let renumbering = renumbering(reading, &numbers);
    let moved = |(position, at): (usize, &usize)| (position != *at).then_some(position);
    let first = order.iter().enumerate().find_map(moved);
    let last = order.iter().enumerate().rev().find_map(moved);
    let (Some(first), Some(last)) = (first, last) else { return Ok(renumbering) };
    for (at, step) in steps.iter().enumerate().take(last).skip(first) {
        if step.span.end != steps[at + 1].span.start {
            return Err(ArrangeError::TextBetween(step.number));
        }
    }
    let whole = Span::new(steps[first].span.start, steps[last].span.end);
    let written = reading.slice(whole);
    let end = &written[written.trim_end().len()..];
    let moved = order[first..=last].iter();
    let moved = moved.map(|&at| with_edits(reading, &steps[at], &renumbering));
    let moved: Vec<String> = moved.map(|step| step.trim_end().to_owned()).collect();
    let text = moved.join(&reading.line_break().repeat(2)) + end;
    let outside = |edit: &Edit| edit.span.end <= whole.start || edit.span.start >= whole.end;
    let mut edits: Vec<Edit> = renumbering.into_iter().filter(outside).collect();
    edits.push(Edit::replace(whole, text));
    edits.sort_by_key(|edit| edit.span);
    Ok(edits)
}

/// The edits that insert `text`, a step without its number, as the step at `position` from 0. In
/// `text`, `{number}` stands for its number.
pub fn inserted(reading: Reading<'_>, position: usize, text: &str) -> Vec<Edit> {
    let steps = reading.steps();
    let position = position.min(steps.len());
    let numbers: Vec<usize> =
        (0..steps.len()).map(|at| if at < position { at + 1 } else { at + 2 }).collect();
    let mut edits = renumbering(reading, &numbers);
    let at = match (steps.get(position), steps.last()) {
        (Some(step), _) => step.span.start,
        (None, Some(last)) => last.span.end,
        (None, None) => reading.text.len(),
    };
    let before = &reading.text[..at];
    let line_break = reading.line_break();
    let text = text.replace("{number}", &(position + 1).to_string());
    let mut text = text.trim_end().replace('\n', line_break) + line_break;
    if at < reading.text.len() {
        text += line_break;
    }
    let is_apart = before.is_empty() || before.replace('\r', "").ends_with("\n\n");
    if !is_apart {
        text.insert_str(0, line_break);
    }
    if !before.is_empty() && !before.ends_with('\n') {
        text.insert_str(0, line_break);
    }
    edits.push(Edit::insert(at, text));
    edits.sort_by_key(|edit| edit.span);
    edits
}

/// The edits that give the steps these numbers, at their headers and in mentions.
fn renumbering(reading: Reading<'_>, numbers: &[usize]) -> Vec<Edit> {
    let steps = reading.steps();
    let new: BTreeMap<u32, usize> =
        steps_by_number(reading).into_iter().map(|(number, at)| (number, numbers[at])).collect();
    let at_headers = steps.iter().zip(numbers).filter_map(|(step, number)| {
        let number = number.to_string();
        (reading.slice(step.id) != number).then(|| Edit::replace(step.id, number))
    });
    let mut edits: Vec<Edit> = at_headers.collect();
    edits.extend(mentions(reading).into_iter().filter_map(|mention| {
        let number = *new.get(&mention.number)?;
        (mention.number as usize != number).then(|| Edit::replace(mention.span, number.to_string()))
    }));
    edits.sort_by_key(|edit| edit.span);
    edits
}

/// A step with the edits inside it.
fn with_edits(reading: Reading<'_>, step: &StepPlace, edits: &[Edit]) -> String {
    let inside =
        |edit: &&Edit| edit.span.start >= step.span.start && edit.span.end <= step.span.end;
    let mut text = String::with_capacity(step.span.end - step.span.start);
    let mut from = step.span.start;
    for edit in edits.iter().filter(inside) {
        text.push_str(&reading.text[from..edit.span.start]);
        text.push_str(&edit.text);
        from = edit.span.end;
    }
    text.push_str(&reading.text[from..step.span.end]);
    text
}
