//! The lines of the token stream: the contract between rw-auto and whoever reads it.

use std::fmt;

use super::route::{Destination, Reason};

/// The command that comes after a run, or that a child asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextCommand {
    /// `rw-planner`
    Planner,
    /// `rw-loop`
    Loop,
    /// `rw-auto`
    Auto,
    /// `done`
    Done,
}

impl NextCommand {
    /// Every value.
    pub const ALL: [NextCommand; 4] =
        [NextCommand::Planner, NextCommand::Loop, NextCommand::Auto, NextCommand::Done];

    /// The value as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            NextCommand::Planner => "rw-planner",
            NextCommand::Loop => "rw-loop",
            NextCommand::Auto => "rw-auto",
            NextCommand::Done => "done",
        }
    }

    /// The value that is spelled exactly like this.
    pub fn parse(text: &str) -> Option<NextCommand> {
        NextCommand::ALL.into_iter().find(|next| next.as_str() == text)
    }
}

/// Text of somebody else's that fits on one line: without control characters and line
/// separators of any kind, and without white space at its ends. It may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneLine(String);

impl OneLine {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for OneLine {
    /// Every run of control characters and line separators becomes one blank.
    fn from(text: &str) -> OneLine {
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        let mut out = String::with_capacity(text.len());
        let mut in_run = false;
        for c in text.chars() {
            if !breaks(c) {
                out.push(c);
            } else if !in_run {
                out.push(' ');
            }
            in_run = breaks(c);
        }
        OneLine(out.trim().to_owned())
    }
}

impl fmt::Display for OneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One line of the token stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// The number of a cycle, from 1.
    Cycle(u8),
    /// Where a cycle goes.
    RouteTarget(Destination),
    /// What comes after the run; always the last line.
    NextCommand(NextCommand),
    /// `CONTEXT.md` is missing; the planner makes it.
    RecoveryContext,
    /// `PROGRESS.md` is missing; the planner makes it.
    RecoveryState,
    /// There are tasks without a usable plan; the planner mends that.
    PlanArtifactsMissing,
    /// The summary goes before the tasks.
    SummaryOverridesTasks,
    /// Nothing to do and nothing asked for.
    RouteUndecided,
    /// Only a route was asked for.
    RouteOnly,
    /// Why a route was chosen.
    RouteReason(Reason),
    /// The health check failed, also after its repair.
    HealthCheckFailed,
    /// `PROGRESS.md` is there and cannot be read, or the lock cannot be written.
    RootInvalid,
    /// Another run is at work.
    LockHeld,
    /// This host cannot start children.
    EnvironmentUnsupported,
    /// `PAUSE.md` is there.
    AutoPauseDetected,
    /// `PAUSE.md` is there, in the words of the route profile.
    PauseDetected,
    /// The child failed or gave no usable answer.
    ResultInvalid,
    /// `CONTEXT.md` is still missing after a recovery.
    LanguagePolicyMissing,
    /// The cycles are used up.
    MaxCyclesReached,
    /// A person has to review a feature file.
    ReviewRequired,
    /// Why.
    ReviewReason(OneLine),
    /// Which file.
    FeatureFile(OneLine),
    /// What to edit.
    ReviewHint(OneLine),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Cycle(number) => write!(f, "AUTO_CYCLE={number}"),
            Token::RouteTarget(target) => write!(f, "AUTO_ROUTE_TARGET={}", target.as_str()),
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
