//! Where a cycle goes: the truth table of each profile.

use super::progress::Tasks;
use super::token::{NextCommand, Token};

/// Which generation of the orchestrator's rules applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The rules of the original.
    #[default]
    V1,
    /// The loop starts only where plan artifacts are.
    V2,
    /// As `V2`, with a health check first, and a summary goes before the tasks.
    V3,
    /// Says where `V3` would go and starts nothing.
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

    /// The profile of this name.
    pub fn parse(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.as_str() == name)
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

/// What the workspace looks like to the routing rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `CONTEXT.md` is readable.
    pub context: bool,
    /// The task table; `None` where `PROGRESS.md` is not readable.
    pub tasks: Option<Tasks>,
    /// Some feature asks for a plan.
    pub ready_feature: bool,
    /// The active plan has its artifacts.
    pub artifacts: bool,
    /// The argument says what to build.
    pub summary: bool,
}

/// Who a cycle starts, or that nothing is left to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// `rw-planner`
    Planner,
    /// `rw-loop`
    Loop,
    /// `done`; the route profile alone says so.
    Done,
}

impl Destination {
    /// The value as it is written.
    pub fn as_str(self) -> &'static str {
        self.next_command().as_str()
    }

    /// The command that goes there.
    pub fn next_command(self) -> NextCommand {
        match self {
            Destination::Planner => NextCommand::Planner,
            Destination::Loop => NextCommand::Loop,
            Destination::Done => NextCommand::Done,
        }
    }
}

/// Why a route was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `CONTEXT.md` has to be made first.
    RecoveryContext,
    /// `PROGRESS.md` has to be made first.
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
    /// Nothing is there to do.
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

    /// Whether the cycle makes a file without which nothing can go on.
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

    /// Who the cycle starts; `None` where nothing is there to do.
    pub fn child(self) -> Option<Target> {
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

    /// The line that announces the reason before the cycle, where `profile` has one.
    pub fn marker(self, profile: Profile) -> Option<Token> {
        match (self, profile) {
            (Reason::RecoveryContext | Reason::RecoveryState, Profile::Route) => None,
            (Reason::RecoveryContext, _) => Some(Token::RecoveryContext),
            (Reason::RecoveryState, _) => Some(Token::RecoveryState),
            (Reason::FeatureSummary, Profile::V3 | Profile::Route) => {
                Some(Token::SummaryOverridesTasks)
            }
            (Reason::FeatureSummary, Profile::V1 | Profile::V2) => None,
            (Reason::PlanArtifactsMissing, _) => Some(Token::PlanArtifactsMissing),
            (
                Reason::ActiveTasks
                | Reason::TaskRowsReview
                | Reason::ReadyFeature
                | Reason::NoWork,
                _,
            ) => None,
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
        self.destination().as_str()
    }

    /// The agent of this name.
    pub fn parse(name: &str) -> Option<Target> {
        [Target::Planner, Target::Loop].into_iter().find(|target| target.as_str() == name)
    }

    /// The agent as a place to go.
    pub fn destination(self) -> Destination {
        match self {
            Target::Planner => Destination::Planner,
            Target::Loop => Destination::Loop,
        }
    }
}

/// Where to go and why; the first rule that fits.
pub fn route(profile: Profile, facts: Facts) -> Reason {
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
