//! Who decides, and through which door.

use crate::effect::{Exit, Io, ProcessIdentity};
use crate::engine::store::Store;
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
    let why = format!(
        "this was started by the agent of step {} (ONLOOP_STEP is set)",
        text::one_line(step)
    );
    Err(refuse(io, what, &why).await)
}

/// As [`demand_person`], also where the agent took `ONLOOP_STEP` out of the environment: whatever
/// it starts has the process that drives the run above it.
///
/// # Errors
///
/// [`Exit::Refused`]; it has been explained.
pub(crate) async fn demand_person_of(io: &Io, store: &Store, what: &str) -> Result<(), Exit> {
    demand_person(io, what).await?;
    let Ok(Some(holder)) = io.holder(&store.paths().driver_lock()).await else { return Ok(()) };
    // Where the system does not tell who is above us, the environment has to do.
    let above = io.ancestors().await.unwrap_or_default();
    let ours = &io.start().process;
    let is_driver = |other: &ProcessIdentity| *other == holder.process;
    if !above.iter().any(is_driver) || holder.process == *ours {
        return Ok(());
    }
    let pid = holder.process.pid;
    let why = format!("this was started below process {pid}, which drives the run");
    Err(refuse(io, what, &why).await)
}

async fn refuse(io: &Io, what: &str, why: &str) -> Exit {
    io.note(format!(
        "ERROR: {what} is for a person to decide, and {why}.\n  Leave it to the person who runs \
         onloop."
    ))
    .await;
    Exit::Refused
}
