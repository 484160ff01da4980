//! The progress notifications of a call.

use serde_json::Value;

use onloop_effect::Progress;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The part of the rest of a step that a heartbeat adds. So progress grows, and reaches a whole step only
/// when the step is done.
const HEARTBEAT_PART: f64 = 0.02;

/// What was sent, and when.
pub(super) struct ProgressReporter {
    /// The client's progress token; `None`: it wants no notifications.
    token: Option<Value>,
    /// The last words, and when they were new.
    words: String,
    since: Timestamp,
    done: f64,
    steps: Option<f64>,
    at: Timestamp,
}

/// One notification.
#[derive(Debug, PartialEq)]
pub(super) struct ProgressUpdate {
    pub(super) token: Value,
    pub(super) done: f64,
    pub(super) total: Option<f64>,
    pub(super) words: String,
}

impl ProgressReporter {
    pub(super) fn new(token: Option<Value>, now: Timestamp) -> ProgressReporter {
        let words = "running".to_owned();
        ProgressReporter { token, words, since: now, done: 0.0, steps: None, at: now }
    }

    /// Another request waits for the call from now on.
    pub(super) fn redirect(&mut self, token: Option<Value>, now: Timestamp) {
        *self = ProgressReporter {
            words: std::mem::take(&mut self.words),
            ..ProgressReporter::new(token, now)
        };
    }

    /// The client's progress token.
    pub(super) fn token(&self) -> Option<Value> {
        self.token.clone()
    }

    /// When a heartbeat is due.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.token.as_ref().map(|_| self.at.later(limits::MCP_SIGN_MS))
    }

    /// The notification about the progress of a run, if it is new. Its value only grows.
    pub(super) fn progress(
        &mut self,
        progress: &Progress,
        now: Timestamp,
    ) -> Option<ProgressUpdate> {
        let steps = progress.steps as f64;
        let words = text::one_line(&progress.words);
        let is_new = words != self.words;
        if is_new {
            (self.words, self.since) = (words, now);
        }
        let grown = if progress.done > self.done {
            progress.done
        } else {
            self.beyond(steps).filter(|_| is_new)?
        };
        self.steps = Some(steps);
        self.update(grown, self.words.clone(), now)
    }

    /// A heartbeat, if one is due.
    pub(super) fn heartbeat(&mut self, now: Timestamp) -> Option<ProgressUpdate> {
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        let words = format!("{} ({})", self.words, text::span(now.millis_since(self.since)));
        // Without a run the number of steps is not known.
        match self.beyond(self.steps.unwrap_or(1.0)) {
            Some(grown) => self.update(grown, words, now),
            None => {
                self.at = now;
                None
            }
        }
    }

    /// A bit more than before, and less than the next whole step.
    fn beyond(&self, steps: f64) -> Option<f64> {
        let bound = (self.done.floor() + 1.0).min(steps);
        let grown = self.done + (bound - self.done) * HEARTBEAT_PART;
        (grown > self.done && grown < bound).then_some(grown)
    }

    fn update(&mut self, done: f64, words: String, now: Timestamp) -> Option<ProgressUpdate> {
        (self.done, self.at) = (done, now);
        let token = self.token.clone()?;
        Some(ProgressUpdate { token, done, total: self.steps, words })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn progress(done: f64, words: &str) -> Progress {
        Progress { run_id: "a-1".to_owned(), done, steps: 2, words: words.to_owned() }
    }

    #[test]
    fn progress_is_sent_every_ten_seconds_and_only_grows() {
        let mut reporter = ProgressReporter::new(Some(json!(7)), at(0));
        assert_eq!(reporter.heartbeat(at(9_999)), None);
        let first = reporter.heartbeat(at(10_000)).unwrap();
        assert_eq!((first.words.as_str(), first.total), ("running (10 s)", None));
        let begun = reporter.progress(&progress(0.5, "→ Step 1: Write"), at(11_000)).unwrap();
        assert_eq!((begun.done, begun.total), (0.5, Some(2.0)));
        assert_eq!(reporter.heartbeat(at(20_999)), None);
        let mut last = begun.done;
        // A night.
        for n in 1..=3_600 {
            let now = 11_000 + n * 10_000;
            if let Some(update) = reporter.heartbeat(at(now)) {
                assert!(update.done > last && update.done < 1.0, "{} after {last}", update.done);
                last = update.done;
            }
        }
        let update = reporter.progress(&progress(1.0, "✓ Step 1: Write"), at(40_000_000)).unwrap();
        assert_eq!(update.done, 1.0);
        let again = reporter.progress(&progress(0.75, "↻ Step 1: Write"), at(40_000_001)).unwrap();
        assert!(again.done > 1.0 && again.done < 2.0);
        assert_eq!(reporter.progress(&progress(0.75, "↻ Step 1: Write"), at(40_000_002)), None);
        let end = reporter.progress(&progress(2.0, "✓ Step 2: Look"), at(40_000_003)).unwrap();
        assert_eq!(end.done, 2.0);
        assert_eq!(reporter.heartbeat(at(50_000_000)), None);
    }

    #[test]
    fn without_a_token_nothing_is_sent() {
        let mut reporter = ProgressReporter::new(None, at(0));
        assert_eq!(reporter.due(), None);
        assert_eq!(reporter.progress(&progress(0.5, "→ Step 1: Write"), at(1)), None);
        assert_eq!(reporter.heartbeat(at(100_000)), None);
    }
}
