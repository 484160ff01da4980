//! Whether a run waits for a provider.

use super::record::{Phase, Run, StepRecord, StepStatus};
use super::wait::{TurnEnding, Wait};

impl Run {
    /// What `agent` waits for, or did at last.
    pub fn wait_of(&self, agent: &str) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.agent == agent)
    }

    /// Whether the present attempt at a step waits for a provider, without a running process.
    pub fn is_held_up(&self, record: &StepRecord) -> bool {
        let acts = matches!(record.status, StepStatus::InProgress(Phase::Acting));
        let refused = self.turns.last().is_some_and(|turn| {
            let is_present = turn.step == record.step.number && turn.attempt == record.attempts;
            is_present && turn.ending.is_some_and(TurnEnding::is_refusal)
        });
        acts && refused && self.acting.is_none()
    }
}
