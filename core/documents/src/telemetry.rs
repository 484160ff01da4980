//! Traces and metrics of a run in the form of OTLP/JSON, rendered from its ledger.
//!
//! Names follow the semantic conventions of OpenTelemetry 1.41.0; names of our own begin with
//! `onloop.`. Ids of traces and spans are digests of the ledger, so a later export of the same run
//! repeats them. Described in `docs/telemetry.md`.

mod metrics;
mod otlp;
mod spans;
#[cfg(test)]
mod tests;

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
