//! What agents say, for whoever watches their runs: kept in memory, and lost when the server ends. Workers
//! bring it while somebody wants to hear it, and when they leave a run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::now_ms;
use crate::engine::EngineError;
use crate::wire::{HearRequest, Heard, WORDS_BYTES, WantedRequest, Words};

/// Runs whose words are kept: those that were spoken or asked about last.
const RUNS: usize = 256;
/// Longest wait for words, whatever is asked.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long somebody who has stopped waiting may take to ask again.
const ASKS_AGAIN: Duration = Duration::from_secs(10);

/// The words of many runs.
#[derive(Debug, Default)]
pub(super) struct Relay {
    runs: Mutex<BTreeMap<String, Entry>>,
    changed: Notify,
}

#[derive(Debug)]
struct Entry {
    heard: Option<Heard>,
    wanted_until: Option<Instant>,
    touched: Instant,
}

impl Relay {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was said.
    pub(super) fn say(&self, words: Words) -> Result<(), EngineError> {
        if words.text.len() > WORDS_BYTES {
            let why = format!("what was said is longer than {WORDS_BYTES} bytes");
            return Err(EngineError::Invalid { why });
        }
        let mut runs = self.lock();
        let entry = entry(&mut runs, &words.run_id);
        // Numbers of a server before this one are other ones.
        let last = entry.heard.as_ref().map_or(0, |heard| heard.number);
        entry.heard = Some(Heard { number: now_ms().max(last + 1), words });
        drop(runs);
        self.changed.notify_waiters();
        Ok(())
    }

    /// What was said last in a run, where that is not what was `heard`; `None`: nothing else came.
    pub(super) async fn hear(&self, request: &HearRequest) -> Option<Heard> {
        let until = until(request.wait_ms);
        {
            let mut runs = self.lock();
            entry(&mut runs, &request.run_id).wanted_until = Some(until + ASKS_AGAIN);
        }
        self.changed.notify_waiters();
        let news = || {
            let runs = self.lock();
            let heard = runs.get(&request.run_id)?.heard.clone()?;
            (heard.number != request.heard).then_some(heard)
        };
        self.wait(until, news).await
    }

    /// Those of the runs that somebody wants to hear.
    pub(super) async fn wanted(&self, request: &WantedRequest) -> Vec<String> {
        let wanted = || {
            let (runs, now) = (self.lock(), Instant::now());
            let is_wanted = |id: &&String| {
                runs.get(*id).and_then(|run| run.wanted_until).is_some_and(|until| until > now)
            };
            let wanted: Vec<String> = request.run_ids.iter().filter(is_wanted).cloned().collect();
            (!wanted.is_empty()).then_some(wanted)
        };
        self.wait(until(request.wait_ms), wanted).await.unwrap_or_default()
    }

    async fn wait<T>(&self, until: Instant, look: impl Fn() -> Option<T>) -> Option<T> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // What changes from here on is not missed.
            changed.as_mut().enable();
            if let Some(found) = look() {
                return Some(found);
            }
            if timeout_at(until, changed).await.is_err() {
                return None;
            }
        }
    }
}

fn until(wait_ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(wait_ms).min(LONGEST_WAIT)
}

/// What is known of a run; the one that nobody has touched for longest makes room.
fn entry<'r>(runs: &'r mut BTreeMap<String, Entry>, id: &str) -> &'r mut Entry {
    let touched = Instant::now();
    if runs.len() >= RUNS && !runs.contains_key(id) {
        let oldest = runs.iter().min_by_key(|(_, entry)| entry.touched);
        if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
            runs.remove(&oldest);
        }
    }
    let entry = runs.entry(id.to_owned()).or_insert_with(|| Entry {
        heard: None,
        wanted_until: None,
        touched,
    });
    entry.touched = touched;
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(run_id: &str, text: &str) -> Words {
        Words { run_id: run_id.to_owned(), attempt: "1-1".to_owned(), text: text.to_owned() }
    }

    fn hear(heard: u64, wait_ms: u64) -> HearRequest {
        HearRequest { run_id: "a".to_owned(), heard, wait_ms }
    }

    fn wanted(wait_ms: u64) -> WantedRequest {
        WantedRequest { run_ids: ["a", "b"].map(str::to_owned).to_vec(), wait_ms }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_is_told_and_what_was_heard_is_not_told_again() {
        let relay = Relay::default();
        assert_eq!(relay.wanted(&wanted(1000)).await, Vec::<String>::new());
        let waits = hear(0, 30_000);
        let (heard, asked) = tokio::join!(relay.hear(&waits), async {
            let asked = relay.wanted(&wanted(30_000)).await;
            relay.say(words("b", "elsewhere")).expect("it is taken");
            relay.say(words("a", "one")).expect("it is taken");
            asked
        });
        assert_eq!(asked, ["a"]);
        let heard = heard.expect("words");
        assert_eq!(heard.words, words("a", "one"));
        assert_eq!(relay.hear(&hear(heard.number, 1000)).await, None);
        assert_eq!(relay.hear(&hear(1, 0)).await, Some(heard), "that was another server's");
        tokio::time::advance(LONGEST_WAIT + ASKS_AGAIN).await;
        assert_eq!(relay.wanted(&wanted(0)).await, Vec::<String>::new(), "nobody waits any more");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_has_a_bound() {
        let relay = Relay::default();
        assert!(relay.say(words("a", &"x".repeat(WORDS_BYTES + 1))).is_err());
        relay.say(words("a", "first")).expect("it is taken");
        for run in 0..RUNS {
            tokio::time::advance(Duration::from_millis(1)).await;
            relay.say(words(&format!("run-{run}"), "more")).expect("it is taken");
        }
        assert_eq!(relay.lock().len(), RUNS);
        assert_eq!(relay.hear(&hear(0, 0)).await, None, "others were spoken of since");
    }
}
