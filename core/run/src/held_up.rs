//! Whether the present attempt at a step is put off: it continues later, and no process runs.

use super::budget::exceeded;
use super::record::{Phase, Run, StepRecord, StepStatus};
use super::wait::{TurnEnding, Wait};

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
