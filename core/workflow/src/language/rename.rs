//! Renames and renumbers steps.

use super::refer::{mentions, steps_by_number};
use super::{ArrangeError, Reading, arranged};
use onloop_syntax::diagnostic::{Edit, Span};
use onloop_syntax::text;

/// A step at the cursor, found at its header or in a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepHere {
    /// Its position from 0 in the order of the file.
    pub position: usize,
    /// The text at the cursor: its number, its title, or the number in a mention.
    pub here: Span,
    /// Its number in its header.
    pub number: Span,
    /// Its title, or its whole header without one.
    pub title: Span,
    /// Whether the cursor is on its title.
    pub is_title: bool,
}

/// Why a new name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// The cursor is not on a step.
    #[error("only steps can be renamed: their names and numbers")]
    NoStep,
    /// The text is not a valid title.
    #[error("the name of a step is text on one line, without `**`")]
    Name,
    /// No step can have this number; the file has this many steps.
    #[error("the number of a step is from 1 to {0} here")]
    Number(usize),
    /// The new number needs an order that is refused.
    #[error(transparent)]
    Order(#[from] ArrangeError),
}

/// The step whose number, title or mention is at `offset`.
pub fn step_at(reading: Reading<'_>, offset: usize) -> Option<StepHere> {
    let touches = |span: Span| span.start <= offset && offset <= span.end;
    let steps = reading.steps();
    let at_header = steps.iter().position(|step| touches(step.id) || touches(step.title));
    let (position, here) = match at_header {
        Some(at) if touches(steps[at].id) => (at, steps[at].id),
        Some(at) => (at, steps[at].title),
        None => {
            let mention = mentions(reading).into_iter().find(|found| touches(found.span))?;
            (*steps_by_number(reading).get(&mention.number)?, mention.span)
        }
    };
    let step = &steps[position];
    let is_title = here == step.title && here.start >= step.id.end;
    Some(StepHere { position, here, number: step.id, title: step.title, is_title })
}

/// The edits that rename the step at `offset`. On a title, the new name replaces it. On a number,
/// the step moves to that number; the other steps make room and all mentions follow.
///
/// # Errors
///
/// [`RenameError`].
pub fn renamed(reading: Reading<'_>, offset: usize, name: &str) -> Result<Vec<Edit>, RenameError> {
    let name = name.trim();
    let step = step_at(reading, offset).ok_or(RenameError::NoStep)?;
    if step.is_title {
        if name.is_empty() || text::one_line(name) != name || name.contains("**") {
            return Err(RenameError::Name);
        }
        return Ok(vec![Edit::replace(step.here, name)]);
    }
    let count = reading.steps().len();
    let position = name.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let position = position.ok_or(RenameError::Number(count))?;
    let mut order: Vec<usize> = (0..count).filter(|other| *other != step.position).collect();
    order.insert(position - 1, step.position);
    Ok(arranged(reading, &order)?)
}
