//! The tails of running attempts' logs, for people who watch from other machines. The server keeps them
//! in memory. Workers send them with heartbeats while a person watches, and when a run ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::EngineError;
use super::record::invalid;
use super::service::now;

/// Most bytes of a tail.
pub const LOG_TAIL_BYTES: usize = 32 * 1024;
/// Runs whose tails are kept: those that were written or read last.
const RUNS: usize = 256;
/// How long a run counts as watched after a request.
const ASKS_AGAIN: Duration = Duration::from_secs(10);

/// The tail of one attempt's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogTail {
    /// The run.
    pub run_id: String,
    /// The attempt, named as its log: `1-2`.
    pub attempt: String,
    /// The text, at most [`LOG_TAIL_BYTES`].
    pub text: String,
}

/// A tail with a number that grows with each change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberedLogTail {
    /// The number.
    pub number: u64,
    /// The tail.
    pub tail: LogTail,
}

#[derive(Debug, Default)]
pub(super) struct LogRelay {
    runs: Mutex<BTreeMap<String, Entry>>,
    changed: Notify,
}

#[derive(Debug)]
struct Entry {
    latest: Option<NumberedLogTail>,
    watched_until: Option<Instant>,
    touched: Instant,
}

impl LogRelay {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores tails.
    pub(super) fn publish(&self, tails: &[LogTail]) -> Result<(), EngineError> {
        if tails.iter().any(|tail| tail.text.len() > LOG_TAIL_BYTES) {
            return Err(invalid(format!("the end of a log has more than {LOG_TAIL_BYTES} bytes")));
        }
        let mut runs = self.lock();
        for tail in tails {
            let entry = entry(&mut runs, &tail.run_id);
            // A restarted server must not repeat numbers of the previous one.
            let last = entry.latest.as_ref().map_or(0, |latest| latest.number);
            let number = now().wall_ms.max(last + 1);
            entry.latest = Some(NumberedLogTail { number, tail: tail.clone() });
        }
        drop(runs);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Whether a person watches a run.
    pub(super) fn is_watched(&self, run_id: &str) -> bool {
        let until = self.lock().get(run_id).and_then(|entry| entry.watched_until);
        until.is_some_and(|until| until > Instant::now())
    }

    /// Returns the tail of a run as soon as its number differs from `seen`.
    pub(super) async fn read(
        &self,
        run_id: &str,
        seen: u64,
        wait: Duration,
    ) -> Option<NumberedLogTail> {
        let until = Instant::now() + wait;
        entry(&mut self.lock(), run_id).watched_until = Some(until + ASKS_AGAIN);
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on a change is not missed.
            changed.as_mut().enable();
            let latest = self.lock().get(run_id).and_then(|entry| entry.latest.clone());
            if latest.as_ref().is_some_and(|latest| latest.number != seen) {
                return latest;
            }
            if timeout_at(until, changed).await.is_err() {
                return None;
            }
        }
    }
}

/// Returns the entry of a run, and removes the least recently used one if there are too many.
fn entry<'r>(runs: &'r mut BTreeMap<String, Entry>, id: &str) -> &'r mut Entry {
    let touched = Instant::now();
    if runs.len() >= RUNS && !runs.contains_key(id) {
        let oldest = runs.iter().min_by_key(|(_, entry)| entry.touched);
        if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
            runs.remove(&oldest);
        }
    }
    let new = || Entry { latest: None, watched_until: None, touched };
    let entry = runs.entry(id.to_owned()).or_insert_with(new);
    entry.touched = touched;
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(30);

    fn tail(run_id: &str, text: &str) -> LogTail {
        LogTail { run_id: run_id.to_owned(), attempt: "1-1".to_owned(), text: text.to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_gets_each_change_once() {
        let relay = LogRelay::default();
        assert!(!relay.is_watched("a"));
        let (read, ()) = tokio::join!(relay.read("a", 0, WAIT), async {
            assert!(relay.is_watched("a") && !relay.is_watched("b"));
            relay.publish(&[tail("b", "elsewhere"), tail("a", "one")]).expect("it is taken");
        });
        let read = read.expect("a log");
        assert_eq!(read.tail, tail("a", "one"));
        assert_eq!(relay.read("a", read.number, Duration::from_secs(1)).await, None);
        let again = relay.read("a", 1, Duration::ZERO).await;
        assert_eq!(again, Some(read), "that number was another server's");
        tokio::time::advance(WAIT + ASKS_AGAIN).await;
        assert!(!relay.is_watched("a"), "the watcher has left");
    }

    #[tokio::test(start_paused = true)]
    async fn the_memory_is_bounded() {
        let relay = LogRelay::default();
        assert!(relay.publish(&[tail("a", &"x".repeat(LOG_TAIL_BYTES + 1))]).is_err());
        relay.publish(&[tail("a", "first")]).expect("it is taken");
        for run in 0..RUNS {
            tokio::time::advance(Duration::from_millis(1)).await;
            relay.publish(&[tail(&format!("run-{run}"), "more")]).expect("it is taken");
        }
        assert_eq!(relay.lock().len(), RUNS);
        assert_eq!(relay.read("a", 0, Duration::ZERO).await, None, "it made room for others");
    }
}
