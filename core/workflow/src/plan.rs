//! The validated content of a workflow file.

use std::ops::Deref;

use super::{Budgets, CommitWhen, EvidenceRules, Isolation, Risk, Step};
use onloop_effect::BranchName;
use onloop_syntax::diagnostic::{Diagnostic, Severity};

/// A workflow file without errors.
///
/// [`parse`](super::parse) is the only way to get one, and nothing can change it afterwards:
/// whoever holds a plan can rely on every rule whose violation is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(PlanParts);

/// What a plan says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanParts {
    /// Short name derived from the file name, used in run ids and branch names.
    pub slug: String,
    /// One sentence: what this builds.
    pub intent: String,
    /// How to know that it is done; a list in the file becomes one line an item.
    pub success_criteria: String,
    /// What the author thinks can go wrong.
    pub risk: Risk,
    /// Whether human gates below high risk approve themselves.
    pub auto_approve: bool,
    /// Branch pinned by the author.
    pub branch: Option<BranchName>,
    /// Isolation pinned by the author.
    pub isolation: Option<Isolation>,
    /// Print the whole step list at every transition.
    pub progress_verbose: bool,
    /// Put the output of passed checks into the report as well.
    pub report_full: bool,
    /// Start although files that are not ours are uncommitted.
    pub dirty_allowed: bool,
    /// Bounds on the whole run.
    pub budgets: Budgets,
    /// Lines of shell that the agent of a run may use although no rule decides about them.
    pub allow: Vec<String>,
    /// Patterns of files that no agent may change, relative to the root of the checkout.
    pub protect: Vec<String>,
    /// When verified work is committed.
    pub commit: CommitWhen,
    /// The agent that reviews the work before it counts as done.
    pub review: Option<String>,
    /// Lines of shell that make a fresh worktree ready, before the first step.
    pub setup: Vec<String>,
    /// Whether agents and checks have to be confined.
    pub confine: bool,
    /// What has to prove that the work is done.
    pub evidence: EvidenceRules,
    /// The steps, in order, numbered from 1 without gaps.
    pub steps: Vec<Step>,
    /// SHA-256 (hex) of the file with every step's checkbox unticked, so that our own ticks
    /// do not count as an edit.
    pub digest: String,
}

impl Plan {
    /// `parts` as a plan, unless one of the `findings` about their file is an error.
    pub(super) fn without_errors(parts: PlanParts, findings: &[Diagnostic]) -> Option<Plan> {
        let valid = findings.iter().all(|found| found.severity != Severity::Error);
        valid.then_some(Plan(parts))
    }

    /// What the plan says, for those who need it by value.
    pub fn into_parts(self) -> PlanParts {
        self.0
    }
}

impl Deref for Plan {
    type Target = PlanParts;

    fn deref(&self) -> &PlanParts {
        &self.0
    }
}

impl Plan {
    /// A plan with `slug` and `steps` at low risk, and everything else at its default: for
    /// examples and tests.
    pub fn example(slug: &str, steps: Vec<Step>) -> Plan {
        Plan(PlanParts {
            slug: slug.to_owned(),
            intent: "show".to_owned(),
            success_criteria: "shown".to_owned(),
            risk: Risk::Low,
            auto_approve: false,
            branch: None,
            isolation: None,
            progress_verbose: false,
            report_full: false,
            dirty_allowed: false,
            budgets: Budgets::default(),
            allow: Vec::new(),
            protect: Vec::new(),
            commit: CommitWhen::default(),
            review: None,
            setup: Vec::new(),
            confine: false,
            evidence: EvidenceRules::default(),
            steps,
            digest: "d".to_owned(),
        })
    }

    /// The same plan with other parts: for examples and tests.
    pub fn with(mut self, change: impl FnOnce(&mut PlanParts)) -> Plan {
        change(&mut self.0);
        self
    }
}
