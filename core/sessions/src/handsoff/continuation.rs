//! The agent wants to stop. Should it?

use super::session::{CountedStop, Pause, Session, SessionState, digest};
use super::transcript::Evidence;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// What is known when an agent wants to stop.
#[derive(Clone, Debug)]
pub struct StopFacts {
    /// `handsoff.max_continuations`.
    pub configured: u32,
    /// What the host itself allows.
    pub cap: HostCap,
    /// What the transcript and the host's own words show.
    pub evidence: Evidence,
    /// Revision of the record of the run that the session drives.
    pub run_revision: Option<u64>,
}

impl StopFacts {
    /// Continuations in a row without progress after which the agent may stop.
    fn most_stalled(&self) -> u32 {
        if self.evidence.is_nothing() {
            limits::SESSION_STALLED_UNKNOWN
        } else {
            limits::SESSION_STALLED
        }
    }
}

/// How often a host lets an agent be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCap {
    /// Without a limit.
    None,
    /// Limit without a tool call in between; beyond it the client ends the turn silently.
    InARow(u32),
    /// So many times in one session.
    Total(u32),
}

/// What should happen now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopVerdict {
    /// Continue the agent, for the `number`th time of at most `maximum`.
    Continue {
        /// Counted from 1.
        number: u32,
        /// As far as is known now: a tool call resets [`HostCap::InARow`].
        maximum: u32,
    },
    /// Let it stop, and tell the person why.
    End(Why),
    /// Let it stop without a message.
    Rest,
}

/// Why an agent is not continued although its session is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The session has been idle for a long time.
    Stale,
    /// The transcript ends with an error of the model's service; its message.
    ApiError(String),
    /// All continuations are used up.
    Exhausted {
        /// How many there were.
        maximum: u32,
    },
    /// The host would end the turn anyway.
    HostCap {
        /// How many in a row it allows.
        cap: u32,
    },
    /// The agent makes no progress.
    Stalled {
        /// How many continuations in a row brought none.
        continuations: u32,
    },
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Stale => f.write_str("nothing has happened in this session for more than a day"),
            Why::ApiError(message) => {
                write!(f, "the model's service failed: {}", text::ellipsis(message, 200))
            }
            Why::Exhausted { maximum: 1 } => f.write_str("the only continuation is used up"),
            Why::Exhausted { maximum } => {
                write!(f, "all {} are used up", text::counted(u64::from(*maximum), "continuation"))
            }
            Why::HostCap { cap } => {
                write!(f, "the host allows only {cap} continuations in a row without a tool call")
            }
            Why::Stalled { continuations } => write!(
                f,
                "the last {} brought no progress: the agent used no tool, or said the same again",
                text::counted(u64::from(*continuations), "continuation")
            ),
        }
    }
}

impl Session {
    /// The agent wants to stop. Everything but [`StopVerdict::Rest`] changes the session.
    pub fn stopped(&mut self, at: Timestamp, stop: &StopFacts) -> StopVerdict {
        if matches!(self.state, SessionState::Ended(_)) || self.pause.is_some() {
            return StopVerdict::Rest;
        }
        if self.is_echo(at, stop) {
            return self.again(stop);
        }
        if self.updated_at.is_some_and(|then| at.millis_since(then) > limits::SESSION_STALE_MS) {
            self.0.pause = Some(Pause::Silence);
            return self.rest(at, Why::Stale);
        }
        if let Some(message) = &stop.evidence.api_error {
            return self.rest(at, Why::ApiError(text::one_line(message)));
        }
        self.measure(stop);
        // The next refusal is another one, however long ago the last one was.
        self.no_longer_limited();
        let number = self.continuation_count.saturating_add(1);
        if self.continuation_count >= stop.configured {
            return self.rest(at, Why::Exhausted { maximum: stop.configured });
        }
        let maximum = match stop.cap {
            HostCap::None => stop.configured,
            HostCap::Total(cap) if self.continuation_count >= cap => {
                return self.rest(at, Why::Exhausted { maximum: cap });
            }
            HostCap::Total(cap) => stop.configured.min(cap),
            HostCap::InARow(cap) if self.in_a_row >= cap => {
                return self.rest(at, Why::HostCap { cap });
            }
            HostCap::InARow(cap) => {
                let left = cap - self.in_a_row;
                stop.configured.min(self.continuation_count.saturating_add(left))
            }
        };
        if self.stalled >= stop.most_stalled() {
            // Stops that were let through count on, and were not continued.
            return self.rest(at, Why::Stalled { continuations: stop.most_stalled() });
        }
        self.0.stop = stop.evidence.place.clone().map(|place| CountedStop { place, echoes: 0 });
        self.0.continuation_count = number;
        self.0.in_a_row = self.in_a_row.saturating_add(1);
        self.0.reason = None;
        self.0.updated_at = Some(at);
        StopVerdict::Continue { number, maximum }
    }

    /// Whether another hook was asked about this very stop a moment ago. A transcript that does not
    /// grow must not keep a session going, so each of them counts as one without progress.
    fn is_echo(&mut self, at: Timestamp, stop: &StopFacts) -> bool {
        let soon = |then: Timestamp| at.millis_since(then) <= limits::STOP_ECHO_MS;
        // A transcript may be behind, and show the place of the stop before: its words were others.
        let said = stop.evidence.message.as_deref().map(digest);
        let says_the_same = said.is_none() || said == self.last_message;
        let Some(counted) = &mut self.0.stop else { return false };
        let is_same = says_the_same && stop.evidence.place.as_ref() == Some(&counted.place);
        let is_echo = is_same && self.0.updated_at.is_some_and(soon);
        if !is_echo || counted.echoes >= limits::STOP_ECHOES {
            return false;
        }
        counted.echoes += 1;
        self.0.stalled = self.stalled.saturating_add(1);
        self.stalled < stop.most_stalled()
    }

    /// The answer that was given to the stop that counted.
    fn again(&self, stop: &StopFacts) -> StopVerdict {
        let maximum = match stop.cap {
            HostCap::None => stop.configured,
            HostCap::Total(cap) => stop.configured.min(cap),
            HostCap::InARow(cap) => {
                let left = cap.saturating_sub(self.in_a_row);
                stop.configured.min(self.continuation_count.saturating_add(left))
            }
        };
        StopVerdict::Continue { number: self.continuation_count, maximum }
    }

    /// Counts the continuation before this stop, if there was one, towards those without progress.
    fn measure(&mut self, stop: &StopFacts) {
        let Evidence { message, place, .. } = &stop.evidence;
        let message = message.as_deref().map(digest);
        let same = message.is_some() && message == self.last_message;
        let moved = stop.run_revision.is_some() && stop.run_revision != self.run_revision;
        // The entries of a late transcript that stood there at the last stop belong to that one.
        let is_old = stop.evidence.is_late
            && self.stop.as_ref().is_some_and(|counted| Some(&counted.place) == place.as_ref());
        let tools = stop.evidence.tools.map(|used| used && !is_old);
        let progress = moved || !(same || tools == Some(false) || stop.evidence.is_nothing());
        // A prompt, a wait for the provider and work on a run begin the row anew.
        let follows_continuation = self.in_a_row > 0;
        self.0.stalled = match (progress, follows_continuation) {
            (true, _) => 0,
            (false, true) => self.stalled.saturating_add(1),
            (false, false) => self.stalled,
        };
        if tools == Some(true) || moved {
            self.0.in_a_row = 0;
        }
        self.0.last_message = message.or_else(|| self.0.last_message.take());
        self.0.run_revision = stop.run_revision.or(self.run_revision);
    }

    fn rest(&mut self, at: Timestamp, why: Why) -> StopVerdict {
        self.0.stop = None;
        self.0.reason = Some(why.to_string());
        if why != Why::Stale {
            self.0.updated_at = Some(at);
        }
        StopVerdict::End(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handsoff::SessionId;
    use crate::handsoff::command::detect;

    fn session() -> Session {
        let started = detect("/issue-to-impl 42", &[]).unwrap();
        Session::begin(SessionId::new("s1").unwrap(), started, Timestamp::EPOCH)
    }

    fn stop(message: &str, tools: Option<bool>) -> StopFacts {
        StopFacts {
            configured: 10,
            cap: HostCap::None,
            evidence: Evidence { message: Some(message.to_owned()), tools, ..Evidence::default() },
            run_revision: None,
        }
    }

    /// The verdicts of stops in a row, shortened.
    fn verdicts(session: &mut Session, stops: impl IntoIterator<Item = StopFacts>) -> Vec<String> {
        let short = |verdict| match verdict {
            StopVerdict::Continue { number, maximum } => format!("{number}/{maximum}"),
            StopVerdict::End(why) => why.to_string(),
            StopVerdict::Rest => "rest".to_owned(),
        };
        stops.into_iter().map(|stop| short(session.stopped(Timestamp::EPOCH, &stop))).collect()
    }

    #[test]
    fn a_stop_about_which_several_hooks_are_asked_counts_once() {
        let at = |place: &str| {
            let mut stop = stop(&format!("at {place}"), Some(true));
            stop.evidence.place = Some(place.to_owned());
            stop
        };
        let said = verdicts(&mut session(), [at("a"), at("a"), at("b"), at("b"), at("a")]);
        assert_eq!(said, ["1/10", "1/10", "2/10", "2/10", "3/10"]);
        let in_a_row = |place: &str| StopFacts {
            cap: HostCap::InARow(3),
            ..StopFacts {
                evidence: Evidence { tools: Some(false), ..at(place).evidence },
                ..at(place)
            }
        };
        let said = verdicts(&mut session(), [in_a_row("a"), in_a_row("a"), in_a_row("b")]);
        assert_eq!(said, ["1/3", "1/3", "2/3"]);
        // A client may not have written down yet what its agent says now.
        let behind = StopFacts {
            evidence: Evidence { place: Some("a".to_owned()), ..at("b").evidence },
            ..at("b")
        };
        assert_eq!(verdicts(&mut session(), [at("a"), behind]), ["1/10", "2/10"]);
        // A transcript that stands still does not keep a session going.
        let still = std::iter::repeat_with(|| at("a")).take(100);
        let said = verdicts(&mut session(), still);
        let last = said.iter().position(|said| !said.contains('/')).unwrap();
        assert!(last <= 10 && said[last].contains("no progress"), "{said:?}");
        // What comes much later is another stop.
        let mut session = session();
        session.stopped(Timestamp::EPOCH, &at("a"));
        let later = Timestamp::from_millis(limits::STOP_ECHO_MS.cast_signed() + 1);
        let expected = StopVerdict::Continue { number: 2, maximum: 10 };
        assert_eq!(session.stopped(later, &at("a")), expected);
    }

    #[test]
    fn exactly_as_many_continuations_as_configured() {
        let working = (0..12).map(|n| stop(&format!("part {n}"), Some(true)));
        let said = verdicts(&mut session(), working);
        assert_eq!(said[0], "1/10");
        assert_eq!(said[9], "10/10");
        assert_eq!(said[10..], ["all 10 continuations are used up"; 2]);
        let none = StopFacts { configured: 0, ..stop("a", Some(true)) };
        assert_eq!(verdicts(&mut session(), [none]), ["all 0 continuations are used up"]);
    }

    #[test]
    fn the_hosts_own_cap_is_part_of_the_maximum() {
        let claude = |n: u32, tools| StopFacts {
            cap: HostCap::InARow(3),
            ..stop(&format!("part {n}"), Some(tools))
        };
        let idle = (0..4).map(|n| claude(n, false));
        let said = verdicts(&mut session(), idle);
        assert_eq!(said[..3], ["1/3", "2/3", "3/3"]);
        assert_eq!(said[3], "the host allows only 3 continuations in a row without a tool call");
        let working = (0..10).map(|n| claude(n, true));
        let said = verdicts(&mut session(), working);
        assert_eq!((said[0].as_str(), said[4].as_str(), said[9].as_str()), ("1/3", "5/7", "10/10"));
        let cursor = (0..6).map(|n| StopFacts {
            cap: HostCap::Total(5),
            ..stop(&format!("part {n}"), Some(true))
        });
        let said = verdicts(&mut session(), cursor);
        assert_eq!(said[4..], ["5/5", "all 5 continuations are used up"]);
    }

    #[test]
    fn no_progress_ends_and_says_so() {
        let limit = limits::SESSION_STALLED as usize;
        let same = (0..limit + 2).map(|_| stop("I am done.", Some(true)));
        let said = verdicts(&mut session(), same);
        assert_eq!(said[limit - 1], format!("{limit}/10"), "{said:?}");
        let expected = "the last 5 continuations brought no progress: the agent used no tool, or \
                        said the same again";
        assert_eq!(said[limit], expected, "{said:?}");
        assert_eq!(said[limit + 1], expected, "stops that are let through are no continuations");
        // Whatever the first turn did, and also where the transcript is late.
        for (first, is_late) in [(true, false), (false, false), (true, true)] {
            let idle = (0..limit + 1).map(|n| {
                let mut idle = stop(&format!("words {n}"), Some(is_late || (first && n == 0)));
                idle.evidence.place = is_late.then(|| "p".to_owned());
                idle.evidence.is_late = is_late && n > 0;
                idle
            });
            let said = verdicts(&mut session(), idle);
            assert_eq!((said[limit - 1].as_str(), said[limit].as_str()), ("5/10", expected));
        }
        let blind = StopFacts { configured: 100, evidence: Evidence::default(), ..stop("", None) };
        let said = verdicts(&mut session(), (0..20).map(|_| blind.clone()));
        let sent_on = said.iter().filter(|said| said.contains('/')).count();
        assert!(sent_on < 10, "{said:?}");
    }

    #[test]
    fn progress_in_between_begins_anew() {
        let limit = limits::SESSION_STALLED as usize;
        let mut session = session();
        let same = || stop("same", Some(true));
        verdicts(&mut session, (0..limit).map(|_| same()));
        assert_eq!(verdicts(&mut session, [stop("new", Some(true))]).len(), 1);
        assert_eq!(session.stalled, 0);
        let moved = StopFacts { run_revision: Some(7), ..stop("new", Some(false)) };
        verdicts(&mut session, [moved]);
        assert_eq!(session.stalled, 0);
    }

    #[test]
    fn errors_of_the_service_burn_nothing() {
        let mut session = session();
        let evidence =
            Evidence { api_error: Some("529 overloaded".to_owned()), ..Evidence::default() };
        let said = verdicts(&mut session, [StopFacts { evidence, ..stop("", None) }]);
        assert_eq!(said, ["the model's service failed: 529 overloaded"]);
        assert_eq!(session.continuation_count, 0);
        assert_eq!(verdicts(&mut session, [stop("back", Some(true))]), ["1/10"]);
    }

    #[test]
    fn ended_paused_and_forgotten_sessions_rest() {
        let mut ended = session();
        ended.0.state = SessionState::from("failed");
        let mut paused = session();
        paused.0.pause = Some(Pause::Question);
        for session in [&mut ended, &mut paused] {
            assert_eq!(verdicts(session, [stop("a", None)]), ["rest"]);
        }
        let mut old = session();
        let late = Timestamp::from_millis(limits::SESSION_STALE_MS.cast_signed() + 1);
        assert_eq!(old.stopped(late, &stop("a", None)), StopVerdict::End(Why::Stale));
        assert_eq!(old.stopped(late, &stop("a", None)), StopVerdict::Rest);
    }
}
