//! Which child a cycle starts: the truth table of each profile.

use super::progress::Tasks;
use onloop_syntax::text::words;

words! {
    /// Which generation of the orchestrator's rules applies.
    #[derive(Default)]
    pub enum Profile {
        /// The rules of the original.
        #[default]
        V1 = "v1",
        /// The loop starts only where plan artifacts are.
        V2 = "v2",
        /// As `V2`, with a health check first, and a summary takes precedence over the tasks.
        V3 = "v3",
        /// Says which child `V3` would start, and starts none.
        Route = "route",
    }
}

impl Profile {
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

words! {
    /// Why a route was chosen.
    pub enum Reason {
        /// `CONTEXT.md` has to be created first.
        RecoveryContext = "RECOVERY_CONTEXT",
        /// `PROGRESS.md` has to be created first.
        RecoveryState = "RECOVERY_STATE",
        /// The argument says what to build.
        FeatureSummary = "FEATURE_SUMMARY",
        /// Tasks are pending or in progress.
        ActiveTasks = "ACTIVE_TASKS",
        /// Every task is settled; the loop reviews and finishes.
        TaskRowsReview = "TASK_ROWS_REVIEW",
        /// A feature asks for a plan.
        ReadyFeature = "READY_FEATURE",
        /// There are tasks, but no usable plan.
        PlanArtifactsMissing = "PLAN_ARTIFACTS_MISSING",
        /// There is nothing to do.
        NoWork = "NO_WORK",
    }
}

impl Reason {
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

words! {
    /// A child agent.
    pub enum Target {
        /// `rw-planner`: turns a request or a feature into tasks.
        Planner = "rw-planner",
        /// `rw-loop`: works on the tasks and reviews them.
        Loop = "rw-loop",
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
