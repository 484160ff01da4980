//! The queue state of a run without a driver, derived from its ledger.

use std::path::Path;
use std::time::SystemTime;

use onloop_core::documents::ledger;
use onloop_core::run::{Next, Run, RunStatus};
use onloop_core::text;
use onloop_core::time::Timestamp;

use crate::engine::QueueState;

/// The reason when the copy of a ledger cannot be read.
const UNREADABLE: &str = "its record cannot be read on the machine that worked on it";

/// Returns the state of the run from the copy of its ledger below `runs`.
pub(crate) fn of_copy(runs: &str, run: &str) -> QueueState {
    let path = Path::new(runs).join(run).join("ledger.jsonl");
    match std::fs::read(path).ok().and_then(|bytes| ledger::read(&bytes, None).ok()) {
        Some(ledger) => of_run(&ledger.run, now(), u64::MAX),
        None => QueueState::NeedsPerson { reason: UNREADABLE.to_owned() },
    }
}

/// Returns the state of a run. A provider wait longer than `max_wait_ms` needs a person.
pub(crate) fn of_run(run: &Run, now: Timestamp, max_wait_ms: u64) -> QueueState {
    if run.is_over() {
        return QueueState::Finished { status: run.status.as_str().to_owned() };
    }
    match run.next() {
        Next::Ask(question) => return QueueState::NeedsPerson { reason: run.waits_for(&question) },
        Next::Blocked(blocker) => {
            let reason = text::one_line(&blocker.reason);
            return QueueState::NeedsPerson {
                reason: format!("step {} is blocked: {reason}", blocker.step),
            };
        }
        _ => {}
    }
    if run.status != RunStatus::Paused {
        return QueueState::Ready;
    }
    let held = run.waits.iter().filter(|wait| wait.until > now);
    match held.min_by_key(|wait| wait.until) {
        Some(wait) if wait.until.millis_since(wait.since) <= max_wait_ms => {
            QueueState::RateLimited { at_ms: millis(wait.until), agent: wait.agent.clone() }
        }
        Some(_) | None => QueueState::NeedsPerson { reason: pause_reason(run) },
    }
}

/// Returns why the run is paused.
fn pause_reason(run: &Run) -> String {
    run.pause_reason.clone().unwrap_or_else(|| "paused".to_owned())
}

/// Returns the time now.
pub(crate) fn now() -> Timestamp {
    onloop::host::timestamp(SystemTime::now())
}

/// Returns milliseconds since 1970, as the engine counts time.
pub(crate) fn millis(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}
