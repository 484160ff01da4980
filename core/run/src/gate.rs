//! Who approves a finished step.

use super::record::{Run, StepRecord};
use onloop_syntax::text::words;
use onloop_workflow::{Gate, Risk};

/// How the gate of a step is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateRule {
    /// The step has no gate.
    Open,
    /// The rules approve it, and the record says so.
    Automatic(AutomaticReason),
    /// A person decides.
    Human(HumanReason),
}

words! {
    /// Why a gate approves itself.
    pub enum AutomaticReason {
        /// The step says `gate: auto`.
        GateAuto = "gate_auto",
        /// The run has `auto_approve` and its risk is not high.
        AutoApprove = "auto_approve",
    }
}

words! {
    /// Why a person decides.
    pub enum HumanReason {
        /// Nothing approves gates automatically in this run.
        Asked = "asked",
        /// The run's risk is high; `auto_approve` does not count.
        HighRisk = "high_risk",
        /// The step is about security; `auto_approve` does not count.
        Sensitive = "sensitive",
        /// No check verifies the step, and the file says `require_checks: true`.
        Unchecked = "unchecked",
    }
}

impl HumanReason {
    /// Why `auto_approve` does not count here; `None` where only the gate itself asks for a person.
    pub fn despite_auto_approve(self) -> Option<&'static str> {
        match self {
            HumanReason::Asked => None,
            HumanReason::HighRisk => Some("the risk is high"),
            HumanReason::Sensitive => Some("it is a security gate"),
            HumanReason::Unchecked => Some("no check verified the step"),
        }
    }
}

/// What is said when the gate of `step` approves itself at this risk.
pub fn approval_line(step: u32, reason: AutomaticReason, risk: Risk) -> String {
    match reason {
        AutomaticReason::GateAuto => format!("⚡ Auto-approved: Step {step} gate"),
        AutomaticReason::AutoApprove => {
            format!("⚡ Auto-approved: Step {step} gate (risk: {})", risk.as_str())
        }
    }
}

/// Why a run ends where a person rejects `step` through a channel that asks for no reason.
pub fn rejected_at(step: u32) -> String {
    format!("step {step} was rejected")
}

/// The rule for one step of a run.
pub fn gate_rule(run: &Run, step: &StepRecord) -> GateRule {
    match step.step.gate {
        None => GateRule::Open,
        Some(Gate::Auto) => GateRule::Automatic(AutomaticReason::GateAuto),
        Some(Gate::Human) if run.settings.risk == Risk::High => {
            GateRule::Human(HumanReason::HighRisk)
        }
        Some(Gate::Human) if step.step.sensitive => GateRule::Human(HumanReason::Sensitive),
        Some(Gate::Human)
            if run.settings.evidence.require_checks && step.step.checks.is_empty() =>
        {
            GateRule::Human(HumanReason::Unchecked)
        }
        Some(Gate::Human) if run.settings.auto_approve => {
            GateRule::Automatic(AutomaticReason::AutoApprove)
        }
        Some(Gate::Human) => GateRule::Human(HumanReason::Asked),
    }
}
