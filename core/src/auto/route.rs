//! Which child a cycle starts: the truth table of each profile.

use std::str::FromStr;

use super::UnknownName;
use super::progress::Tasks;

/// Which generation of the orchestrator's rules applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The rules of the original.
    #[default]
    V1,
    /// The loop starts only where plan artifacts are.
    V2,
    /// As `V2`, with a health check first, and a summary takes precedence over the tasks.
    V3,
    /// Says which child `V3` would start, and starts none.
    Route,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 4] = [Profile::V1, Profile::V2, Profile::V3, Profile::Route];

    /// Its name on the command line and in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::V1 => "v1",
            Profile::V2 => "v2",
            Profile::V3 => "v3",
            Profile::Route => "route",
        }
    }

    /// Whether a health check comes before everything else.
    pub fn checks_health(self) -> bool {
        match self {
            Profile::V1 | Profile::V2 => false,
            Profile::V3 | Profile::Route => true,
        }
    }

    /// Whether the loop needs plan artifacts.
    pub fn needs_artifacts(self) -> bool {
        match self {
            Profile::V1 => false,
            Profile::V2 | Profile::V3 | Profile::Route => true,
        }
    }

    fn puts_summary_first(self) -> bool {
        match self {
            Profile::V1 | Profile::V2 => false,
            Profile::V3 | Profile::Route => true,
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Profile, UnknownName> {
        let known = Profile::ALL.into_iter().find(|profile| profile.as_str() == name);
        known.ok_or_else(|| UnknownName::new("profile", name, "`v1`, `v2`, `v3` or `route`"))
    }
}

/// What the workspace looks like to the routing rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingFacts {
    /// `CONTEXT.md` is readable.
    pub context: bool,
    /// The task table; `None` where `PROGRESS.md` is not readable.
    pub tasks: Option<Tasks>,
    /// At least one feature is `READY_FOR_PLAN`.
    pub ready_feature: bool,
    /// The active plan has its artifacts.
    pub artifacts: bool,
    /// The argument says what to build.
    pub summary: bool,
}

/// Why a route was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `CONTEXT.md` has to be created first.
    RecoveryContext,
    /// `PROGRESS.md` has to be created first.
    RecoveryState,
    /// The argument says what to build.
    FeatureSummary,
    /// Tasks are pending or in progress.
    ActiveTasks,
    /// Every task is settled; the loop reviews and finishes.
    TaskRowsReview,
    /// A feature asks for a plan.
    ReadyFeature,
    /// There are tasks, but no usable plan.
    PlanArtifactsMissing,
    /// There is nothing to do.
    NoWork,
}

impl Reason {
    /// The value as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::RecoveryContext => "RECOVERY_CONTEXT",
            Reason::RecoveryState => "RECOVERY_STATE",
            Reason::FeatureSummary => "FEATURE_SUMMARY",
            Reason::ActiveTasks => "ACTIVE_TASKS",
            Reason::TaskRowsReview => "TASK_ROWS_REVIEW",
            Reason::ReadyFeature => "READY_FEATURE",
            Reason::PlanArtifactsMissing => "PLAN_ARTIFACTS_MISSING",
            Reason::NoWork => "NO_WORK",
        }
    }

    /// Whether the cycle creates a file that every further cycle needs.
    pub fn is_recovery(self) -> bool {
        match self {
            Reason::RecoveryContext | Reason::RecoveryState => true,
            Reason::FeatureSummary
            | Reason::ActiveTasks
            | Reason::TaskRowsReview
            | Reason::ReadyFeature
            | Reason::PlanArtifactsMissing
            | Reason::NoWork => false,
        }
    }

    /// The child that the cycle starts; `None` where there is nothing to do.
    pub fn target(self) -> Option<Target> {
        match self {
            Reason::RecoveryContext
            | Reason::RecoveryState
            | Reason::FeatureSummary
            | Reason::ReadyFeature
            | Reason::PlanArtifactsMissing => Some(Target::Planner),
            Reason::ActiveTasks | Reason::TaskRowsReview => Some(Target::Loop),
            Reason::NoWork => None,
        }
    }
}

/// A child agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `rw-planner`: turns a request or a feature into tasks.
    Planner,
    /// `rw-loop`: works on the tasks and reviews them.
    Loop,
}

impl Target {
    /// The agent's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Target::Planner => "rw-planner",
            Target::Loop => "rw-loop",
        }
    }
}

impl FromStr for Target {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Target, UnknownName> {
        let known = [Target::Planner, Target::Loop].into_iter().find(|t| t.as_str() == name);
        known.ok_or_else(|| UnknownName::new("agent", name, "`rw-planner` or `rw-loop`"))
    }
}

/// Which child to start and why; the first rule that matches.
pub fn route(profile: Profile, facts: RoutingFacts) -> Reason {
    if !facts.context {
        return Reason::RecoveryContext;
    }
    let Some(tasks) = facts.tasks else {
        return Reason::RecoveryState;
    };
    if profile.puts_summary_first() && facts.summary {
        return Reason::FeatureSummary;
    }
    let planned = facts.artifacts || !profile.needs_artifacts();
    match tasks {
        Tasks::Active if planned => Reason::ActiveTasks,
        Tasks::Active => Reason::PlanArtifactsMissing,
        Tasks::Settled | Tasks::None if facts.ready_feature => Reason::ReadyFeature,
        Tasks::Settled if planned => Reason::TaskRowsReview,
        Tasks::Settled => Reason::PlanArtifactsMissing,
        Tasks::None if facts.summary => Reason::FeatureSummary,
        Tasks::None => Reason::NoWork,
    }
}
