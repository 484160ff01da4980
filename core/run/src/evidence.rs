//! What the record does not prove.

use super::event::{GateDecision, Mode};
use super::gate::{GateRule, gate_rule};
use super::record::*;
use onloop_syntax::text;
use onloop_workflow::Risk;

impl Run {
    /// Whether a step is done because a check, a checkpoint review or a person said so. A final
    /// review of the whole run does not count for a step.
    pub fn is_checked(&self, record: &StepRecord) -> bool {
        let by_person =
            |gate: GateRecord| gate.mode == Mode::Human && gate.decision == GateDecision::Approved;
        record.status == StepStatus::Done
            && (!record.step.checks.is_empty()
                || record.gate.is_some_and(by_person)
                || self.reviews.reviewed_step >= record.step.number)
    }

    /// How many steps are done although nothing verified them.
    pub fn unchecked(&self) -> usize {
        let done = self.steps.iter().filter(|record| record.status == StepStatus::Done);
        done.filter(|record| !self.is_checked(record)).count()
    }

    /// `1 of 3 steps unchecked`; `None`: something verified every step that is done.
    pub fn unchecked_line(&self) -> Option<String> {
        let (count, steps) = (self.unchecked(), self.steps.len() as u64);
        (count > 0).then(|| format!("{count} of {} unchecked", text::counted(steps, "step")))
    }

    /// Whether all machine checks have to be repeated before the run completes.
    pub fn repeat_is_due(&self) -> bool {
        let clean = self.settings.evidence.verify_clean;
        ((self.settings.options.reverify || clean) && !self.reverified)
            || (clean && !self.verified_clean)
    }

    /// Why the record does not prove that the work is done; empty when it does.
    pub fn missing_evidence(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        if self.status != RunStatus::Completed && self.status != RunStatus::ReadyToFinish {
            reasons.push("run_not_completed");
        }
        if self.steps.iter().any(|step| step.status != StepStatus::Done) {
            reasons.push("steps_not_done");
        }
        if self.repeat_is_due() {
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
