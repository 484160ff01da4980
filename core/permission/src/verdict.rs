//! What can be said about a call or a part of it, and how parts add up.

mod rule;

pub use rule::{PathRule, Rule, Source, Subject};

use onloop_syntax::text::words;

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
    /// Where it asks: everything that the part does stays inside a sandbox that may write the
    /// checkout, a temporary folder and caches, and hides what is private.
    pub containable: bool,
    /// Where it asks: work may be lost, or something leaves the machine, for good.
    pub lasting: bool,
}

impl Finding {
    /// A part that may run.
    pub fn allow(rule: Rule, reason: impl Into<String>) -> Finding {
        Finding { decision: Decision::Allow, ..Finding::ask(rule, reason) }
    }

    /// A part that a person should look at.
    pub fn ask(rule: Rule, reason: impl Into<String>) -> Finding {
        let (decision, reason) = (Decision::Ask, reason.into());
        Finding { decision, rule, reason, containable: false, lasting: false }
    }

    /// A part that must not run.
    pub fn deny(rule: Rule, reason: impl Into<String>) -> Finding {
        Finding { decision: Decision::Deny, ..Finding::ask(rule, reason) }
    }

    /// A part that a person should look at, unless a sandbox holds what it does.
    pub fn containable(rule: Rule, reason: impl Into<String>) -> Finding {
        Finding { containable: true, ..Finding::ask(rule, reason) }
    }

    /// The same part, of which the effects cannot be taken back.
    pub fn for_good(self) -> Finding {
        Finding { lasting: true, ..self }
    }

    /// How bad it is: what a sandbox does not hold is worse than what it does, and what only a person may
    /// answer is worse than what a model may.
    fn severity(&self) -> (Decision, bool, bool, bool) {
        (self.decision, !self.containable, self.rule.needs_person(), self.lasting)
    }

    fn waits(&self) -> bool {
        self.decision == Decision::Ask && self.rule.needs_person()
    }

    /// What would change the decision, for people; `None` where it allows.
    pub fn remedy(&self) -> Option<&'static str> {
        let overridable =
            self.rule.overridable(Subject::Command) || self.rule.overridable(Subject::Tool);
        match self.decision {
            Decision::Allow => None,
            Decision::Deny => Some("no rule of yours changes that; do it yourself"),
            Decision::Ask if self.containable && overridable => {
                Some("a sandbox would contain it, and an allow rule of yours would allow it")
            }
            Decision::Ask if self.containable => Some("a sandbox would contain it"),
            Decision::Ask if overridable => Some("an allow rule of yours would allow it"),
            Decision::Ask => Some("only your word for this call allows it"),
        }
    }
}

/// Most findings about options that are kept; the first is enough to ask.
const MOST_OPTIONS: usize = 16;

/// The worst of the findings so far; the first one wins among equals.
#[derive(Clone, Debug, Default)]
pub(super) struct Worst {
    worst: Option<Finding>,
    /// The first that asks and that no allow rule about a command outweighs.
    firm: Option<Finding>,
    /// The first that asks and that no allow rule about a tool outweighs.
    firm_for_tool: Option<Finding>,
    /// Those about options, which an allow rule outweighs that names the option.
    options: Vec<Finding>,
}

impl Worst {
    /// Takes `finding` when it is worse than what is there.
    pub(super) fn add(&mut self, finding: Finding) {
        let firm = finding.decision == Decision::Ask && !finding.rule.overridable(Subject::Command);
        let is_option = matches!(finding.rule, Rule::Option(_));
        let is_new = self.options.len() < MOST_OPTIONS && !self.options.contains(&finding);
        if firm && is_option && is_new {
            self.options.push(finding.clone());
        } else if firm && !is_option && self.firm.is_none() {
            self.firm = Some(finding.clone());
        }
        let asks = finding.decision == Decision::Ask;
        if asks && !finding.rule.overridable(Subject::Tool) && self.firm_for_tool.is_none() {
            self.firm_for_tool = Some(finding.clone());
        }
        let worse = self.worst.as_ref().is_none_or(|worst| finding.severity() > worst.severity());
        if worse {
            self.worst = Some(finding);
        }
    }

    /// [`Worst::add`], if there is a finding.
    pub(super) fn consider(&mut self, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.add(finding);
        }
    }

    /// Takes everything that another one has. No rule about the outer command outweighs what waits for
    /// a person in the inner one, loses work or leaves the machine.
    pub(super) fn absorb(&mut self, other: Worst) {
        let lasts = |found: &Finding| found.decision == Decision::Ask && found.lasting;
        let lasts = other.worst.as_ref().is_some_and(lasts);
        if self.firm.is_none() && (other.waits() || lasts) {
            self.firm.clone_from(&other.worst);
        }
        self.consider(other.firm);
        other.options.into_iter().for_each(|finding| self.add(finding));
        self.consider(other.worst);
    }

    /// Whether the worst of them waits for a person.
    pub(super) fn waits(&self) -> bool {
        self.worst.as_ref().is_some_and(Finding::waits)
    }

    /// What an allow rule about a command does not outweigh; `names` tells whether the rule names an
    /// option.
    pub(super) fn firm(&self, names: impl Fn(&str) -> bool) -> Option<&Finding> {
        let word = |rule: &Rule| match rule {
            Rule::Option(name) => name.rsplit(' ').next().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let unnamed = self.options.iter().find(|finding| !names(&word(&finding.rule)));
        self.firm.as_ref().or(unnamed)
    }

    /// What an allow rule about a tool does not outweigh.
    pub(super) fn firm_for_tool(&self) -> Option<&Finding> {
        self.firm_for_tool.as_ref()
    }

    /// The decision so far; without findings, allow.
    pub(super) fn decision(&self) -> Decision {
        self.worst.as_ref().map_or(Decision::Allow, |finding| finding.decision)
    }

    /// The worst finding.
    pub(super) fn finding(&self) -> Option<&Finding> {
        self.worst.as_ref()
    }

    /// The worst finding.
    pub(super) fn into_finding(self) -> Option<Finding> {
        self.worst
    }
}
