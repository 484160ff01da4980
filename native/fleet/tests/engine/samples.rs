//! Sample runs, workers and journals.

use std::time::Duration;

use onloop_core::documents::ledger;
use onloop_core::run::Event;
use onloop_core::time::Timestamp;
use onloop_fleet::engine::{
    Append, Engine, EngineError, Head, Offer, Operation, QueueState, ReadJournal, Release, Storage,
    Submission, Take,
};

/// An engine, or a client of one.
pub(crate) trait Service {
    /// Performs an operation.
    async fn call<O: Operation>(&self, operation: &O) -> Result<O::Answer, EngineError>;
}

impl<S: Storage> Service for Engine<S> {
    async fn call<O: Operation>(&self, operation: &O) -> Result<O::Answer, EngineError> {
        Engine::call(self, operation).await
    }
}

/// Returns a worker's request for a run.
pub(crate) fn taking(offer: &Offer, wait: Duration) -> Take {
    Take { offer: offer.clone(), wait_ms: millis(wait) }
}

/// Returns a request for the lines after `after`.
pub(crate) fn reading(run_id: &str, after: u64, wait: Duration) -> ReadJournal {
    ReadJournal { run_id: run_id.to_owned(), after, wait_ms: millis(wait) }
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).expect("a wait")
}

/// Returns a run whose repository has its name.
pub(crate) fn submission(name: &str, agent: &str) -> Submission {
    Submission {
        run_id: name.to_owned(),
        repository: format!("git@example.com:{name}"),
        base: None,
        branch: None,
        workflow: "hotl-workflow-test.md".to_owned(),
        text: "the workflow".to_owned(),
        options: vec!["--auto-approve".to_owned()],
        agents: vec![agent.to_owned()],
        user: Some("somebody".to_owned()),
        host: "laptop".to_owned(),
        at_ms: 1_774_041_795_000,
    }
}

/// Returns the offer of a worker with free slots.
pub(crate) fn offer(worker: &str, repositories: &[&str]) -> Offer {
    Offer {
        worker: worker.to_owned(),
        host: "machine".to_owned(),
        slots: 8,
        busy: 0,
        repositories: repositories.iter().map(|&one| one.to_owned()).collect(),
    }
}

/// Returns the end of a lease.
pub(crate) fn release(run_id: &str, epoch: u64, rest: QueueState) -> Release {
    Release { run_id: run_id.to_owned(), epoch, state: rest }
}

/// Returns an append.
pub(crate) fn append(
    run_id: &str,
    epoch: Option<u64>,
    after: Option<&Head>,
    lines: &str,
) -> Append {
    Append { run_id: run_id.to_owned(), epoch, after: after.cloned(), lines: lines.to_owned() }
}

/// Returns lines that chain after `before`, and the last of them.
pub(crate) fn lines(before: Option<&Head>, count: usize) -> (Head, String) {
    chained(before, count, &Event::RunPaused { reason: "a line".to_owned(), interrupted: false })
}

/// Returns lines of one event that chain after `before`, and the last of them.
pub(crate) fn chained(before: Option<&Head>, count: usize, event: &Event) -> (Head, String) {
    chained_at(before, count, event, Timestamp::EPOCH)
}

/// Does the same with a time.
pub(crate) fn chained_at(
    before: Option<&Head>,
    count: usize,
    event: &Event,
    at: Timestamp,
) -> (Head, String) {
    let mut bytes = Vec::new();
    let mut head = match before {
        Some(head) => ledger::Head { seq: head.seq, sha256: head.sha256.clone() },
        None => ledger::Head { seq: 0, sha256: "0".repeat(64) },
    };
    for _ in 0..count {
        head = ledger::append(&mut bytes, &head, at, event, None);
    }
    let head = Head { seq: head.seq, sha256: head.sha256 };
    (head, String::from_utf8(bytes).expect("lines are text"))
}
