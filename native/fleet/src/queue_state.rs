//! How a run stands that nobody drives, told from its ledger.

use std::path::Path;
use std::time::SystemTime;

use onloop_core::documents::ledger;
use onloop_core::run::{Next, Run, RunStatus};
use onloop_core::text;
use onloop_core::time::Timestamp;

use crate::engine::QueueState;

/// What is said of a run whose copy cannot be read.
const UNREADABLE: &str = "its record cannot be read on the machine that worked on it";

/// How the run stands whose copy is below the folder of all runs.
pub(crate) fn of_copy(runs: &str, run: &str) -> QueueState {
    let path = Path::new(runs).join(run).join("ledger.jsonl");
    match std::fs::read(path).ok().and_then(|bytes| ledger::read(&bytes, None).ok()) {
        Some(ledger) => of_run(&ledger.run, now(), u64::MAX),
        None => QueueState::NeedsPerson { what: UNREADABLE.to_owned() },
    }
}

/// How a run stands. A wait for a provider that is longer than `max_wait_ms` is for a person.
pub(crate) fn of_run(run: &Run, now: Timestamp, max_wait_ms: u64) -> QueueState {
    if run.is_over() {
        return QueueState::Finished { how: run.status.as_str().to_owned() };
    }
    match run.next() {
        Next::Ask(question) => return QueueState::NeedsPerson { what: run.waits_for(&question) },
        Next::Blocked(blocker) => {
            let reason = text::one_line(&blocker.reason);
            return QueueState::NeedsPerson {
                what: format!("step {} is blocked: {reason}", blocker.step),
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
        Some(_) | None => QueueState::NeedsPerson { what: last_pause(run) },
    }
}

/// Why the run was paused last.
fn last_pause(run: &Run) -> String {
    let paused = run.events.iter().rfind(|entry| entry.event == "run_paused");
    paused.map_or_else(|| "paused".to_owned(), |entry| text::one_line(&entry.text))
}

/// The time now.
pub(crate) fn now() -> Timestamp {
    onloop::host::timestamp(SystemTime::now())
}

/// Milliseconds since 1970, as the engine counts time.
pub(crate) fn millis(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}
