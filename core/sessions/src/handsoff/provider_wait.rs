//! Transient failures of a provider: overload, a limit on usage, a network that is gone. A session
//! waits for them and does not end.

use serde_json::Value;

use super::session::{Session, SessionState};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Entries at the end of a transcript in which a provider may say when it serves again.
const LAST_ENTRIES: usize = 12;

/// Under these names clients keep the moment at which a limit is lifted, in seconds since 1970.
const RESETS: [&str; 2] = ["resetsAt", "resets_at"];

/// How long a session waits for its provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderWait {
    /// Until then it is worth trying again.
    Until(Timestamp),
    /// Longer than the longest wait, with its end if known.
    TooLong(Option<Timestamp>),
}

impl Session {
    /// The provider does not serve the agent; `why` on one line, `lifted` where it says until when.
    /// `None`: the session is finished or paused, so it does not wait.
    pub fn refused(
        &mut self,
        at: Timestamp,
        why: &str,
        lifted: Option<Timestamp>,
    ) -> Option<ProviderWait> {
        if matches!(self.state, SessionState::Ended(_)) || self.pause.is_some() {
            return None;
        }
        let since = *self.0.limited_since.get_or_insert(at);
        let waited_ms = at.millis_since(since);
        // Without a time, as long again as it has been by now.
        let pause_ms =
            waited_ms.clamp(limits::PROVIDER_PAUSE_MS, limits::PROVIDER_LONGEST_PAUSE_MS);
        let until = match lifted.filter(|lifted| *lifted > at) {
            Some(lifted) => lifted.later(limits::PROVIDER_RESET_MARGIN_MS),
            None => at.later(pause_ms),
        };
        let is_too_long = until.millis_since(since) > limits::MAX_WAIT_MS;
        self.0.limited_until = Some(until);
        self.0.reason = Some(match is_too_long {
            true => {
                let longest = text::span(limits::MAX_WAIT_MS);
                format!("{why}; that takes longer than {longest}")
            }
            false => why.to_owned(),
        });
        self.0.updated_at = Some(at);
        Some(match is_too_long {
            true => ProviderWait::TooLong(lifted),
            false => ProviderWait::Until(until),
        })
    }

    /// Retry now: the agent continues, which does not count as a continuation.
    pub fn served_again(&mut self, at: Timestamp) {
        self.0.limited_until = None;
        self.0.reason = None;
        self.0.in_a_row = 0;
        self.0.updated_at = Some(at);
    }

    /// The provider accepts requests again, or a person says so.
    pub(super) fn no_longer_limited(&mut self) {
        self.0.limited_until = None;
        self.0.limited_since = None;
    }

    /// Whether the session still waits until `until`, unchanged since.
    pub fn still_waits(&self, until: Timestamp) -> bool {
        // Files keep whole seconds.
        let seconds = |at: Timestamp| at.as_millis().div_euclid(1000);
        let waits = self.limited_until.is_some_and(|known| seconds(known) == seconds(until));
        matches!(self.state, SessionState::Open(_)) && self.pause.is_none() && waits
    }
}

/// When a limit is lifted, as the end of a transcript says; the latest of several that is after `now`.
pub fn lifted_in(tail: &[u8], now: Timestamp) -> Option<Timestamp> {
    let tail = String::from_utf8_lossy(tail);
    let last = tail.lines().rev().filter(|line| !line.trim().is_empty()).take(LAST_ENTRIES);
    let entries = last.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = Vec::new();
    for entry in entries {
        resets(&entry, &mut found);
    }
    found.into_iter().filter(|at| *at > now).max()
}

fn resets(value: &Value, found: &mut Vec<Timestamp>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let seconds = member.as_i64().filter(|_| RESETS.contains(&name.as_str()));
                found.extend(seconds.map(|s| Timestamp::from_millis(s.saturating_mul(1000))));
                resets(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| resets(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The prompt of an agent that continues.
pub fn continuation(session: &Session, waited_ms: u64) -> String {
    let count = session.continuation_count;
    format!(
        "The model's service is worth trying again, after {}. Go on where you were: the goal of \
         `{}` is not reached yet ({count} continuations so far; this is none).\n",
        text::span(waited_ms),
        text::one_line(&session.workflow)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handsoff::command::detect;
    use crate::handsoff::{SessionEnding, SessionId};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn session() -> Session {
        let started = detect("/issue-to-impl 42", &[]).unwrap();
        Session::begin(SessionId::new("s1").unwrap(), started, at(0))
    }

    #[test]
    fn pauses_grow_and_end_after_six_hours() {
        let mut session = session();
        let (mut now, mut pauses) = (0, Vec::new());
        let last = loop {
            match session.refused(at(now), "overloaded", None).unwrap() {
                ProviderWait::Until(until) => {
                    let pause = until.as_millis() / 1000 - now;
                    pauses.push(pause);
                    now += pause;
                }
                ProviderWait::TooLong(until) => break until,
            }
            session.served_again(at(now));
            assert_eq!(session.reason, None);
        };
        assert_eq!(pauses[..8], [15, 15, 30, 60, 120, 240, 480, 900]);
        assert!(now <= 6 * 3600 && now > 6 * 3600 - 900, "{now}");
        assert_eq!(last, None);
        assert_eq!(session.reason.as_deref(), Some("overloaded; that takes longer than 6 h"));
        assert_eq!(session.continuation_count, 0);
    }

    #[test]
    fn a_limit_is_waited_for_until_it_is_lifted() {
        let mut limited = session();
        let said = limited.refused(at(100), "limit", Some(at(3600)));
        assert_eq!(said, Some(ProviderWait::Until(at(3605))));
        assert!(limited.still_waits(at(3605)) && !limited.still_waits(at(3600)));
        // One that was lifted already says nothing.
        assert_eq!(
            session().refused(at(100), "x", Some(at(99))),
            Some(ProviderWait::Until(at(115)))
        );
        let weekly = Some(at(7 * 86_400));
        assert_eq!(limited.refused(at(100), "limit", weekly), Some(ProviderWait::TooLong(weekly)));
        limited.end(at(101), SessionEnding::Stopped, None);
        assert!(!limited.still_waits(at(7 * 86_400 + 5)));
        assert_eq!(limited.refused(at(102), "limit", None), None);
        let mut paused = session();
        paused.0.pause = Some(crate::handsoff::Pause::Question);
        assert_eq!(paused.refused(at(1), "limit", None), None);
    }

    #[test]
    fn the_transcript_says_when_a_limit_is_lifted() {
        let claude = r#"{"type":"assistant","isApiErrorMessage":true,"x":{"rate_limit_info":{"resetsAt":900}}}"#;
        let codex = r#"{"payload":{"rate_limits":{"primary":{"resets_at":800}}}}"#;
        let both = format!("{codex}\n{claude}\n");
        assert_eq!(lifted_in(both.as_bytes(), at(0)), Some(at(900)));
        assert_eq!(lifted_in(both.as_bytes(), at(850)), Some(at(900)));
        assert_eq!(lifted_in(both.as_bytes(), at(900)), None);
        assert_eq!(lifted_in(b"\xff{\n", at(0)), None);
        let old = format!("{claude}\n{}", "{}\n".repeat(20));
        assert_eq!(lifted_in(old.as_bytes(), at(0)), None, "that was long ago");
    }
}
