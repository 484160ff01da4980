//! What happens to a step.

use super::judgement::{Judgement, judge, outputs};
use super::{CHANGE, Refusal};
use crate::budget::exceeded;
use crate::checkpoint::CheckpointMoment;
use crate::event::*;
use crate::next::{Next, Question};
use crate::record::*;
use crate::sandboxes::WorkerSandbox;
use crate::stale::Stale;
use crate::wait::{TurnEnding, Wait};
use crate::warning::CheckWarnings;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

impl Run {
    pub(super) fn start_step(&mut self, at: Timestamp, step: u32) -> Result<(), Refusal> {
        self.demand_running("start a step")?;
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
        if let Some(earlier) = step.checked_sub(1).filter(|earlier| *earlier >= self.first_step())
            && !self.is_settled(earlier)
        {
            return Err(Refusal::EarlierStepUnsettled { earlier, step });
        }
        let is_forked = self.step(step).is_some_and(StepRecord::is_forked);
        if let Some(exceeded) = exceeded(self).first().filter(|_| !is_forked) {
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
        record.stale = None;
        let attempt = record.attempt_of_limit();
        let name = record.step.name.clone();
        let done_later =
            |other: &StepRecord| other.step.number > step && other.status == StepStatus::Done;
        if self.steps.iter().any(done_later) {
            self.make_stale(Stale::Again);
        }
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
            self.demand_running(CHANGE)?;
        }
        match acting.worker {
            Worker::Agent => {
                self.demand_in_progress(acting.step)?;
            }
            Worker::Check | Worker::Review | Worker::SetUp => {}
        }
        self.0.acting = Some(acting.clone());
        if let Some(sandbox) = WorkerSandbox::of(acting) {
            sandbox.put(&mut self.0.sandboxes);
        }
        Ok(())
    }

    /// The turn counts in the budgets, and is kept for its conversation.
    pub(super) fn agent_ended(&mut self, at: Timestamp, turn: &TurnRecord) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
        self.demand_in_progress(turn.step)?;
        self.report_usage(Usage {
            agents: u64::from(turn.counts()),
            cost: turn.cost.map_or(Amount::Unknown, Amount::Known),
            tokens: turn.tokens.map_or(Amount::Unknown, |tokens| Amount::Known(tokens.total())),
        })?;
        if turn.counts() && turn.ending != Some(TurnEnding::Interrupted) {
            self.0.waits.retain(|wait| wait.agent != turn.agent);
        }
        if turn.ending == Some(TurnEnding::OverBudget) {
            self.0.acting = None;
        }
        let ended_at = Some(at.whole_seconds());
        let turn = TurnRecord { ended_at, calls: Vec::new(), more_calls: 0, ..turn.clone() };
        self.0.turns.push(turn);
        Ok(())
    }

    /// The attempt stays the present one.
    pub(super) fn agent_waits(&mut self, at: Timestamp, wait: &Wait) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
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
        self.demand_running("verify a step")?;
        self.demand_in_progress(step)?;
        self.demand_merged(step)?;
        let record = self.step_mut(step).expect("looked up above");
        record.status = StepStatus::InProgress(Phase::Acted);
        self.0.acting = None;
        self.settle_fork(step);
        // No line in the report: what comes of it follows at once.
        let _ = at;
        Ok(())
    }

    /// What passes before the agent has done anything does not show that it did.
    pub(super) fn baseline_taken(
        &mut self,
        at: Timestamp,
        step: u32,
        passed: &[u32],
    ) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
        let record = self.demand_in_progress(step)?;
        if !record.baseline_is_due() {
            let what = format!("the checks of step {step} are not due before its agent has run");
            return Err(Refusal::NotDue { what });
        }
        let checks = text::counted(record.step.checks.len() as u64, "check");
        self.0.acting = None;
        self.step_mut(step).expect("looked up above").baseline = Some(passed.to_vec());
        let text = format!("Baseline of step {step}: {} of {checks} passed already", passed.len());
        self.log(at, "baseline_taken", Some(step), text, "");
        Ok(())
    }

    pub(super) fn action_failed(
        &mut self,
        at: Timestamp,
        step: u32,
        reason: &str,
        output: &str,
    ) -> Result<(), Refusal> {
        self.demand_running(CHANGE)?;
        let record = self.demand_in_progress(step)?;
        let changed_nothing = self.changed_nothing(record, Phase::Acting);
        self.demand_merged(step)?;
        self.0.acting = None;
        self.settle_fork(step);
        let before = self.step_mut(step).expect("looked up above").last_failure.take();
        self.fail_step(at, step, "action_failed", reason, output);
        self.count_idle(step, None, before, changed_nothing);
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
        record.last_failure = Some(LastFailure::new(reason.clone(), kept));
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
        self.demand_running("verify a step")?;
        let record = self.demand_step(step)?;
        let refreshed = record.is_stale();
        if !refreshed {
            self.demand_in_progress(step)?;
            self.demand_merged(step)?;
        }
        let judgement =
            judge(&record.step.checks, results).ok_or(Refusal::IncompleteVerification { step })?;
        let attempts = text::counted(u64::from(record.attempts), "attempt");
        let report_full = self.settings.options.report_full;
        let changed_nothing = self.changed_nothing(record, Phase::Acted);
        self.0.acting = None;
        self.resolve_conflicts(step);
        let record = self.step_mut(step).expect("looked up above");
        record.results = results.to_vec();
        let was_undone = record.stale.take() == Some(Stale::Undone);
        self.log_warnings(at, step);
        let record = self.step_mut(step).expect("looked up above");
        match judgement {
            Judgement::Passed if refreshed => {
                let text = format!("✓ Step {step}: Verified again, and it holds");
                self.log(at, "step_verified", Some(step), text, "");
            }
            Judgement::Passed => {
                record.status = StepStatus::Done;
                record.completed_at = Some(at);
                record.last_failure = None;
                let text = match results.is_empty() {
                    true => format!("○ Step {step}: Done, unchecked ({attempts})"),
                    false => format!("✓ Step {step}: Done ({attempts})"),
                };
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
                let before = record.last_failure.take();
                let reason = match refreshed {
                    true => format!("passed before, but not after a later change: {reason}"),
                    false => reason,
                };
                if was_undone {
                    // It is done anew, and not once more.
                    record.uncounted = record.attempts;
                }
                if refreshed {
                    // A decision was about work that held.
                    record.gate = None;
                    record.completed_at = None;
                }
                self.fail_step(at, step, "step_verified", &reason, &output);
                let check = results.last().map(|result| result.check);
                self.count_idle(step, check, before, changed_nothing);
            }
            Judgement::NeedsHuman { prompt } => {
                let reason = BlockReason::HumanReview { prompt: text::one_line(&prompt) };
                let text = format!("⏸ Step {step}: Waiting for you ({})", reason.text());
                record.status = StepStatus::Blocked(reason);
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
        // Not before the stale checks of other steps have run: a paused run runs none.
        let asks = matches!(self.next(), Next::Ask(Question::Review { .. }));
        if asks && self.status == RunStatus::Running {
            self.0.status = RunStatus::Paused;
        }
        Ok(())
    }

    /// Notes which check has failed, and how often attempts in a row failed so and changed no file.
    fn count_idle(
        &mut self,
        step: u32,
        check: Option<u32>,
        before: Option<LastFailure>,
        changed_nothing: bool,
    ) {
        let record = self.step_mut(step).expect("callers looked it up");
        let Some(failure) = &mut record.last_failure else { return };
        failure.check = check;
        let repeated = before.filter(|before| before.is_like(failure));
        failure.idle = match changed_nothing {
            true => repeated.map_or(0, |before| before.idle) + 1,
            false => 0,
        };
    }

    /// Whether the agent of the present attempt has ended, which left the step in `phase`, and left
    /// every file as it was. Unknown outside a repository, and then false.
    fn changed_nothing(&self, record: &StepRecord, phase: Phase) -> bool {
        let (step, attempt) = (record.step.number, record.attempts);
        let [.., before, after] = self.checkpoints.as_slice() else { return false };
        record.status == StepStatus::InProgress(phase)
            && after.moment == CheckpointMoment::Acted { step, attempt }
            && after.complete
            && before.tree == after.tree
    }

    /// What is known now about checks that were repeated takes the place of what was known before.
    pub(super) fn warning(&mut self, at: Timestamp, warnings: &[CheckWarnings]) {
        for CheckWarnings { step, check, warnings, inputs } in warnings {
            let result = self
                .step_mut(*step)
                .and_then(|record| record.results.iter_mut().find(|r| r.check == *check));
            let Some(result) = result else { continue };
            result.inputs.clone_from(inputs);
            if result.warnings != *warnings {
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
        self.demand_unfinished("block a step")?;
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
        self.demand_unfinished("reopen a step")?;
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
        let reason_for_agent = format!("{before}; a person has it tried again: {reason}");
        record.last_failure = Some(LastFailure::new(reason_for_agent, output.unwrap_or_default()));
        self.make_stale(Stale::Again);
        // What was said about the work before is said anew about what comes of this.
        self.0.reviews.blocking = None;
        self.0.reverified = false;
        self.continue_unless_blocked();
        let text = format!("↻ Step {step}: to be tried again: {reason}");
        self.log(at, "step_reopened", Some(step), text, "");
        Ok(())
    }
}
