//! What happens to the run as a whole: repeated checks, pauses, resumption, the end.

use super::judgement::outputs;
use super::{Missing, Refusal};
use crate::event::*;
use crate::gate::{GateRule, gate_rule};
use crate::next::blocker;
use crate::record::*;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::Check;

impl Run {
    pub(super) fn repeated(
        &mut self,
        at: Timestamp,
        repeated: u32,
        failures: &[(u32, CheckResult)],
        clean: bool,
    ) -> Result<(), Refusal> {
        // A completed run is verified again before its work is handed on.
        if !self.may_be_handed_on() {
            self.demand_running("repeat its checks")?;
        }
        if self.settings.evidence.verify_clean && !clean {
            let what = "the checks of this run are repeated on a clean checkout".to_owned();
            return Err(Refusal::NotDue { what });
        }
        if let Some(unsettled) = self.steps.iter().find(|s| s.status != StepStatus::Done) {
            return Err(Refusal::WrongStepStatus {
                step: unsettled.step.number,
                status: unsettled.status.as_str(),
                expected: "`done`",
            });
        }
        for (step, _) in failures {
            self.demand_step(*step)?;
        }
        self.0.acting = None;
        self.0.reverified = failures.is_empty();
        self.0.verified_clean = clean && failures.is_empty();
        let count = text::counted(u64::from(repeated), "check");
        if failures.is_empty() {
            for record in &mut self.0.steps {
                record.stale = None;
                let machine = |result: &&mut CheckResult| {
                    record.step.checks.get(result.check as usize).is_some_and(is_machine_check)
                };
                record.results.iter_mut().filter(machine).for_each(|result| result.at = Some(at));
            }
            let place = if clean { " on a clean checkout" } else { "" };
            let text = format!("✓ Repeated {count}{place}: all hold");
            self.log(at, "checks_repeated", None, text, "");
            return Ok(());
        }
        for (step, result) in failures {
            let reason = match &result.verdict {
                CheckVerdict::Failed { reason } | CheckVerdict::CannotEvaluate { reason } => reason,
                CheckVerdict::Passed | CheckVerdict::NeedsHuman { .. } => continue,
            };
            let check = self.step(*step).and_then(|s| s.step.checks.get(result.check as usize));
            let is_negated = matches!(check, Some(Check::Shell(shell)) if shell.is_negated());
            let reason = match (clean, is_negated) {
                (true, _) => {
                    format!("passed in the worktree, but not on a clean checkout: {reason}")
                }
                (false, false) => format!("passed before, but not after the last step: {reason}"),
                (false, true) => format!(
                    "passed before, but not after the last step: {reason}. A check of how things \
                     were before the work has `expect: fail` instead of `!`"
                ),
            };
            self.fail_step(
                at,
                *step,
                "checks_repeated",
                &reason,
                &outputs(std::slice::from_ref(result)),
            );
            let record = self.step_mut(*step).expect("demanded above");
            if let Some(failure) = &mut record.last_failure {
                failure.check = Some(result.check);
            }
            // What the check said before is not what it says now.
            for known in record.results.iter_mut().filter(|known| known.check == result.check) {
                known.clone_from(result);
            }
        }
        self.0.status = RunStatus::Blocked;
        self.0.completed_at = None;
        Ok(())
    }

    pub(super) fn pause(
        &mut self,
        at: Timestamp,
        reason: &str,
        interrupted: bool,
    ) -> Result<(), Refusal> {
        self.demand_running("be paused")?;
        self.0.interrupted = interrupted;
        self.0.status = RunStatus::Paused;
        self.0.pause_reason = Some(text::one_line(reason));
        self.log(at, "run_paused", None, format!("Paused: {reason}"), "");
        Ok(())
    }

    pub(super) fn resume(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.demand_unfinished("be resumed")?;
        let was_blocked = self.status == RunStatus::Blocked;
        let put_off = self.steps.iter().find(|record| self.put_off(record).is_some());
        let put_off = put_off.map(|record| record.step.number);
        if self.status == RunStatus::Paused {
            // A person starts a new wait; after a kill the old wait continues.
            self.0.waits.iter_mut().for_each(|wait| wait.since = at);
        }
        for record in &mut self.0.steps {
            match &record.status {
                // No process runs that could be interrupted.
                StepStatus::InProgress(Phase::Acting) if put_off == Some(record.step.number) => {}
                StepStatus::InProgress(Phase::Acting) => {
                    record.status = StepStatus::InProgress(Phase::Interrupted);
                    record.uncounted += 1;
                }
                StepStatus::Failed { .. } | StepStatus::Blocked(BlockReason::Other(_))
                    if was_blocked || !record.may_retry() =>
                {
                    // A person looked at it: verify what is there, then try anew.
                    record.status = match record.attempts {
                        0 => StepStatus::Pending,
                        _ => StepStatus::InProgress(Phase::Interrupted),
                    };
                    record.uncounted = record.attempts;
                    if let Some(fork) = record.fork.as_mut() {
                        fork.resolved = !fork.conflicts.is_empty();
                    }
                }
                StepStatus::Pending
                | StepStatus::InProgress(_)
                | StepStatus::Done
                | StepStatus::Failed { .. }
                | StepStatus::Blocked(_) => {}
            }
        }
        // The caller resumes only after every process has ended.
        self.0.acting = None;
        self.0.reviews.blocking = None;
        // A rejection stands until the person who said no says yes.
        self.continue_unless_blocked();
        self.log(at, "run_resumed", None, "Resumed".to_owned(), "");
        Ok(())
    }

    pub(super) fn finalize(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.demand_unfinished("be finalized")?;
        let remaining = self.steps.iter().filter(|s| s.status != StepStatus::Done).count();
        let broken = self.status == RunStatus::Blocked
            || self.steps.iter().any(|record| blocker(record).is_some());
        if broken {
            self.0.status = RunStatus::Blocked;
        } else if remaining > 0 {
            return Err(Refusal::Unfinished(Missing::Steps { remaining }));
        } else {
            self.demand_evidence()?;
            self.0.status = RunStatus::Completed;
        }
        self.0.completed_at = Some(at);
        let text = format!("Run finalized: {}", self.status.as_str());
        self.log(at, "run_finalized", None, text, "");
        Ok(())
    }

    /// Completion needs every gate decided, every verdict settled and, where the run asks for
    /// it, every machine check repeated.
    fn demand_evidence(&self) -> Result<(), Refusal> {
        for record in &self.steps {
            let approved = record.gate.map(|gate| gate.decision) == Some(GateDecision::Approved);
            if gate_rule(self, record) != GateRule::Open && !approved {
                return Err(Refusal::Unfinished(Missing::Gate { step: record.step.number }));
            }
        }
        let unreviewed =
            self.settings.options.review_agent.is_some() && !self.reviews.finally_reviewed;
        if self.reviews.blocking.is_some() || unreviewed {
            return Err(Refusal::Unfinished(Missing::Review));
        }
        if self.stale_step().is_some() || self.repeat_is_due() {
            return Err(Refusal::Unfinished(Missing::Checks));
        }
        Ok(())
    }
}
