//! The lines of the token stream: the contract between rw-auto and its readers.

use std::fmt;

use super::one_line::OneLine;
use super::route::{Profile, Reason, Target};
use onloop_syntax::text::words;

words! {
    /// The command that comes after a run, or that a child asks for.
    pub enum NextCommand {
        /// Nothing is left to do.
        Done = "done",
        /// [`Target::Planner`]
        Planner = "rw-planner",
        /// [`Target::Loop`]
        Loop = "rw-loop",
        /// Another run.
        Auto = "rw-auto",
    }
}

/// One line of the token stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// The number of a cycle, from 1.
    Cycle(u8),
    /// The child that a cycle starts; `None` is `done`, which only the route profile says.
    RouteTarget(Option<Target>),
    /// What comes after the run; always the last line.
    NextCommand(NextCommand),
    /// `CONTEXT.md` is missing; the planner creates it.
    RecoveryContext,
    /// `PROGRESS.md` is missing; the planner creates it.
    RecoveryState,
    /// There are tasks without a usable plan; the planner makes one.
    PlanArtifactsMissing,
    /// The summary takes precedence over the tasks.
    SummaryOverridesTasks,
    /// There is no work, and no summary says what to build.
    RouteUndecided,
    /// Only a route was asked for.
    RouteOnly,
    /// Why a route was chosen.
    RouteReason(Reason),
    /// The health check failed, also after its repair.
    HealthCheckFailed,
    /// `PROGRESS.md` is there and cannot be read, or the lock cannot be written.
    RootInvalid,
    /// Another run holds the lock.
    LockHeld,
    /// This host cannot start children.
    EnvironmentUnsupported,
    /// `PAUSE.md` exists.
    AutoPauseDetected,
    /// `PAUSE.md` exists, as the route profile says it.
    PauseDetected,
    /// The child failed or gave no usable answer.
    ResultInvalid,
    /// `CONTEXT.md` is still missing after a recovery.
    LanguagePolicyMissing,
    /// The cycles are used up.
    MaxCyclesReached,
    /// A person has to review a feature file.
    ReviewRequired,
    /// Why it has to be reviewed.
    ReviewReason(OneLine),
    /// The file to review.
    FeatureFile(OneLine),
    /// What the person should edit in it.
    ReviewHint(OneLine),
}

impl Token {
    /// The line that announces `reason` before the cycle, where `profile` has one.
    pub fn announcing(reason: Reason, profile: Profile) -> Option<Token> {
        match (reason, profile) {
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

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Cycle(number) => write!(f, "AUTO_CYCLE={number}"),
            Token::RouteTarget(target) => {
                write!(f, "AUTO_ROUTE_TARGET={}", target.map_or("done", Target::as_str))
            }
            Token::NextCommand(next) => write!(f, "NEXT_COMMAND={}", next.as_str()),
            Token::RecoveryContext => f.write_str("AUTO_RECOVERY_CONTEXT_BOOTSTRAP"),
            Token::RecoveryState => f.write_str("AUTO_RECOVERY_STATE_BOOTSTRAP"),
            Token::PlanArtifactsMissing => f.write_str("AUTO_PLAN_ARTIFACTS_MISSING"),
            Token::SummaryOverridesTasks => f.write_str("AUTO_INPUT_SUMMARY_OVERRIDES_TASKS"),
            Token::RouteUndecided => f.write_str("AUTO_ROUTE_UNDECIDED"),
            Token::RouteOnly => f.write_str("AUTO_EXECUTION_MODE=ROUTE_ONLY"),
            Token::RouteReason(reason) => write!(f, "AUTO_ROUTE_REASON={}", reason.as_str()),
            Token::HealthCheckFailed => f.write_str("AUTO_HEALTHCHECK_FAILED"),
            Token::RootInvalid => f.write_str("TARGET_ROOT_INVALID"),
            Token::LockHeld => f.write_str("AUTO_LOCK_HELD"),
            Token::EnvironmentUnsupported => f.write_str("RW_ENV_UNSUPPORTED"),
            Token::AutoPauseDetected => f.write_str("AUTO_PAUSE_DETECTED"),
            Token::PauseDetected => f.write_str("PAUSE_DETECTED"),
            Token::ResultInvalid => f.write_str("AUTO_SUBAGENT_RESULT_INVALID"),
            Token::LanguagePolicyMissing => f.write_str("LANG_POLICY_MISSING"),
            Token::MaxCyclesReached => f.write_str("AUTO_MAX_CYCLES_REACHED"),
            Token::ReviewRequired => f.write_str("FEATURE_REVIEW_REQUIRED"),
            Token::ReviewReason(reason) => write!(f, "FEATURE_REVIEW_REASON={reason}"),
            Token::FeatureFile(path) => write!(f, "FEATURE_FILE={path}"),
            Token::ReviewHint(hint) => write!(f, "FEATURE_REVIEW_HINT={hint}"),
        }
    }
}
