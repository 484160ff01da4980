//! Traces and metrics of a run in the form of OTLP/JSON, rendered from its ledger.
//!
//! Names follow the semantic conventions of OpenTelemetry 1.41.0; names of our own begin with
//! `onloop.`. Ids of traces and spans are digests of the ledger, so a later export of the same run
//! repeats them. Described in `docs/telemetry.md`.

mod metrics;
mod otlp;
mod spans;
#[cfg(test)]
pub(crate) mod tests;

use serde_json::Value;

use super::ledger::{LedgerError, walk};
use spans::Trace;

/// What is exported about a run, one document for each signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Telemetry {
    /// The body of a request to `/v1/traces`.
    pub traces: Value,
    /// The body of a request to `/v1/metrics`.
    pub metrics: Value,
}

/// A turn of an agent, by what is known of it before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnPlace {
    /// Number of the step, from 1.
    pub step: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// How many turns of this attempt have ended before.
    pub earlier: usize,
}

/// The span of a turn that begins, in the form `traceparent` of W3C Trace Context: `own` is the ledger
/// of the run or of the fork that has the turn, `run` the one that is exported.
///
/// # Errors
///
/// The first line of a ledger is damaged.
pub fn trace_parent(run: &[u8], own: &[u8], turn: TurnPlace) -> Result<String, LedgerError> {
    let (trace, span) = (spans::trace_of(run)?, spans::turn_of(own, turn)?);
    Ok(format!("00-{trace}-{span}-01"))
}

/// Renders the ledger of a run and those of its forks, whose attempts belong to its steps.
///
/// Texts of prompts, checks and outputs are included only `with_content`, each capped. A fork whose
/// ledger is damaged is left out.
///
/// # Errors
///
/// Those of [`super::ledger::read`].
pub fn render(
    ledger: &[u8],
    forks: &[Vec<u8>],
    with_content: bool,
) -> Result<Telemetry, LedgerError> {
    let run = walk(ledger, u64::MAX, None, |_, _| {})?.run;
    let mut trace = Trace::begin(ledger, &run, with_content)?;
    for fork in forks {
        // Its own driver says what is wrong with it.
        let _ = trace.add_fork(fork);
    }
    let metrics = metrics::metrics(&trace, &run);
    Ok(Telemetry {
        traces: otlp::traces(&run.id, &trace.id, &trace.spans),
        metrics: otlp::metrics(&run.id, metrics),
    })
}
