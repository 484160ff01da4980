//! Reviews of a run that an agent drives by verbs.

use crate::error::CommandError;
use crate::run::change::{change, not_now};
use crate::run::checks::CheckOptions;
use crate::run::review::{findings, perform};
use crate::state::store::Store;
use onloop_effect::Io;
use onloop_run::Event;
use onloop_syntax::limits;

/// Lets the review agent of the run look at it, and says what it found. Findings of a verdict "not
/// ready" go back to the agent that drives the run.
///
/// # Errors
///
/// The review does not pass.
pub async fn review_driven(
    io: &Io,
    store: &mut Store,
    step: Option<u32>,
) -> Result<(), CommandError> {
    let checks = CheckOptions::step_by_step(io, store.run()).await?;
    let reviewed = perform(io, store, &checks, limits::AGENT_TIMEOUT_MS, step).await;
    checks.end(io).await;
    let event = reviewed?.ok_or_else(CommandError::interrupted)?;
    change(io, store, event).await?;
    let found = findings(store.run());
    if let Some(findings) = &found {
        io.note(findings).await;
    }
    if store.run().reviews.blocking.is_none() {
        return Ok(());
    }
    if let Some(step) = store.run().returnable_findings() {
        change(io, store, Event::FindingsReturned { step }).await?;
    }
    Err(not_now(store.run(), CommandError::failed("the review has not passed")))
}
