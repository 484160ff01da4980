//! What can happen to a run, in the past tense.

use super::finish::{FinishAct, FinishOutcome};
use super::review::Verdict;
use crate::time::Timestamp;

/// Something that happened. [`super::Run::apply`] says when it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An attempt at a step began.
    StepStarted {
        /// The step.
        step: u32,
    },
    /// The agent said that the action is done.
    StepActed {
        /// The step.
        step: u32,
    },
    /// The agent could not do the action.
    ActionFailed {
        /// The step.
        step: u32,
        /// Why, on one line.
        reason: String,
        /// The end of what it said.
        output: String,
    },
    /// The step's checks were evaluated, up to the first that failed.
    StepVerified {
        /// The step.
        step: u32,
        /// The results.
        results: Vec<CheckResult>,
    },
    /// Somebody declared that the step cannot go on.
    StepBlocked {
        /// The step.
        step: u32,
        /// Why, on one line.
        reason: String,
    },
    /// A gate, or a human review, was decided.
    GateDecided {
        /// The step.
        step: u32,
        /// The decision.
        decision: Decision,
        /// By whom.
        mode: Mode,
    },
    /// A review agent gave its verdict.
    ReviewFinished {
        /// The step at whose gate it took place; `None`: the final review.
        step: Option<u32>,
        /// The verdict.
        verdict: Verdict,
        /// The reviewer's words, capped.
        findings: String,
        /// The commit up to which everything has been reviewed now.
        base: Option<String>,
    },
    /// A person accepted a verdict that held the run up.
    VerdictAccepted,
    /// All machine checks were repeated after the last step.
    ChecksRepeated {
        /// Checks that were repeated.
        repeated: u32,
        /// Those that no longer hold.
        failures: Vec<(u32, CheckResult)>,
    },
    /// The run stopped to wait for a person.
    RunPaused {
        /// For what, on one line.
        reason: String,
    },
    /// Somebody continued the run.
    RunResumed,
    /// The run ended, with the status that its steps give it.
    RunFinalized,
    /// Something is about to be done with the work of a run that has ended. Durable before it
    /// is done, so that a crash leaves a trace of it.
    FinishIntended {
        /// What.
        act: FinishAct,
        /// What somebody has to say about it.
        notes: Option<String>,
        /// An outcome that is recorded already may be replaced.
        replace: bool,
    },
    /// What became of the work. Anything but `kept` was intended first.
    FinishRecorded {
        /// The outcome; its time is that of the event.
        outcome: FinishOutcome,
        /// An outcome that is recorded already may be replaced.
        replace: bool,
    },
    /// What was intended did not happen and will not.
    FinishAbandoned {
        /// Why, on one line.
        reason: String,
    },
}

/// What came of evaluating one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Which of the step's checks, from 0.
    pub check: u32,
    /// Whether it holds.
    pub verdict: CheckVerdict,
    /// What it wrote to standard output, capped.
    pub stdout: String,
    /// What it wrote to standard error, capped.
    pub stderr: String,
}

/// Whether a check holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed {
        /// Why, on one line.
        reason: String,
    },
    /// A person has to look.
    NeedsHuman {
        /// At what.
        prompt: String,
    },
    /// It can be neither confirmed nor refuted here.
    CannotEvaluate {
        /// Why, on one line.
        reason: String,
    },
}

/// A decision at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Approved,
    /// Do not.
    Rejected,
}

impl Decision {
    /// The word in the record.
    pub fn word(self) -> &'static str {
        match self {
            Decision::Approved => "approved",
            Decision::Rejected => "rejected",
        }
    }
}

/// Who decided at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The rules.
    Auto,
    /// A person.
    Human,
}

impl Mode {
    /// The word in the record.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::Human => "human",
        }
    }
}

/// One line of the record's event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// When.
    pub at: Timestamp,
    /// Name of the event, such as `step_started`.
    pub event: String,
    /// The step it is about.
    pub step: Option<u32>,
    /// What the report shows, on one line.
    pub text: String,
    /// Output that belongs to it, capped; empty where there is none.
    pub detail: String,
}
