//! What happens to a step.

use super::Refusal;
use super::judgement::{Judgement, judge, outputs};
use crate::budget::exceeded;
use crate::event::*;
use crate::gate::{GateRule, gate_rule};
use crate::held::WorkHold;
use crate::record::*;
use crate::wait::{TurnEnding, Wait};
use crate::warning::CheckWarnings;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

impl Run {
    pub(super) fn start_step(&mut self, at: Timestamp, step: u32) -> Result<(), Refusal> {
        self.demand_running("step_started")?;
        let record = self.demand_step(step)?;
        match &record.status {
            StepStatus::Pending | StepStatus::InProgress(Phase::Interrupted) => {}
            StepStatus::Failed { .. } if record.may_retry() => {}
            StepStatus::Failed { .. } => {
                return Err(Refusal::AttemptsExhausted { step, limit: record.limit() });
            }
            StepStatus::InProgress(_) | StepStatus::Done | StepStatus::Blocked(_) => {
                return Err(Refusal::WrongStepStatus {
                    step,
                    status: record.status.as_str(),
                    expected: "`pending` or `failed`",
                });
            }
        }
        // Only the nearest earlier step has to be looked at: it could not have started before
        // those ahead of it were settled.
        if let Some(earlier) = step.checked_sub(1).and_then(|n| self.step(n)) {
            let gate_open = match (earlier.gate, gate_rule(self, earlier)) {
                (Some(gate), _) => gate.decision == GateDecision::Approved,
                (None, GateRule::Open) => true,
                (None, GateRule::Automatic(_) | GateRule::Human(_)) => false,
            };
            if earlier.status != StepStatus::Done || !gate_open {
                return Err(Refusal::EarlierStepUnsettled { earlier: step - 1, step });
            }
        }
        if let Some(exceeded) = exceeded(self).first() {
            return Err(Refusal::BudgetExceeded { name: exceeded.name });
        }
        let record = self.step_mut(step).expect("looked up above");
        let retry = matches!(record.status, StepStatus::Failed { .. });
        record.attempts += 1;
        record.status = StepStatus::InProgress(Phase::Acting);
        record.started_at = Some(at);
        record.completed_at = None;
        record.results.clear();
        // An earlier gate decision does not cover the result of this attempt.
        record.gate = None;
        let attempt = record.attempt_of_limit();
        let name = record.step.name.clone();
        self.0.reverified = false;
        // Nor has a reviewer.
        self.0.reviews.finally_reviewed = false;
        self.0.reviews.reviewed_step = self.reviews.reviewed_step.min(step - 1);
        let text = if retry {
            format!("↻ Step {step}: Retrying ({attempt})")
        } else {
            format!("→ Step {step}: {name}")
        };
        self.log(at, "step_started", Some(step), text, "");
        Ok(())
    }

    /// No line in the report: it is about processes, not about the work.
    pub(super) fn work_started(&mut self, acting: &Acting) -> Result<(), Refusal> {
        // The checks of a completed run are repeated before its work is handed on.
        let again = acting.worker == Worker::Check && self.may_be_handed_on();
        if !again {
            self.demand_running("work_started")?;
        }
        match acting.worker {
            Worker::Agent => {
                self.demand_in_progress(acting.step)?;
            }
            Worker::Check | Worker::Review | Worker::SetUp => {}
        }
        self.0.acting = Some(acting.clone());
        if let Some(hold) = WorkHold::of(acting) {
            hold.put(&mut self.0.holds);
        }
        Ok(())
    }

    /// The turn counts in the budgets, and is kept for its conversation.
    pub(super) fn agent_ended(&mut self, turn: &TurnRecord) -> Result<(), Refusal> {
        self.demand_running("agent_ended")?;
        self.demand_in_progress(turn.step)?;
        self.report_usage(Usage {
            agents: u64::from(turn.counts()),
            cost: turn.cost.map_or(Amount::Unknown, Amount::Known),
            tokens: turn.tokens.map_or(Amount::Unknown, |tokens| Amount::Known(tokens.total())),
        })?;
        if turn.counts() && turn.ending != Some(TurnEnding::Interrupted) {
            self.0.waits.retain(|wait| wait.agent != turn.agent);
        }
        self.0.turns.push(turn.clone());
        Ok(())
    }

    /// The attempt stays the present one.
    pub(super) fn agent_waits(&mut self, at: Timestamp, wait: &Wait) -> Result<(), Refusal> {
        self.demand_running("agent_waits")?;
        self.demand_in_progress(wait.step)?;
        self.0.acting = None;
        self.0.waits.retain(|earlier| earlier.agent != wait.agent);
        self.0.waits.push(wait.clone());
        let (step, agent, why) = (wait.step, &wait.agent, wait.why.clause());
        let text = format!("⏸ Step {step}: {agent} until {}: {why}", wait.until.to_rfc3339());
        self.log(at, "agent_waits", Some(step), text, "");
        Ok(())
    }

    pub(super) fn acted(&mut self, at: Timestamp, step: u32) -> Result<(), Refusal> {
        self.demand_running("step_acted")?;
        self.demand_in_progress(step)?;
        let record = self.step_mut(step).expect("looked up above");
        record.status = StepStatus::InProgress(Phase::Acted);
        self.0.acting = None;
        // No line in the report: what comes of it follows at once.
        let _ = at;
        Ok(())
    }

    pub(super) fn action_failed(
        &mut self,
        at: Timestamp,
        step: u32,
        reason: &str,
        output: &str,
    ) -> Result<(), Refusal> {
        self.demand_running("action_failed")?;
        self.demand_in_progress(step)?;
        self.0.acting = None;
        self.fail_step(at, step, "action_failed", reason, output);
        Ok(())
    }

    pub(super) fn fail_step(
        &mut self,
        at: Timestamp,
        step: u32,
        event: &str,
        reason: &str,
        output: &str,
    ) {
        let record = self.step_mut(step).expect("callers looked it up");
        let reason = text::one_line(reason);
        let kept = text::suffix(output, limits::PROMPT_OUTPUT_BYTES).to_owned();
        record.last_failure = Some(LastFailure { reason: reason.clone(), output: kept });
        record.status = StepStatus::Failed { reason: reason.clone() };
        let attempts = text::counted(u64::from(record.attempts), "attempt");
        let text = format!("✗ Step {step}: Failed ({attempts}): {reason}");
        self.log(at, event, Some(step), text, output);
    }

    pub(super) fn verified(
        &mut self,
        at: Timestamp,
        step: u32,
        results: &[CheckResult],
    ) -> Result<(), Refusal> {
        self.demand_running("step_verified")?;
        let record = self.demand_in_progress(step)?;
        let judgement =
            judge(&record.step.checks, results).ok_or(Refusal::IncompleteVerification { step })?;
        let attempts = text::counted(u64::from(record.attempts), "attempt");
        let report_full = self.settings.report_full;
        self.0.acting = None;
        let record = self.step_mut(step).expect("looked up above");
        record.results = results.to_vec();
        self.log_warnings(at, step);
        let record = self.step_mut(step).expect("looked up above");
        match judgement {
            Judgement::Passed => {
                record.status = StepStatus::Done;
                record.completed_at = Some(at);
                record.last_failure = None;
                let note = if results.is_empty() { "no verify, " } else { "" };
                let text = format!("✓ Step {step}: Done ({note}{attempts})");
                let detail = if report_full { outputs(results) } else { String::new() };
                // It was blocked after a person had said no, and that still stands.
                let rejected =
                    record.gate.is_some_and(|gate| gate.decision == GateDecision::Rejected);
                if rejected {
                    self.0.status = RunStatus::Blocked;
                }
                self.log(at, "step_verified", Some(step), text, &detail);
            }
            Judgement::Failed { reason, output } => {
                self.fail_step(at, step, "step_verified", &reason, &output);
            }
            Judgement::NeedsHuman { prompt } => {
                let reason = BlockReason::HumanReview { prompt: text::one_line(&prompt) };
                let text = format!("⏸ Step {step}: Waits for you ({})", reason.text());
                record.status = StepStatus::Blocked(reason);
                self.0.status = RunStatus::Paused;
                let detail = if report_full { outputs(results) } else { String::new() };
                self.log(at, "step_verified", Some(step), text, &detail);
            }
            Judgement::CannotEvaluate { reason } => {
                let reason = text::one_line(&reason);
                let text = format!("✗ Step {step}: Blocked ({reason})");
                record.status = StepStatus::Blocked(BlockReason::Other(reason));
                self.0.status = RunStatus::Blocked;
                self.log(at, "step_verified", Some(step), text, "");
            }
        }
        Ok(())
    }

    /// What is known now about checks that were repeated takes the place of what was known before.
    pub(super) fn warning(&mut self, at: Timestamp, warnings: &[CheckWarnings]) {
        for CheckWarnings { step, check, warnings } in warnings {
            let result = self
                .step_mut(*step)
                .and_then(|record| record.results.iter_mut().find(|r| r.check == *check));
            if let Some(result) = result
                && result.warnings != *warnings
            {
                result.warnings.clone_from(warnings);
                self.log_warnings(at, *step);
            }
        }
    }

    fn log_warnings(&mut self, at: Timestamp, step: u32) {
        for line in self.warning_lines(Some(step)) {
            self.log(at, "check_warned", Some(step), format!("⚠ {line}"), "");
        }
    }

    pub(super) fn block_step(
        &mut self,
        at: Timestamp,
        step: u32,
        reason: &str,
    ) -> Result<(), Refusal> {
        self.demand_unfinished("step_blocked")?;
        self.demand_step(step)?;
        let reason = text::one_line(reason);
        let text = format!("✗ Step {step}: Blocked — {reason}");
        let record = self.step_mut(step).expect("looked up above");
        record.status = StepStatus::Blocked(BlockReason::Other(reason));
        self.0.status = RunStatus::Blocked;
        self.log(at, "step_blocked", Some(step), text, "");
        Ok(())
    }

    /// As resuming a blocked run, for one step, and its agent is told why: attempts before do not
    /// count out of the limit any more. What has been rejected is decided anew, or done again.
    pub(super) fn reopen(&mut self, at: Timestamp, step: u32, reason: &str) -> Result<(), Refusal> {
        self.demand_unfinished("step_reopened")?;
        let record = self.demand_step(step)?;
        let before = match &record.status {
            StepStatus::Failed { reason } | StepStatus::Blocked(BlockReason::Other(reason)) => {
                reason.clone()
            }
            StepStatus::Pending
            | StepStatus::InProgress(_)
            | StepStatus::Done
            | StepStatus::Blocked(BlockReason::HumanReview { .. } | BlockReason::ReviewRejected) => {
                let (status, expected) = (record.status.as_str(), "`failed` or `blocked`");
                return Err(Refusal::WrongStepStatus { step, status, expected });
            }
        };
        let reason = text::one_line(reason);
        let record = self.step_mut(step).expect("looked up above");
        record.status = StepStatus::Pending;
        record.uncounted = record.attempts;
        let output = record.last_failure.take().map(|failure| failure.output);
        record.last_failure = Some(LastFailure {
            reason: format!("{before}; a person has it tried again: {reason}"),
            output: output.unwrap_or_default(),
        });
        // What was said about the work before is said anew about what comes of this.
        self.0.reviews.standing = None;
        self.0.reverified = false;
        self.continue_unless_blocked();
        let text = format!("↻ Step {step}: to be tried again: {reason}");
        self.log(at, "step_reopened", Some(step), text, "");
        Ok(())
    }
}
