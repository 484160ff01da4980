//! What the record does not prove.

use super::event::{GateDecision, Mode};
use super::gate::{GateRule, gate_rule};
use super::record::*;
use onloop_workflow::Risk;

impl Run {
    /// Why the record does not prove that the work is done; empty when it does.
    pub fn missing_evidence(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        if self.status != RunStatus::Completed && self.status != RunStatus::ReadyToFinish {
            reasons.push("run_not_completed");
        }
        if self.steps.iter().any(|step| step.status != StepStatus::Done) {
            reasons.push("steps_not_done");
        }
        if self.settings.reverify && !self.reverified {
            reasons.push(UNVERIFIED);
        }
        let approved = |step: &StepRecord| {
            step.gate.is_some_and(|gate| gate.decision == GateDecision::Approved)
        };
        if self.steps.iter().any(|s| gate_rule(self, s) != GateRule::Open && !approved(s)) {
            reasons.push("gate_evidence_missing_or_rejected");
        }
        let by_rule = |step: &StepRecord| step.gate.is_some_and(|gate| gate.mode == Mode::Auto);
        let human = |step: &StepRecord| matches!(gate_rule(self, step), GateRule::Human(_));
        if self.settings.risk == Risk::High && self.steps.iter().any(|s| human(s) && by_rule(s)) {
            reasons.push("high_risk_human_gate_missing");
        }
        reasons
    }

    /// The same for handing the work on. Older generations never repeated their checks, and
    /// what they completed must not be held up for ever by that.
    pub(super) fn missing_for_finish(&self) -> Vec<&'static str> {
        let older = self.settings.plan_digest.is_empty();
        let mut missing = self.missing_evidence();
        missing.retain(|reason| !(older && *reason == UNVERIFIED));
        missing
    }
}

const UNVERIFIED: &str = "verification_missing_or_failed";
