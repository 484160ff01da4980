//! The transition table: which event is accepted when, and what it changes.

use super::event::*;
use super::gate::{GateRule, gate_rule};
use super::record::*;
use super::review::Verdict;
use crate::limits;
use crate::text;
use crate::time::Timestamp;
use crate::workflow::{Check, Loop, Risk};

/// Why an event was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no step with that number.
    NoSuchStep {
        /// The number.
        step: u32,
    },
    /// The run does not accept that event in its present state.
    WrongRunStatus {
        /// Its state.
        status: &'static str,
        /// The event.
        event: &'static str,
    },
    /// The step does not accept that event in its present state.
    WrongStepStatus {
        /// The step.
        step: u32,
        /// Its state.
        status: &'static str,
        /// The states that would accept it.
        expected: &'static str,
    },
    /// A step before it is not settled.
    EarlierStepUnsettled {
        /// The step before.
        earlier: u32,
        /// The step that was to start.
        step: u32,
    },
    /// The step had as many attempts as it may have.
    AttemptsExhausted {
        /// The step.
        step: u32,
        /// The limit.
        limit: u32,
    },
    /// Results are missing: a step is never done by fewer checks than it has.
    IncompleteVerification {
        /// The step.
        step: u32,
    },
    /// The rules ask for a person at this gate.
    HumanGateRequired {
        /// The step.
        step: u32,
    },
    /// Something is still to be done before the run can end.
    Unfinished {
        /// What, as a clause.
        what: String,
    },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::NoSuchStep { step } => write!(f, "Invalid step number: {step}"),
            Refusal::WrongRunStatus { status, event } => {
                write!(f, "Run is '{status}'; it does not accept {event} now")
            }
            Refusal::WrongStepStatus { step, status, expected } => {
                write!(f, "Step {step} is '{status}', expected {expected}")
            }
            Refusal::EarlierStepUnsettled { earlier, step } => {
                write!(f, "Step {earlier} must be done before step {step} can start")
            }
            Refusal::AttemptsExhausted { step, limit } => {
                write!(f, "Step {step} reached maximum iterations ({limit})")
            }
            Refusal::IncompleteVerification { step } => {
                write!(f, "Step {step} has checks without a result")
            }
            Refusal::HumanGateRequired { step } => {
                write!(f, "The gate of step {step} needs a human decision")
            }
            Refusal::Unfinished { what } => write!(f, "Cannot finalize: {what}"),
        }
    }
}

impl Event {
    /// Name of the event in the record.
    pub fn name(&self) -> &'static str {
        match self {
            Event::StepStarted { .. } => "step_started",
            Event::StepActed { .. } => "step_acted",
            Event::ActionFailed { .. } => "action_failed",
            Event::StepVerified { .. } => "step_verified",
            Event::StepBlocked { .. } => "step_blocked",
            Event::GateDecided { .. } => "gate_decided",
            Event::ReviewFinished { .. } => "review_finished",
            Event::VerdictAccepted => "verdict_accepted",
            Event::ChecksRepeated { .. } => "checks_repeated",
            Event::RunPaused { .. } => "run_paused",
            Event::RunResumed => "run_resumed",
            Event::RunFinalized => "run_finalized",
        }
    }
}

impl StepStatus {
    /// The word in the record.
    pub fn word(&self) -> &'static str {
        match self {
            StepStatus::Pending => "pending",
            StepStatus::InProgress(_) => "in_progress",
            StepStatus::Done => "done",
            StepStatus::Failed { .. } => "failed",
            StepStatus::Blocked(_) => "blocked",
        }
    }
}

impl Run {
    /// Applies `event`, which happened at `at`.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when the event is not possible now; the run is as it was.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), Refusal> {
        match event {
            Event::StepStarted { step } => self.start_step(at, *step)?,
            Event::StepActed { step } => self.acted(at, *step)?,
            Event::ActionFailed { step, reason, output } => {
                self.action_failed(at, *step, reason, output)?;
            }
            Event::StepVerified { step, results } => self.verified(at, *step, results)?,
            Event::StepBlocked { step, reason } => self.block_step(at, *step, reason)?,
            Event::GateDecided { step, decision, mode } => {
                self.decide_gate(at, *step, *decision, *mode)?;
            }
            Event::ReviewFinished { step, verdict, findings, base } => {
                self.reviewed(at, *step, *verdict, findings, base.clone())?;
            }
            Event::VerdictAccepted => self.accept_verdict(at)?,
            Event::ChecksRepeated { repeated, failures } => {
                self.repeated(at, *repeated, failures)?;
            }
            Event::RunPaused { reason } => self.pause(at, reason)?,
            Event::RunResumed => self.resume(at)?,
            Event::RunFinalized => self.finalize(at)?,
        }
        self.revision += 1;
        self.last_update = at;
        Ok(())
    }

    fn log(&mut self, at: Timestamp, event: &str, step: Option<u32>, text: String, detail: &str) {
        let text = text::one_line(&text);
        let detail = detail.to_owned();
        self.events.push(LogEntry { at, event: event.to_owned(), step, text, detail });
    }

    fn demand_running(&self, event: &'static str) -> Result<(), Refusal> {
        match self.status {
            RunStatus::Running => Ok(()),
            RunStatus::Paused
            | RunStatus::Blocked
            | RunStatus::ReadyToFinish
            | RunStatus::Completed
            | RunStatus::Abandoned => {
                Err(Refusal::WrongRunStatus { status: self.status.word(), event })
            }
        }
    }

    fn demand_unfinished(&self, event: &'static str) -> Result<(), Refusal> {
        if self.status.is_finished() {
            return Err(Refusal::WrongRunStatus { status: self.status.word(), event });
        }
        Ok(())
    }

    fn demand_step(&self, step: u32) -> Result<&StepRecord, Refusal> {
        self.step(step).ok_or(Refusal::NoSuchStep { step })
    }

    fn demand_in_progress(&self, step: u32) -> Result<&StepRecord, Refusal> {
        let record = self.demand_step(step)?;
        match record.status {
            StepStatus::InProgress(_) => Ok(record),
            StepStatus::Pending
            | StepStatus::Done
            | StepStatus::Failed { .. }
            | StepStatus::Blocked(_) => Err(Refusal::WrongStepStatus {
                step,
                status: record.status.word(),
                expected: "'in_progress'",
            }),
        }
    }

    fn start_step(&mut self, at: Timestamp, step: u32) -> Result<(), Refusal> {
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
                    status: record.status.word(),
                    expected: "'pending' or 'failed'",
                });
            }
        }
        // Only the nearest earlier step has to be looked at: it could not have started before
        // those ahead of it were settled.
        if let Some(earlier) = step.checked_sub(1).and_then(|n| self.step(n)) {
            let gate_open = match (earlier.gate, gate_rule(self, earlier)) {
                (Some(gate), _) => gate.decision == Decision::Approved,
                (None, GateRule::Open) => true,
                (None, GateRule::Automatic(_) | GateRule::Human(_)) => false,
            };
            if earlier.status != StepStatus::Done || !gate_open {
                return Err(Refusal::EarlierStepUnsettled { earlier: step - 1, step });
            }
        }
        let record = self.step_mut(step).expect("looked up above");
        let retry = matches!(record.status, StepStatus::Failed { .. });
        record.attempts += 1;
        record.status = StepStatus::InProgress(Phase::Acting);
        record.started_at = Some(at);
        record.completed_at = None;
        record.results.clear();
        let (attempts, limit) = (record.attempts, record.limit());
        let name = record.step.name.clone();
        self.reverified = false;
        let text = if retry {
            format!("↻ Step {step}: Retrying ({attempts}/{limit})")
        } else {
            format!("→ Step {step}: {name}")
        };
        self.log(at, "step_started", Some(step), text, "");
        Ok(())
    }

    fn acted(&mut self, at: Timestamp, step: u32) -> Result<(), Refusal> {
        self.demand_running("step_acted")?;
        self.demand_in_progress(step)?;
        let record = self.step_mut(step).expect("looked up above");
        record.status = StepStatus::InProgress(Phase::Acted);
        // No line in the report: what comes of it follows at once.
        let _ = at;
        Ok(())
    }

    fn action_failed(
        &mut self,
        at: Timestamp,
        step: u32,
        reason: &str,
        output: &str,
    ) -> Result<(), Refusal> {
        self.demand_running("action_failed")?;
        self.demand_in_progress(step)?;
        self.fail_step(at, step, "action_failed", reason, output);
        Ok(())
    }

    fn fail_step(&mut self, at: Timestamp, step: u32, event: &str, reason: &str, output: &str) {
        let record = self.step_mut(step).expect("callers looked it up");
        let reason = text::one_line(reason);
        let kept = text::suffix(output, limits::PROMPT_OUTPUT_BYTES).to_owned();
        record.last_failure = Some(LastFailure { reason: reason.clone(), output: kept });
        record.status = StepStatus::Failed { reason: reason.clone() };
        let attempts = text::counted(u64::from(record.attempts), "attempt");
        let text = format!("✗ Step {step}: Failed ({attempts}): {reason}");
        self.log(at, event, Some(step), text, output);
    }

    fn verified(
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
        let report_full = self.terms.report_full;
        let record = self.step_mut(step).expect("looked up above");
        record.results = results.to_vec();
        match judgement {
            Judgement::Passed => {
                record.status = StepStatus::Done;
                record.completed_at = Some(at);
                record.last_failure = None;
                let note = if results.is_empty() { "no verify, " } else { "" };
                let text = format!("✓ Step {step}: Done ({note}{attempts})");
                let detail = if report_full { outputs(results) } else { String::new() };
                self.log(at, "step_verified", Some(step), text, &detail);
            }
            Judgement::Failed { reason, output } => {
                self.fail_step(at, step, "step_verified", &reason, &output);
            }
            Judgement::NeedsHuman { prompt } => {
                let reason = BlockReason::HumanReview { prompt: text::one_line(&prompt) };
                let text = format!("✗ Step {step}: Blocked ({})", reason.text());
                record.status = StepStatus::Blocked(reason);
                self.status = RunStatus::Paused;
                let detail = if report_full { outputs(results) } else { String::new() };
                self.log(at, "step_verified", Some(step), text, &detail);
            }
            Judgement::CannotEvaluate { reason } => {
                let reason = text::one_line(&reason);
                let text = format!("✗ Step {step}: Blocked ({reason})");
                record.status = StepStatus::Blocked(BlockReason::Other(reason));
                self.status = RunStatus::Blocked;
                self.log(at, "step_verified", Some(step), text, "");
            }
        }
        Ok(())
    }

    fn block_step(&mut self, at: Timestamp, step: u32, reason: &str) -> Result<(), Refusal> {
        self.demand_unfinished("step_blocked")?;
        self.demand_step(step)?;
        let reason = text::one_line(reason);
        let text = format!("✗ Step {step}: Blocked — {reason}");
        let record = self.step_mut(step).expect("looked up above");
        record.status = StepStatus::Blocked(BlockReason::Other(reason));
        self.status = RunStatus::Blocked;
        self.log(at, "step_blocked", Some(step), text, "");
        Ok(())
    }

    fn decide_gate(
        &mut self,
        at: Timestamp,
        step: u32,
        decision: Decision,
        mode: Mode,
    ) -> Result<(), Refusal> {
        self.demand_unfinished("gate_decided")?;
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
                    status: record.status.word(),
                    expected: "'done', or waiting for human review",
                });
            }
        };
        if mode == Mode::Auto && !self.rules_approve(record, reviewing) {
            return Err(Refusal::HumanGateRequired { step });
        }
        let record = self.step_mut(step).expect("looked up above");
        record.gate = Some(GateRecord { decision, mode });
        match decision {
            Decision::Approved => {
                if reviewing {
                    record.status = StepStatus::Done;
                    record.completed_at = Some(at);
                    mark_reviewed(&mut record.results);
                }
                // A decision that was waited for, or turned around, sets the run going again.
                self.status = RunStatus::Running;
            }
            Decision::Rejected => {
                if reviewing {
                    record.status = StepStatus::Blocked(BlockReason::ReviewRejected);
                    record.gate = Some(GateRecord { decision, mode });
                }
                self.status = RunStatus::Blocked;
            }
        }
        let subject = if reviewing { "Human review for Step" } else { "Gate Step" };
        let text = format!("{subject} {step}: {} ({})", decision.word(), mode.word());
        self.log(at, "gate_decided", Some(step), text, "");
        Ok(())
    }

    /// Whether the rules let the gate of `record` decide itself.
    fn rules_approve(&self, record: &StepRecord, reviewing: bool) -> bool {
        if reviewing || self.terms.risk == Risk::High {
            return false;
        }
        match gate_rule(self, record) {
            GateRule::Open | GateRule::Automatic(_) => true,
            GateRule::Human(_) => false,
        }
    }

    fn reviewed(
        &mut self,
        at: Timestamp,
        step: Option<u32>,
        verdict: Verdict,
        findings: &str,
        base: Option<String>,
    ) -> Result<(), Refusal> {
        self.demand_running("review_finished")?;
        if let Some(step) = step {
            self.demand_step(step)?;
        }
        if verdict.passes() {
            self.pass_review(step);
            self.reviews.base = base;
        } else {
            let findings = findings.to_owned();
            self.reviews.standing = Some(StandingVerdict { step, verdict, findings });
            self.status = RunStatus::Paused;
        }
        let scope = step.map_or("final".to_owned(), |step| format!("step {step}"));
        let symbol = if verdict.passes() { "✓" } else { "✗" };
        let text = format!("{symbol} Review ({scope}): {}", verdict.words());
        self.log(at, "review_finished", step, text, findings);
        Ok(())
    }

    fn pass_review(&mut self, step: Option<u32>) {
        self.reviews.standing = None;
        match step {
            Some(step) => self.reviews.reviewed_step = step,
            None => self.reviews.finally_reviewed = true,
        }
    }

    fn accept_verdict(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.demand_unfinished("verdict_accepted")?;
        let Some(standing) = self.reviews.standing.clone() else {
            return Err(Refusal::WrongRunStatus {
                status: self.status.word(),
                event: "verdict_accepted",
            });
        };
        self.pass_review(standing.step);
        self.status = RunStatus::Running;
        let text = format!("Review verdict {} accepted by a person", standing.verdict.words());
        self.log(at, "verdict_accepted", standing.step, text, "");
        Ok(())
    }

    fn repeated(
        &mut self,
        at: Timestamp,
        repeated: u32,
        failures: &[(u32, CheckResult)],
    ) -> Result<(), Refusal> {
        self.demand_running("checks_repeated")?;
        if let Some(unsettled) = self.steps.iter().find(|s| s.status != StepStatus::Done) {
            return Err(Refusal::WrongStepStatus {
                step: unsettled.step.number,
                status: unsettled.status.word(),
                expected: "'done'",
            });
        }
        for (step, _) in failures {
            self.demand_step(*step)?;
        }
        self.reverified = failures.is_empty();
        let count = text::counted(u64::from(repeated), "check");
        if failures.is_empty() {
            self.log(at, "checks_repeated", None, format!("✓ Repeated {count}: all hold"), "");
            return Ok(());
        }
        for (step, result) in failures {
            let reason = match &result.verdict {
                CheckVerdict::Failed { reason } | CheckVerdict::CannotEvaluate { reason } => reason,
                CheckVerdict::Passed | CheckVerdict::NeedsHuman { .. } => continue,
            };
            let reason = format!("passed before, but not after the last step: {reason}");
            self.fail_step(
                at,
                *step,
                "checks_repeated",
                &reason,
                &outputs(std::slice::from_ref(result)),
            );
        }
        self.status = RunStatus::Blocked;
        Ok(())
    }

    fn pause(&mut self, at: Timestamp, reason: &str) -> Result<(), Refusal> {
        self.demand_running("run_paused")?;
        self.status = RunStatus::Paused;
        self.log(at, "run_paused", None, format!("Paused: {reason}"), "");
        Ok(())
    }

    fn resume(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.demand_unfinished("run_resumed")?;
        let was_blocked = self.status == RunStatus::Blocked;
        for record in &mut self.steps {
            match &record.status {
                StepStatus::InProgress(Phase::Acting) => {
                    record.status = StepStatus::InProgress(Phase::Interrupted);
                    record.forgiven += 1;
                }
                StepStatus::Failed { .. } | StepStatus::Blocked(BlockReason::Other(_))
                    if was_blocked =>
                {
                    // A person looked at it: verify what is there, then try anew.
                    record.status = StepStatus::InProgress(Phase::Interrupted);
                    record.forgiven = record.attempts;
                }
                StepStatus::Pending
                | StepStatus::InProgress(_)
                | StepStatus::Done
                | StepStatus::Failed { .. }
                | StepStatus::Blocked(_) => {}
            }
        }
        self.reviews.standing = None;
        self.status = RunStatus::Running;
        self.log(at, "run_resumed", None, "Resumed".to_owned(), "");
        Ok(())
    }

    fn finalize(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.demand_unfinished("run_finalized")?;
        let unsettled =
            |s: &&StepRecord| matches!(s.status, StepStatus::Pending | StepStatus::InProgress(_));
        let remaining = self.steps.iter().filter(unsettled).count();
        let broken = self.status == RunStatus::Blocked
            || self
                .steps
                .iter()
                .any(|s| matches!(s.status, StepStatus::Failed { .. } | StepStatus::Blocked(_)));
        if broken {
            self.status = RunStatus::Blocked;
        } else if remaining > 0 {
            let what = format!("unfinished steps ({remaining} remaining)");
            return Err(Refusal::Unfinished { what });
        } else {
            self.demand_evidence()?;
            self.status = RunStatus::Completed;
        }
        self.completed_at = Some(at);
        let text = format!("Run finalized: {}", self.status.word());
        self.log(at, "run_finalized", None, text, "");
        Ok(())
    }

    /// Completion needs every gate decided, every verdict settled and, where the run asks for
    /// it, every machine check repeated.
    fn demand_evidence(&self) -> Result<(), Refusal> {
        let unfinished = |what: String| Err(Refusal::Unfinished { what });
        for record in &self.steps {
            let approved = record.gate.map(|gate| gate.decision) == Some(Decision::Approved);
            if gate_rule(self, record) != GateRule::Open && !approved {
                return unfinished(format!("the gate of step {} is open", record.step.number));
            }
        }
        if self.reviews.standing.is_some() {
            return unfinished("a review holds the run up".to_owned());
        }
        if self.terms.review_agent.is_some() && !self.reviews.finally_reviewed {
            return unfinished("the final review is missing".to_owned());
        }
        if self.terms.reverify && !self.reverified {
            return unfinished("the checks have not been repeated".to_owned());
        }
        Ok(())
    }
}

/// What the results of a verification mean for the step.
enum Judgement {
    Passed,
    Failed { reason: String, output: String },
    NeedsHuman { prompt: String },
    CannotEvaluate { reason: String },
}

/// Judges results against the checks they belong to; `None` when one is missing. A failed
/// check ends a verification, so what comes after it may be missing.
fn judge(checks: &[Check], results: &[CheckResult]) -> Option<Judgement> {
    let mut prompts = Vec::new();
    let mut expected = 0u32;
    for result in results {
        let in_order = result.check >= expected && (result.check as usize) < checks.len();
        if !in_order {
            return None;
        }
        expected = result.check + 1;
        match &result.verdict {
            CheckVerdict::Passed => {}
            CheckVerdict::Failed { reason } => {
                let output = outputs(std::slice::from_ref(result));
                return Some(Judgement::Failed { reason: reason.clone(), output });
            }
            CheckVerdict::CannotEvaluate { reason } => {
                return Some(Judgement::CannotEvaluate { reason: reason.clone() });
            }
            CheckVerdict::NeedsHuman { prompt } => prompts.push(prompt.as_str()),
        }
    }
    if results.len() != checks.len() {
        return None;
    }
    if results.iter().any(|r| matches!(r.verdict, CheckVerdict::NeedsHuman { .. })) {
        return Some(Judgement::NeedsHuman { prompt: prompts.join("; ") });
    }
    Some(Judgement::Passed)
}

fn mark_reviewed(results: &mut [CheckResult]) {
    for result in results {
        if matches!(result.verdict, CheckVerdict::NeedsHuman { .. }) {
            result.verdict = CheckVerdict::Passed;
            "human review approved".clone_into(&mut result.stdout);
        }
    }
}

/// What the checks wrote, as one text.
fn outputs(results: &[CheckResult]) -> String {
    let mut out = String::new();
    for text in results.iter().flat_map(|r| [&r.stdout, &r.stderr]) {
        if text.is_empty() {
            continue;
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(text);
    }
    out
}

impl Loop {
    /// The text in the record: `false` or `until …`.
    pub fn text(&self) -> String {
        match self {
            Loop::Never => "false".to_owned(),
            Loop::Until { condition, .. } => format!("until {condition}"),
        }
    }
}
