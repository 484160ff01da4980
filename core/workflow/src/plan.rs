//! The validated content of a workflow file.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::{Budgets, CommitWhen, EvidenceRules, Isolation, Risk, Step};
use onloop_effect::{BranchName, Network};
use onloop_syntax::diagnostic::{Diagnostic, Severity};
use onloop_syntax::form::{self, is_default};

/// A workflow file without errors.
///
/// Only [`parse`](super::parse) makes one, and nothing changes it afterwards. A plan therefore
/// satisfies every rule whose violation is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(PlanParts);

/// The content of a plan.
///
/// Its form of serde has what a run takes over from an edited file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanParts {
    /// Short name derived from the file name, used in run ids and branch names.
    #[serde(skip)]
    pub slug: String,
    /// One sentence: what this builds.
    pub intent: String,
    /// How to know that it is done; a list in the file becomes one line for each item.
    pub success_criteria: String,
    /// The author's estimate of risk.
    #[serde(rename = "risk_level")]
    pub risk: Risk,
    /// Whether human gates below high risk approve themselves.
    pub auto_approve: bool,
    /// Branch pinned by the author.
    #[serde(skip)]
    pub branch: Option<BranchName>,
    /// Isolation pinned by the author.
    #[serde(skip)]
    pub isolation: Option<Isolation>,
    /// Whether to print the whole step list at every transition.
    #[serde(skip)]
    pub progress_verbose: bool,
    /// Whether the report shows the output of passed checks, too.
    #[serde(skip)]
    pub report_full: bool,
    /// Whether a run may start with uncommitted files of the user.
    #[serde(skip)]
    pub dirty_allowed: bool,
    /// Bounds on the whole run.
    #[serde(rename = "limits", default, skip_serializing_if = "is_default")]
    pub budgets: Budgets,
    /// Most steps that run at the same time, 1 to [`PARALLEL_STEPS`](onloop_syntax::limits::PARALLEL_STEPS).
    #[serde(default = "form::one", skip_serializing_if = "form::is_one")]
    pub max_parallel: u32,
    /// Shell lines that the agent of a run may use when no rule decides about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Patterns of files that no agent may change, relative to the root of the checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// When verified work is committed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub commit: CommitWhen,
    /// The agent that reviews the work before it counts as done.
    #[serde(skip)]
    pub review: Option<String>,
    /// Shell lines that prepare a new worktree, before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Whether agents and checks must be confined.
    #[serde(default, skip_serializing_if = "is_default", with = "form::on")]
    pub confine: bool,
    /// The network of confined agents, checks and lines of `setup`; `None`: the default of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// What has to prove that the work is done.
    #[serde(flatten)]
    pub evidence: EvidenceRules,
    /// The steps, in order, numbered from 1 without gaps.
    pub steps: Vec<Step>,
    /// SHA-256 (hex) of the file with every checkbox unticked, so that ticking does not count as an
    /// edit.
    #[serde(rename = "plan_digest")]
    pub digest: String,
}

impl Plan {
    /// `parts` as a plan, unless one of the `findings` about their file is an error.
    pub(super) fn without_errors(parts: PlanParts, findings: &[Diagnostic]) -> Option<Plan> {
        let valid = findings.iter().all(|found| found.severity != Severity::Error);
        valid.then_some(Plan(parts))
    }

    /// The content of the plan, by value.
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
    /// A plan for examples and tests, with `slug` and `steps` at low risk and defaults for
    /// everything else.
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
            max_parallel: 1,
            allow: Vec::new(),
            protect: Vec::new(),
            commit: CommitWhen::default(),
            review: None,
            setup: Vec::new(),
            confine: false,
            network: None,
            evidence: EvidenceRules::default(),
            steps,
            digest: "d".to_owned(),
        })
    }

    /// The plan with other parts, for examples and tests.
    pub fn with(mut self, change: impl FnOnce(&mut PlanParts)) -> Plan {
        change(&mut self.0);
        self
    }
}
