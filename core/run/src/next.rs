//! The next action of a run. No other code decides it.

use super::budget::exceeded;
use super::event::GateDecision;
use super::gate::{AutomaticReason, GateRule, gate_rule};
use super::record::*;
use super::review::review_due_at_gate;
use onloop_syntax::text;
use onloop_workflow::Loop;

/// What should happen now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Begin an attempt: `StepStarted`.
    Start {
        /// Number of the step, from 1.
        step: u32,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// The agent's turn: `StepActed` or `ActionFailed`.
    Act {
        /// Number of the step, from 1.
        step: u32,
    },
    /// Evaluate the step's checks: `StepVerified`.
    Verify {
        /// Number of the step, from 1.
        step: u32,
    },
    /// Record an approval that the rules give: `GateDecided` with mode auto.
    Approve {
        /// Number of the step, from 1.
        step: u32,
        /// Why no person is asked.
        reason: AutomaticReason,
    },
    /// Give up on the step: `StepBlocked`.
    Block {
        /// Number of the step, from 1.
        step: u32,
        /// Why, on one line.
        reason: String,
    },
    /// Let the review agent look: `ReviewFinished`.
    Review {
        /// The step whose gate waits; `None`: the final review.
        step: Option<u32>,
    },
    /// Only a person can decide.
    Ask(Question),
    /// Repeat all machine checks: `ChecksRepeated`.
    Repeat,
    /// Close the record: `RunFinalized`.
    Finalize,
    /// Nothing: a person has to change something and resume.
    Blocked(Blocker),
    /// Nothing: the run is over.
    Finished,
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Decide the gate: `GateDecided` with mode human.
    Gate {
        /// Number of the step, from 1.
        step: u32,
    },
    /// Look at the step's result: `GateDecided` with mode human.
    Review {
        /// Number of the step, from 1.
        step: u32,
        /// At what.
        prompt: String,
    },
    /// Accept a review's verdict, or have it reviewed again: `VerdictAccepted`.
    Verdict {
        /// The step at whose gate the review took place; `None`: the final review.
        step: Option<u32>,
    },
    /// The step was interrupted and no machine can tell how far it got. Have it acted again
    /// (`StepStarted`) or take it as done (`StepActed`).
    Interrupted {
        /// Number of the step, from 1.
        step: u32,
    },
    /// A bound on the whole run is reached: raise it (`BudgetsChanged`).
    Budget {
        /// The step that would start or continue.
        step: u32,
    },
}

/// What holds a blocked run up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// Number of the step, from 1.
    pub step: u32,
    /// Why, on one line.
    pub reason: String,
    /// A person said no.
    pub rejected: bool,
}

impl Run {
    /// What should happen now.
    pub fn next(&self) -> Next {
        if self.is_over() {
            return Next::Finished;
        }
        if self.status == RunStatus::Blocked
            && let Some(blocker) = self.steps.iter().find_map(blocker)
        {
            return Next::Blocked(blocker);
        }
        for step in &self.steps {
            match self.next_of_step(step) {
                // The attempts of a fork count there. Having an interrupted step acted again is an attempt as well.
                Some(
                    Next::Start { step: number, .. }
                    | Next::Ask(Question::Interrupted { step: number }),
                ) if !step.is_forked() && !exceeded(self).is_empty() => {
                    return Next::Ask(Question::Budget { step: number });
                }
                Some(Next::Act { step: number }) if self.waits_for_budget(step) => {
                    return Next::Ask(Question::Budget { step: number });
                }
                Some(next) => return self.after_stale(next),
                None => {}
            }
        }
        if let Some(step) = self.stale_step() {
            return Next::Verify { step };
        }
        if let Some(review) = &self.reviews.blocking {
            return Next::Ask(Question::Verdict { step: review.step });
        }
        if self.settings.options.review_agent.is_some() && !self.reviews.finally_reviewed {
            return Next::Review { step: None };
        }
        if self.repeat_is_due() {
            return Next::Repeat;
        }
        Next::Finalize
    }

    /// `next`, or the verification of a step that comes before it: nothing is decided about work whose
    /// proof is older than its last change.
    fn after_stale(&self, next: Next) -> Next {
        if let Some(step) = self.undone_before(&next) {
            return Next::Verify { step };
        }
        match (&next, self.stale_step()) {
            (
                Next::Ask(
                    Question::Gate { .. } | Question::Review { .. } | Question::Verdict { .. },
                )
                | Next::Approve { .. }
                | Next::Review { .. },
                Some(step),
            ) => Next::Verify { step },
            // The next step builds on work on which the checks of all merged steps hold.
            (Next::Start { step: new, .. }, Some(step))
                if self.may_fork() && self.step(*new).is_some_and(StepRecord::is_new) =>
            {
                Next::Verify { step }
            }
            (_, _) => next,
        }
    }

    /// `None`: the step is settled.
    fn next_of_step(&self, record: &StepRecord) -> Option<Next> {
        let step = record.step.number;
        Some(match &record.status {
            StepStatus::Done => return self.next_of_done_step(record),
            StepStatus::Pending => Next::Start { step, attempt: record.attempts + 1 },
            StepStatus::InProgress(Phase::Acting) => Next::Act { step },
            StepStatus::InProgress(Phase::Acted) => Next::Verify { step },
            // Its merge is finished before anything is verified.
            StepStatus::InProgress(Phase::Interrupted) if record.has_unmerged_fork() => {
                Next::Act { step }
            }
            StepStatus::InProgress(Phase::Interrupted) if record.has_machine_checks() => {
                Next::Verify { step }
            }
            StepStatus::InProgress(Phase::Interrupted) => Next::Ask(Question::Interrupted { step }),
            StepStatus::Failed { .. } if record.may_retry() => {
                Next::Start { step, attempt: record.attempts + 1 }
            }
            StepStatus::Failed { reason } => {
                Next::Block { step, reason: self.exhausted(record, reason) }
            }
            StepStatus::Blocked(BlockReason::HumanReview { prompt }) => {
                Next::Ask(Question::Review { step, prompt: prompt.clone() })
            }
            StepStatus::Blocked(_) => return blocker(record).map(Next::Blocked),
        })
    }

    /// Why a step is blocked after its last attempt. An agent that drives a run by verbs expects the
    /// sentence of HOTL.
    fn exhausted(&self, record: &StepRecord, reason: &str) -> String {
        let Loop::Until { condition, limit } = &record.step.repeat else {
            return reason.to_owned();
        };
        if self.is_driven_by_verbs() {
            let step = record.step.number;
            return format!("Step {step} reached max iterations ({limit}). {condition} not met.");
        }
        let attempts = text::counted(u64::from(limit.get()), "attempt");
        format!("Still failing after {attempts}: {reason} (loop: until {condition})")
    }

    /// Whether a step that is done waits for a person's decision at its gate.
    pub(super) fn waits_at_gate(&self, record: &StepRecord) -> bool {
        let is_question = |next| {
            matches!(next, Next::Ask(Question::Gate { .. } | Question::Verdict { step: Some(_) }))
        };
        record.status == StepStatus::Done
            && !self.is_over()
            && self.next_of_done_step(record).is_some_and(is_question)
    }

    fn next_of_done_step(&self, record: &StepRecord) -> Option<Next> {
        let step = record.step.number;
        match (record.gate, gate_rule(self, record)) {
            (Some(GateRecord { decision: GateDecision::Approved, .. }), _) => None,
            (Some(GateRecord { decision: GateDecision::Rejected, .. }), _) => {
                blocker(record).map(Next::Blocked)
            }
            (None, GateRule::Open) => None,
            (None, GateRule::Automatic(reason)) => Some(Next::Approve { step, reason }),
            (None, GateRule::Human(_)) => match &self.reviews.blocking {
                Some(review) if review.step == Some(step) => {
                    Some(Next::Ask(Question::Verdict { step: Some(step) }))
                }
                _ if review_due_at_gate(self, record) => Some(Next::Review { step: Some(step) }),
                _ => Some(Next::Ask(Question::Gate { step })),
            },
        }
    }
}

/// What blocks the run in this step.
pub(super) fn blocker(record: &StepRecord) -> Option<Blocker> {
    let step = record.step.number;
    let (reason, rejected) = match &record.status {
        StepStatus::Failed { reason } => (reason.clone(), false),
        StepStatus::Blocked(BlockReason::HumanReview { .. }) => return None,
        StepStatus::Blocked(reason) => (reason.text(), *reason == BlockReason::ReviewRejected),
        StepStatus::Done => match record.gate {
            Some(GateRecord { decision: GateDecision::Rejected, .. }) => {
                (format!("the gate of step {step} was rejected"), true)
            }
            Some(_) | None => return None,
        },
        StepStatus::Pending | StepStatus::InProgress(_) => return None,
    };
    Some(Blocker { step, reason, rejected })
}
