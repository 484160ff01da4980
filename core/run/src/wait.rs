//! Waiting for a provider that does not serve an agent for now. Nothing was wrong with the work,
//! so it is no attempt.

use super::budget::exceeded;
use super::record::{Phase, Run, StepRecord, StepStatus};
use onloop_syntax::limits;
use onloop_syntax::text::words;
use onloop_syntax::time::{Timestamp, backoff_ms};
use serde::{Deserialize, Serialize};

words! {
    /// Why an agent's provider does not serve it.
    pub enum WaitReason {
        /// A limit on usage is reached.
        Limited = "limited",
        /// The provider has no room.
        Overloaded = "overloaded",
        /// The provider cannot be reached.
        Unreachable = "unreachable",
    }
}

impl WaitReason {
    /// What is the case, as a clause about the agent.
    pub fn clause(self) -> &'static str {
        match self {
            WaitReason::Limited => "its limit on usage is reached",
            WaitReason::Overloaded => "its provider is overloaded",
            WaitReason::Unreachable => "its provider cannot be reached",
        }
    }
}

/// How a turn of a client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnding {
    /// The client says that it is done.
    Completed,
    /// It failed, or said nothing about its end.
    Failed,
    /// onloop ended it, because its calls were not checked.
    Ended,
    /// It was ended because a budget of the run was passed.
    OverBudget,
    /// It was ended because nothing came of it any more.
    Stalled,
    /// It was ended because its conversation does not fit into its model any more.
    TooLong,
    /// A person interrupted.
    Interrupted,
    /// The provider does not serve it for now.
    #[serde(untagged)]
    Refused(WaitReason),
}

impl TurnEnding {
    /// The word in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            TurnEnding::Completed => "completed",
            TurnEnding::Failed => "failed",
            TurnEnding::Ended => "ended",
            TurnEnding::OverBudget => "over_budget",
            TurnEnding::Stalled => "stalled",
            TurnEnding::TooLong => "too_long",
            TurnEnding::Interrupted => "interrupted",
            TurnEnding::Refused(reason) => reason.as_str(),
        }
    }

    /// Whether the provider had not served the turn, which then is no attempt.
    pub fn is_refusal(self) -> bool {
        matches!(self, TurnEnding::Refused(_))
    }
}

/// That an agent is not started before a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The step that waits, from 1.
    pub step: u32,
    /// The attempt that continues afterwards, from 1.
    pub attempt: u32,
    /// The agent, by its name on the command line.
    pub agent: String,
    /// Why.
    pub why: WaitReason,
    /// The time of the first refusal in a row, or of the last resume by a person.
    #[serde(with = "onloop_syntax::time::millis")]
    pub since: Timestamp,
    /// When the agent is tried again.
    #[serde(with = "onloop_syntax::time::millis")]
    pub until: Timestamp,
    /// Refusals in a row, from 1.
    pub tries: u32,
}

impl Wait {
    /// The wait after a refusal at `now`, where `before` is the wait after the one before it.
    ///
    /// A known time of `resets_at` is waited for, and a little longer. Otherwise pauses grow from
    /// [`limits::PROVIDER_PAUSE_MS`] to [`limits::PROVIDER_LONGEST_PAUSE_MS`].
    pub fn after(refused: Refused, now: Timestamp, before: Option<&Wait>) -> Wait {
        let Refused { step, attempt, agent, why, resets_at } = refused;
        let tries = before.map_or(0, |wait| wait.tries).saturating_add(1);
        let longest_ms = limits::PROVIDER_LONGEST_PAUSE_MS;
        let pause = now.later(backoff_ms(limits::PROVIDER_PAUSE_MS, tries - 1, longest_ms));
        let reset = resets_at.map(|at| at.later(limits::PROVIDER_RESET_MARGIN_MS));
        // A reset that has been, and did not help, says nothing.
        let until = reset.filter(|at| *at > now).unwrap_or(pause);
        let since = before.map_or(now, |wait| wait.since);
        Wait { step, attempt, agent, why, since, until, tries }
    }

    /// How long it takes from its beginning, in milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.until.millis_since(self.since)
    }
}

/// A turn that its provider did not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Number of the step, from 1.
    pub step: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The agent, by its name on the command line.
    pub agent: String,
    /// Why.
    pub why: WaitReason,
    /// When the provider serves again, where that is known.
    pub resets_at: Option<Timestamp>,
}

impl Run {
    /// What `agent` waits for, or did at last.
    pub fn wait_of(&self, agent: &str) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.agent == agent)
    }

    /// Whether the present attempt at a step waits for a provider.
    pub fn waits_for_provider(&self, record: &StepRecord) -> bool {
        self.put_off(record).is_some_and(TurnEnding::is_refusal)
    }

    /// Whether the present attempt at a step waits for a higher budget.
    pub fn waits_for_budget(&self, record: &StepRecord) -> bool {
        self.put_off(record) == Some(TurnEnding::OverBudget) && !exceeded(self).is_empty()
    }

    /// How the last turn of the present attempt ended, if the attempt continues later.
    pub(super) fn put_off(&self, record: &StepRecord) -> Option<TurnEnding> {
        let acts = matches!(record.status, StepStatus::InProgress(Phase::Acting));
        let turn = self.turns.last().filter(|_| acts && self.acting.is_none())?;
        let is_present = turn.step == record.step.number && turn.attempt == record.attempts;
        let is_put_off =
            |ending: &TurnEnding| ending.is_refusal() || *ending == TurnEnding::OverBudget;
        turn.ending.filter(is_put_off).filter(|_| is_present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_millis(1_000_000_000)
    }

    fn refused(resets_in_s: Option<i64>) -> Refused {
        let resets_at = resets_in_s.map(|s| Timestamp::from_millis(now().as_millis() + s * 1000));
        let (agent, why) = ("claude".to_owned(), WaitReason::Limited);
        Refused { step: 1, attempt: 1, agent, why, resets_at }
    }

    #[test]
    fn pauses_grow_within_bounds_and_a_known_time_is_kept() {
        let mut waits: Vec<Wait> = Vec::new();
        for _ in 0..80 {
            waits.push(Wait::after(refused(None), now(), waits.last()));
        }
        let pauses: Vec<u64> = waits.iter().map(|wait| wait.length_ms() / 1000).collect();
        assert_eq!(pauses[..8], [15, 30, 60, 120, 240, 480, 900, 900]);
        assert_eq!((pauses[79], waits[79].tries), (900, 80));
        let known = Wait::after(refused(Some(7200)), now(), waits.last());
        assert_eq!(known.length_ms(), 7_200_000 + limits::PROVIDER_RESET_MARGIN_MS);
        let past = Wait::after(refused(Some(-7200)), now(), None);
        assert_eq!(past.length_ms(), limits::PROVIDER_PAUSE_MS);
        let never = Wait::after(refused(Some(i64::MAX / 2000)), now(), None);
        assert!(never.length_ms() > 1 << 45);
    }

    #[test]
    fn every_ending_has_a_word_of_its_own() {
        let refusals = WaitReason::ALL.map(TurnEnding::Refused).into_iter();
        let plain = [
            TurnEnding::Completed,
            TurnEnding::Failed,
            TurnEnding::Ended,
            TurnEnding::OverBudget,
            TurnEnding::Stalled,
            TurnEnding::TooLong,
            TurnEnding::Interrupted,
        ];
        for ending in plain.into_iter().chain(refusals) {
            let word = serde_json::to_value(ending).expect("a word");
            assert_eq!(word, ending.as_str());
            assert_eq!(serde_json::from_value::<TurnEnding>(word).ok(), Some(ending));
        }
        assert!(serde_json::from_str::<TurnEnding>("\"lost\"").is_err());
    }
}
