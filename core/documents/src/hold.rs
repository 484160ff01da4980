//! How what works for a run was confined, as JSON.

use serde_json::Value;

use super::document::{DocumentError, document};
use onloop_effect::{Mechanism, Network};
use onloop_run::{Hold, WorkHold, Worker};

document! {
    sparse;
    /// What held the processes of one worker: `by` and `network`, or `why` nothing did.
    pub(super) struct HoldDocument {
        by: Option<String>,
        network: Option<String>,
        why: Option<String>,
    }
}

document! {
    sparse;
    /// The same, with who worked.
    pub(super) struct WorkHoldDocument {
        worker: Option<String>,
        step: Option<u32>,
        by: Option<String>,
        network: Option<String>,
        why: Option<String>,
    }
}

pub(super) fn document(hold: &Hold) -> HoldDocument {
    let (by, network, why) = match hold {
        Hold::Confined { by, network } => (Some(by.as_str()), Some(network.as_str()), None),
        Hold::Unconfined { why } => (None, None, Some(why.as_str())),
    };
    let [by, network, why] = [by, network, why].map(|part| part.map(str::to_owned));
    HoldDocument { by, network, why, ..HoldDocument::default() }
}

pub(super) fn documents(holds: &[WorkHold]) -> Vec<WorkHoldDocument> {
    let each = |known: &WorkHold| {
        let HoldDocument { by, network, why, .. } = document(&known.hold);
        WorkHoldDocument {
            worker: Some(known.worker.as_str().to_owned()),
            step: Some(known.step),
            by,
            network,
            why,
            ..WorkHoldDocument::default()
        }
    };
    holds.iter().map(each).collect()
}

/// As values, for summaries and receipts.
pub(super) fn values(holds: &[WorkHold]) -> Value {
    serde_json::to_value(documents(holds)).expect("the documents have only string keys")
}

/// # Errors
///
/// Neither a mechanism that is known nor a reason is named.
pub(super) fn read(document: HoldDocument) -> Result<Hold, DocumentError> {
    let HoldDocument { by, network, why, .. } = document;
    let Some(by) = by else {
        return Ok(Hold::Unconfined { why: why.unwrap_or_default() });
    };
    let by: Mechanism = by.parse().map_err(|error| DocumentError::member("confined.by", error))?;
    let network = network.as_deref().unwrap_or_default();
    let network: Network =
        network.parse().map_err(|error| DocumentError::member("confined.network", error))?;
    Ok(Hold::Confined { by, network })
}

pub(super) fn read_work(document: WorkHoldDocument) -> Result<WorkHold, DocumentError> {
    let WorkHoldDocument { worker, step, by, network, why, .. } = document;
    let worker: Worker = worker
        .unwrap_or_default()
        .parse()
        .map_err(|error| DocumentError::member("confined.worker", error))?;
    let hold = read(HoldDocument { by, network, why, ..HoldDocument::default() })?;
    Ok(WorkHold { worker, step: step.unwrap_or_default(), hold })
}
