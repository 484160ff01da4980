//! Who decides, and through which door.

use crate::effect::{Exit, Io, LockHolder, ProcessIdentity};
use crate::engine::store::{Paths, StateHome};
use crate::run::{Decider, Door};
use crate::text;

/// Whoever uses this process, coming in through `door`.
pub(crate) fn decider(io: &Io, door: Door) -> Decider {
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| io.env(name));
    Decider { user: user.map(text::one_line), door }
}

/// What an agent that works for us has in its environment, and what it then works on.
const AGENT_VARIABLES: [(&str, &str); 2] =
    [("ONLOOP_STEP", "the agent of step"), ("ONLOOP_AUTO_RUN", "an agent of the rw-auto run")];

/// Refuses what only a person may decide where an agent is at work: in its turn of a run or of
/// rw-auto, and in what it starts. An agent can take our variables out of the environment; the
/// process that drives its run stays above it.
///
/// # Errors
///
/// [`Exit::Refused`]; it has been explained.
pub(crate) async fn demand_person(io: &Io, what: &str) -> Result<(), Exit> {
    for (name, who) in AGENT_VARIABLES {
        if let Some(value) = io.env(name) {
            let value = text::one_line(value);
            let why = format!("this was started by {who} {value} ({name} is set)");
            return Err(refuse(io, what, &why).await);
        }
    }
    // Where the system does not tell who is above us, the environment has to do.
    let above = io.ancestors().await.unwrap_or_default();
    match driver_among(io, &above).await {
        None => Ok(()),
        Some((pid, id)) => {
            let why = format!("this was started below process {pid}, which drives run {id}");
            Err(refuse(io, what, &why).await)
        }
    }
}

/// The first of these processes that drives a run, by its number, and the run.
async fn driver_among(io: &Io, processes: &[ProcessIdentity]) -> Option<(u32, String)> {
    let home = StateHome::of(io).ok().filter(|_| !processes.is_empty())?;
    for id in io.list(&home.runs()).await.unwrap_or_default() {
        let driver = Paths::new(&home, "", &id).driver_lock();
        if let Ok(Some(LockHolder { process, live: true })) = io.holder(&driver).await
            && processes.contains(&process)
        {
            return Some((process.pid, id));
        }
    }
    None
}

async fn refuse(io: &Io, what: &str, why: &str) -> Exit {
    io.note(format!(
        "ERROR: {what} is for a person to decide, and {why}.\n  Leave it to the person who runs \
         onloop."
    ))
    .await;
    Exit::Refused
}
