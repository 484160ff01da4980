//! Another name for a step, or another number.

use super::refer::{mentions, steps_by_number};
use super::{ArrangeError, Reading, arranged};
use onloop_syntax::diagnostic::{Edit, Span};
use onloop_syntax::text;

/// A step, found at its header or where it is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepHere {
    /// Which step, from 0 in the order of the file.
    pub position: usize,
    /// Its number or its title, or the number in what mentions it: where it was found.
    pub here: Span,
    /// Its number in its header.
    pub number: Span,
    /// Its title, or its whole header where it has none.
    pub title: Span,
    /// Whether its title was found and not a number.
    pub is_title: bool,
}

/// Why a step gets no other name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// Something else is there.
    #[error("only steps can be renamed: their names and numbers")]
    NoStep,
    /// Such text is no title.
    #[error("the name of a step is text on one line, without `**`")]
    Name,
    /// No step can have this number, of so many steps.
    #[error("the number of a step is from 1 to {0} here")]
    Number(usize),
    /// The steps cannot be put into the order that this would need.
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

/// The edits that rename the step at `offset`. A title becomes another one. A number is where the
/// step goes: the others make room, and everything that mentions one of them follows.
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
