//! Who decides, and through which door.

use crate::effect::{Exit, Io};
use crate::run::{Decider, Door};
use crate::text;

/// Whoever uses this process, coming in through `door`.
pub(crate) fn decider(io: &Io, door: Door) -> Decider {
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| io.env(name));
    Decider { user: user.map(text::one_line), door }
}

/// Refuses what only a person may decide where an agent is at work: in its turn of a run, and in
/// what it starts.
///
/// # Errors
///
/// [`Exit::Refused`]; it has been explained.
pub(crate) async fn demand_person(io: &Io, what: &str) -> Result<(), Exit> {
    let Some(step) = io.env("ONLOOP_STEP") else { return Ok(()) };
    let step = text::one_line(step);
    io.note(format!(
        "ERROR: {what} is for a person to decide, and this was started by the agent of step \
         {step}\n  (ONLOOP_STEP is set). Leave it to the person who runs onloop."
    ))
    .await;
    Err(Exit::Refused)
}
