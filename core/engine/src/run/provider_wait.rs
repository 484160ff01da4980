//! Provider fail-over: picks the first agent whose provider accepts requests, or waits for one.
//!
//! The ledger records a wait before it begins, so a restarted driver continues it.

use crate::notify;
use crate::run::context::{Halt, RunContext};
use crate::run::options::RunOptions;
use crate::state::store::StoreError;
use onloop_agents::Agent;
use onloop_run::{Event, Refused, Run, Wait};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The agent that runs the next turn.
pub(crate) enum AgentChoice {
    /// Its provider accepts requests.
    Available(Agent),
    /// Every provider asks for a longer wait than `--max-wait` allows.
    GaveUp {
        /// Why, on one line.
        reason: String,
    },
}

/// The first agent whose provider accepts requests; waits until there is one.
///
/// # Errors
///
/// [`Halt::Interrupted`] when a person ends the wait.
pub(crate) async fn next_available_agent(cx: &mut RunContext<'_>) -> Result<AgentChoice, Halt> {
    let RunContext { io, store, options, .. } = cx;
    let mut reported = None;
    loop {
        let until = match look(store.run(), options, io.now()) {
            Availability::Now(agent) => return Ok(AgentChoice::Available(agent.clone())),
            Availability::TooLate(reason) => return Ok(AgentChoice::GaveUp { reason }),
            Availability::After(wait) => wait.until,
        };
        if reported != Some(until) {
            reported = Some(until);
            for line in lines(store.run(), options, io.now()) {
                store.note(line);
            }
            store.commit().await?;
            notify::deliver(io, store).await;
        }
        let left_ms = until.millis_since(io.now()).min(limits::WAIT_LOOK_MS);
        io.sleep(left_ms).await.map_err(|failure| Halt::from(StoreError::Failed(failure)))?;
    }
}

/// Records that a provider refused an agent; `had_started` says whether the turn had done work.
pub(crate) fn record_refusal(
    cx: &mut RunContext<'_>,
    refused: Refused,
    had_started: bool,
) -> Result<(), Halt> {
    let before = cx.store.run().wait_of(&refused.agent).filter(|_| !had_started);
    let wait = Wait::after(refused, cx.io.now(), before);
    Ok(cx.store.apply(Event::AgentWaits(wait))?)
}

enum Availability<'a> {
    Now(&'a Agent),
    After(&'a Wait),
    TooLate(String),
}

fn look<'a>(run: &'a Run, options: &'a RunOptions, now: Timestamp) -> Availability<'a> {
    let wait_of = |agent: &Agent| run.wait_of(agent.name()).filter(|wait| wait.until > now);
    if let Some(available) = options.agents.iter().find(|agent| wait_of(agent).is_none()) {
        return Availability::Now(available);
    }
    let waits: Vec<&Wait> = options.agents.iter().filter_map(wait_of).collect();
    let soon = waits.iter().filter(|wait| wait.length_ms() <= options.max_wait_ms);
    match soon.min_by_key(|wait| wait.until) {
        Some(wait) => Availability::After(wait),
        None => {
            let clauses: Vec<String> = waits.iter().map(|wait| clause(wait)).collect();
            let longest = text::span(options.max_wait_ms);
            Availability::TooLate(format!(
                "{}; that is longer than --max-wait, {longest}",
                clauses.join("; ")
            ))
        }
    }
}

fn clause(wait: &Wait) -> String {
    format!("{}: {} until {}", wait.agent, wait.why.clause(), wait.until.to_rfc3339())
}

/// A line for each agent that the run waits for.
fn lines(run: &Run, options: &RunOptions, now: Timestamp) -> Vec<String> {
    let waits = options.agents.iter().filter_map(|agent| run.wait_of(agent.name()));
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
