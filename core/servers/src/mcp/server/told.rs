//! What the client of a call was told of its progress.

use serde_json::Value;

use super::after;
use onloop_effect::Progress;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The part of what is left of a step that a sign of life takes: it grows, and a step is never said to be
/// done before it is.
const PART: f64 = 0.02;

/// What was told, and when.
pub(super) struct ProgressTold {
    /// The name under which the client wants to be told; `None`: it does not.
    token: Option<Value>,
    /// The last words, and when they were new.
    words: String,
    since: Timestamp,
    done: f64,
    steps: Option<f64>,
    at: Timestamp,
}

/// What is told.
#[derive(Debug, PartialEq)]
pub(super) struct Sign {
    pub(super) token: Value,
    pub(super) done: f64,
    pub(super) total: Option<f64>,
    pub(super) words: String,
}

impl ProgressTold {
    pub(super) fn new(token: Option<Value>, now: Timestamp) -> ProgressTold {
        let words = "it goes on".to_owned();
        ProgressTold { token, words, since: now, done: 0.0, steps: None, at: now }
    }

    /// Somebody else waits from now on.
    pub(super) fn to(&mut self, token: Option<Value>, now: Timestamp) {
        *self = ProgressTold {
            words: std::mem::take(&mut self.words),
            ..ProgressTold::new(token, now)
        };
    }

    /// The name under which the client wants to be told.
    pub(super) fn token(&self) -> Option<Value> {
        self.token.clone()
    }

    /// When a sign of life is due.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.token.as_ref().map(|_| after(self.at, limits::MCP_SIGN_MS))
    }

    /// Takes note of how far a run has come. What is told only grows.
    pub(super) fn progress(&mut self, progress: &Progress, now: Timestamp) -> Option<Sign> {
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
        self.tell(grown, self.words.clone(), now)
    }

    /// A sign that it goes on, where one is due.
    pub(super) fn sign(&mut self, now: Timestamp) -> Option<Sign> {
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        let words = format!("{} ({})", self.words, text::span(now.millis_since(self.since)));
        // Without a run nobody knows how much there is to do.
        match self.beyond(self.steps.unwrap_or(1.0)) {
            Some(grown) => self.tell(grown, words, now),
            None => {
                self.at = now;
                None
            }
        }
    }

    /// A bit more than before, and less than the next whole step.
    fn beyond(&self, steps: f64) -> Option<f64> {
        let bound = (self.done.floor() + 1.0).min(steps);
        let grown = self.done + (bound - self.done) * PART;
        (grown > self.done && grown < bound).then_some(grown)
    }

    fn tell(&mut self, done: f64, words: String, now: Timestamp) -> Option<Sign> {
        (self.done, self.at) = (done, now);
        let token = self.token.clone()?;
        Some(Sign { token, done, total: self.steps, words })
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
    fn a_client_hears_something_every_ten_seconds_and_it_only_grows() {
        let mut told = ProgressTold::new(Some(json!(7)), at(0));
        assert_eq!(told.sign(at(9_999)), None);
        let first = told.sign(at(10_000)).unwrap();
        assert_eq!((first.words.as_str(), first.total), ("it goes on (10s)", None));
        let begun = told.progress(&progress(0.5, "→ Step 1: Write"), at(11_000)).unwrap();
        assert_eq!((begun.done, begun.total), (0.5, Some(2.0)));
        assert_eq!(told.sign(at(20_999)), None);
        let mut last = begun.done;
        // A night.
        for n in 1..=3_600 {
            let now = 11_000 + n * 10_000;
            if let Some(sign) = told.sign(at(now)) {
                assert!(sign.done > last && sign.done < 1.0, "{} after {last}", sign.done);
                last = sign.done;
            }
        }
        let sign = told.progress(&progress(1.0, "✓ Step 1: Write"), at(40_000_000)).unwrap();
        assert_eq!(sign.done, 1.0);
        let again = told.progress(&progress(0.75, "↻ Step 1: Write"), at(40_000_001)).unwrap();
        assert!(again.done > 1.0 && again.done < 2.0);
        assert_eq!(told.progress(&progress(0.75, "↻ Step 1: Write"), at(40_000_002)), None);
        let end = told.progress(&progress(2.0, "✓ Step 2: Look"), at(40_000_003)).unwrap();
        assert_eq!(end.done, 2.0);
        assert_eq!(told.sign(at(50_000_000)), None);
    }

    #[test]
    fn who_does_not_want_to_be_told_is_not() {
        let mut told = ProgressTold::new(None, at(0));
        assert_eq!(told.due(), None);
        assert_eq!(told.progress(&progress(0.5, "→ Step 1: Write"), at(1)), None);
        assert_eq!(told.sign(at(100_000)), None);
    }
}
