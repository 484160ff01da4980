//! Decisions: gates, human reviews and the verdicts of review agents.

use super::{CHANGE, Refusal};
use crate::event::*;
use crate::gate::{GateRule, gate_rule};
use crate::next::{Next, blocker};
use crate::record::*;
use crate::stale::Stale;
use crate::verdict::Verdict;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::Risk;

impl Run {
    pub(super) fn decide_gate(
        &mut self,
        at: Timestamp,
        step: u32,
        decision: GateDecision,
        mode: Mode,
    ) -> Result<(), Refusal> {
        self.demand_unfinished("decide a gate")?;
        let record = self.demand_step(step)?;
        let reviewing = match &record.status {
            StepStatus::Done => false,
            StepStatus::Blocked(BlockReason::HumanReview { .. } | BlockReason::ReviewRejected) => {
                true
            }
            StepStatus::Pending
            | StepStatus::InProgress(_)
            | StepStatus::Failed { .. }
            | StepStatus::Blocked(BlockReason::Other(_)) => {
                return Err(Refusal::WrongStepStatus {
                    step,
                    status: record.status.as_str(),
                    expected: "`done`, or a step that waits for a human review",
                });
            }
        };
        // A blocked run verifies nothing; what is stale in it is verified once it runs again.
        let runs = self.status != RunStatus::Blocked;
        if let (true, GateDecision::Approved, Some(stale)) = (runs, decision, self.stale_step()) {
            let what = format!("step {stale} has to be verified again first: files changed since");
            return Err(Refusal::NotDue { what });
        }
        if mode == Mode::Auto && !self.rules_approve(record, reviewing) {
            return Err(Refusal::HumanGateRequired { step });
        }
        let record = self.step_mut(step).expect("looked up above");
        record.gate = Some(GateRecord { decision, mode });
        match decision {
            GateDecision::Approved => {
                if reviewing {
                    record.status = StepStatus::Done;
                    record.completed_at = Some(at);
                    mark_reviewed(&mut record.results);
                }
                self.continue_unless_blocked();
            }
            GateDecision::Rejected => {
                if reviewing {
                    record.status = StepStatus::Blocked(BlockReason::ReviewRejected);
                }
                self.0.status = RunStatus::Blocked;
            }
        }
        let subject = if reviewing { "Human review for Step" } else { "Gate Step" };
        let text = format!("{subject} {step}: {} ({})", decision.as_str(), mode.as_str());
        self.log(at, "gate_decided", Some(step), text, "");
        Ok(())
    }

    /// Instead of an approval: the step is acted again, as often as the file allows, and its agent is
    /// told why. Only a step without later attempts can be done again. A completed run runs again, as long
    /// as its work was not handed on.
    pub(super) fn redo(&mut self, at: Timestamp, step: u32, reason: &str) -> Result<(), Refusal> {
        let is_completed = self.may_be_handed_on();
        if !is_completed {
            self.demand_unfinished("repeat a step")?;
        }
        let record = self.demand_step(step)?;
        let reviewed = self.reviews.last.as_ref().filter(|last| {
            last.step == Some(step) || (last.step.is_none() && step == self.last_step())
        });
        let is_blocking = self.reviews.blocking.is_some() && reviewed.is_some();
        let waits = match &record.status {
            StepStatus::Done => {
                let is_approved = record.gate.is_some_and(|g| g.decision == GateDecision::Approved);
                is_completed || is_blocking || !is_approved
            }
            StepStatus::Blocked(BlockReason::HumanReview { .. } | BlockReason::ReviewRejected) => {
                true
            }
            StepStatus::Pending
            | StepStatus::InProgress(_)
            | StepStatus::Failed { .. }
            | StepStatus::Blocked(BlockReason::Other(_)) => false,
        };
        if !waits {
            let (status, expected) = (record.status.as_str(), "a step that waits for a decision");
            return Err(Refusal::WrongStepStatus { step, status, expected });
        }
        self.demand_last_begun(step)?;
        let findings = reviewed.map(|last| last.findings.clone()).unwrap_or_default();
        let reason = text::one_line(reason);
        if is_blocking {
            self.0.reviews.blocking = None;
        }
        self.0.reviews.rounds = 0;
        self.0.completed_at = None;
        self.do_again(step, format!("it has to be done again: {reason}"), findings);
        let text = format!("↻ Step {step}: to be done again: {reason}");
        self.log(at, "step_redone", Some(step), text, "");
        Ok(())
    }

    /// Instead of a person, the agent that did the work is told what a reviewer found, a few times.
    pub(super) fn return_findings(&mut self, at: Timestamp, step: u32) -> Result<(), Refusal> {
        self.demand_unfinished(CHANGE)?;
        if self.returnable_findings() != Some(step) {
            let what = format!("no findings go back to the agent of step {step}");
            return Err(Refusal::NotDue { what });
        }
        let blocking = self.0.reviews.blocking.take();
        let findings = blocking.map(|review| review.findings).unwrap_or_default();
        self.0.reviews.rounds += 1;
        let (round, most) = (self.reviews.rounds, self.settings.evidence.review_rounds());
        self.do_again(step, "a reviewer says that it is not ready".to_owned(), findings);
        let text = format!("↻ Step {step}: Findings of the review go back ({round}/{most})");
        self.log(at, "findings_returned", Some(step), text, "");
        Ok(())
    }

    /// The step whose agent can be told what the review that blocks the run has found; `None`: a person
    /// has to decide.
    pub fn returnable_findings(&self) -> Option<u32> {
        let blocking = self.reviews.blocking.as_ref().filter(|r| r.verdict == Verdict::Block)?;
        let step = blocking.step.unwrap_or(self.last_step());
        let is_left = self.reviews.rounds < self.settings.evidence.review_rounds();
        let is_last = self.may_redo(step);
        (is_left && is_last && self.step(step)?.status == StepStatus::Done).then_some(step)
    }

    /// Whether a step that waits for a decision can be done again instead.
    pub fn may_redo(&self, step: u32) -> bool {
        self.demand_last_begun(step).is_ok()
    }

    /// Only what no later step has built on can be done again.
    fn demand_last_begun(&self, step: u32) -> Result<(), Refusal> {
        match self.steps.iter().any(|later| later.step.number > step && later.has_begun()) {
            false => Ok(()),
            true => {
                let what = format!("steps after step {step} have begun");
                Err(Refusal::NotDue { what })
            }
        }
    }

    /// A step is acted again, as often as the file allows, and its agent is told why.
    pub(super) fn do_again(&mut self, step: u32, reason: String, output: String) {
        let record = self.step_mut(step).expect("callers looked it up");
        record.status = StepStatus::Pending;
        record.uncounted = record.attempts;
        record.completed_at = None;
        record.results.clear();
        record.gate = None;
        record.last_failure = Some(LastFailure::new(reason, output));
        self.make_stale(Stale::Again);
        self.outdate_forks(Some(step));
        self.continue_unless_blocked();
    }

    /// A decision that was waited for, or turned around, sets the run going again, unless
    /// something else holds it up.
    pub(super) fn continue_unless_blocked(&mut self) {
        let blocked = self.status == RunStatus::Blocked
            && self.steps.iter().any(|record| blocker(record).is_some());
        self.0.status = if blocked { RunStatus::Blocked } else { RunStatus::Running };
        self.0.pause_reason = None;
    }

    /// Whether the rules let the gate of `record` decide itself.
    fn rules_approve(&self, record: &StepRecord, reviewing: bool) -> bool {
        if reviewing {
            return false;
        }
        match gate_rule(self, record) {
            // The gate needs no person, except at high risk.
            GateRule::Open => self.settings.risk != Risk::High,
            GateRule::Automatic(_) => true,
            GateRule::Human(_) => false,
        }
    }

    pub(super) fn reviewed(
        &mut self,
        at: Timestamp,
        step: Option<u32>,
        verdict: Verdict,
        findings: &str,
        base: Option<String>,
    ) -> Result<(), Refusal> {
        self.demand_running("settle a review")?;
        // A verdict on missing work would block or approve the wrong work.
        if self.next() != (Next::Review { step }) {
            let what = "the run is not at a review checkpoint".to_owned();
            return Err(Refusal::NotDue { what });
        }
        self.0.acting = None;
        let said = BlockingReview { step, verdict, findings: findings.to_owned() };
        self.0.reviews.last = Some(said.clone());
        if verdict.passes() {
            self.pass_review(step);
            self.0.reviews.base = base;
        } else {
            self.0.reviews.blocking = Some(said);
            self.0.status = RunStatus::Paused;
        }
        let scope = step.map_or("final".to_owned(), |step| format!("step {step}"));
        let symbol = if verdict.passes() { "✓" } else { "✗" };
        let text = format!("{symbol} Review ({scope}): {}", verdict.as_str());
        self.log(at, "review_finished", step, text, findings);
        Ok(())
    }

    fn pass_review(&mut self, step: Option<u32>) {
        self.0.reviews.blocking = None;
        self.0.reviews.rounds = 0;
        match step {
            Some(step) => self.0.reviews.reviewed_step = step,
            None => self.0.reviews.finally_reviewed = true,
        }
    }

    pub(super) fn accept_verdict(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.demand_unfinished("settle a review")?;
        let Some(review) = self.reviews.blocking.clone() else {
            return Err(Refusal::WrongRunStatus {
                status: self.status.as_str(),
                deed: "settle a review",
            });
        };
        self.pass_review(review.step);
        self.continue_unless_blocked();
        let text = format!("Review verdict {} accepted by a person", review.verdict.as_str());
        self.log(at, "verdict_accepted", review.step, text, "");
        Ok(())
    }
}

fn mark_reviewed(results: &mut [CheckResult]) {
    for result in results {
        if matches!(result.verdict, CheckVerdict::NeedsHuman { .. }) {
            result.verdict = CheckVerdict::Passed;
            "human review approved".clone_into(&mut result.stdout);
        }
    }
}
