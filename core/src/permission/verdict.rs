//! What can be said about a call or a part of it, and how parts add up.

mod rule;

pub use rule::{PathRule, Rule, Source, Subject};

use crate::text::words;

words! {
    /// What the host should do with a tool call.
    #[derive(PartialOrd, Ord)]
    pub enum Decision {
        /// Run it.
        Allow = "allow",
        /// Let a person decide.
        Ask = "ask",
        /// Do not run it.
        Deny = "deny",
    }
}

/// A decision about a part of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What the part deserves.
    pub decision: Decision,
    /// The rule that made it.
    pub rule: Rule,
    /// Why, as a sentence without a full stop; lower case, names in backticks.
    pub reason: String,
}

impl Finding {
    /// A part that may run.
    pub fn allow(rule: Rule, reason: impl Into<String>) -> Finding {
        Finding { decision: Decision::Allow, rule, reason: reason.into() }
    }

    /// A part that a person should look at.
    pub fn ask(rule: Rule, reason: impl Into<String>) -> Finding {
        Finding { decision: Decision::Ask, rule, reason: reason.into() }
    }

    /// A part that must not run.
    pub fn deny(rule: Rule, reason: impl Into<String>) -> Finding {
        Finding { decision: Decision::Deny, rule, reason: reason.into() }
    }
}

/// The worst of the findings so far; the first one wins among equals.
#[derive(Clone, Debug, Default)]
pub(super) struct Worst(Option<Finding>);

impl Worst {
    /// Takes `finding` when it is worse than what is there.
    pub(super) fn add(&mut self, finding: Finding) {
        let worse = self.0.as_ref().is_none_or(|worst| finding.decision > worst.decision);
        if worse {
            self.0 = Some(finding);
        }
    }

    /// [`Worst::add`], if there is a finding.
    pub(super) fn consider(&mut self, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.add(finding);
        }
    }

    /// The decision so far; without findings, allow.
    pub(super) fn decision(&self) -> Decision {
        self.0.as_ref().map_or(Decision::Allow, |finding| finding.decision)
    }

    /// The worst finding.
    pub(super) fn finding(&self) -> Option<&Finding> {
        self.0.as_ref()
    }

    /// The worst finding.
    pub(super) fn into_finding(self) -> Option<Finding> {
        self.0
    }
}
