//! Patience with providers: who acts now where somebody is not served, and the wait for the first
//! who is served again.
//!
//! What is waited for is in the ledger before anybody waits, so that a process that was killed
//! goes on waiting where it was.

use crate::notify;
use crate::run::context::{Halt, RunContext};
use crate::run::options::Conduct;
use crate::state::store::StoreError;
use onloop_agents::Agent;
use onloop_run::{Event, Refused, Run, Wait};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Who acts.
pub(crate) enum Actor {
    /// This one.
    Served(Agent),
    /// Nobody soon enough: why, on one line.
    Nobody(String),
}

/// The first agent whose provider serves it; waits until there is one.
///
/// # Errors
///
/// [`Halt::Interrupted`] when a person does not want to wait any longer.
pub(crate) async fn whose_turn(cx: &mut RunContext<'_>) -> Result<Actor, Halt> {
    let RunContext { io, store, options: how } = cx;
    let mut told = None;
    loop {
        let until = match look(store.run(), how, io.now()) {
            Look::Served(agent) => return Ok(Actor::Served(agent.clone())),
            Look::TooLong(reason) => return Ok(Actor::Nobody(reason)),
            Look::Waits(wait) => wait.until,
        };
        if told != Some(until) {
            told = Some(until);
            for line in lines(store.run(), how, io.now()) {
                store.note(line);
            }
            store.commit().await?;
            notify::tell(io, store).await;
        }
        let left_ms = until.millis_since(io.now()).min(limits::WAIT_LOOK_MS);
        io.sleep(left_ms).await.map_err(|failure| Halt::from(StoreError::Failed(failure)))?;
    }
}

/// Records that an agent is not served; `went_on` where it had done something before.
pub(crate) fn record_refusal(
    cx: &mut RunContext<'_>,
    refused: Refused,
    went_on: bool,
) -> Result<(), Halt> {
    let before = cx.store.run().wait_of(&refused.agent).filter(|_| !went_on);
    let wait = Wait::after(refused, cx.io.now(), before);
    Ok(cx.store.apply(Event::AgentWaits(wait))?)
}

enum Look<'a> {
    Served(&'a Agent),
    Waits(&'a Wait),
    TooLong(String),
}

fn look<'a>(run: &'a Run, how: &'a Conduct, now: Timestamp) -> Look<'a> {
    let wait_of = |agent: &Agent| run.wait_of(agent.name()).filter(|wait| wait.until > now);
    if let Some(served) = how.agents.iter().find(|agent| wait_of(agent).is_none()) {
        return Look::Served(served);
    }
    let waits: Vec<&Wait> = how.agents.iter().filter_map(wait_of).collect();
    let soon = waits.iter().filter(|wait| wait.length_ms() <= how.max_wait_ms);
    match soon.min_by_key(|wait| wait.until) {
        Some(wait) => Look::Waits(wait),
        None => {
            let clauses: Vec<String> = waits.iter().map(|wait| clause(wait)).collect();
            let longest = text::span(how.max_wait_ms);
            Look::TooLong(format!(
                "{}; that is longer than --max-wait, {longest}",
                clauses.join("; ")
            ))
        }
    }
}

fn clause(wait: &Wait) -> String {
    format!("{}: {} until {}", wait.agent, wait.why.clause(), wait.until.to_rfc3339())
}

/// A line about each agent that is waited for.
fn lines(run: &Run, how: &Conduct, now: Timestamp) -> Vec<String> {
    let waits = how.agents.iter().filter_map(|agent| run.wait_of(agent.name()));
    waits
        .map(|wait| {
            let left = text::span(wait.until.millis_since(now));
            format!(
                "    {}: {}\n    waits until {} ({left})",
                wait.agent,
                wait.why.clause(),
                wait.until.to_rfc3339()
            )
        })
        .collect()
}
