//! How runs end: names, exit codes, next commands and the lines that announce them.

use std::str::FromStr;

use crate::auto::route::{Profile, Target};
use crate::auto::token::{NextCommand, Token};
use crate::effect::Exit;
use crate::text::UnknownWord;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoEnding {
    /// A child said that everything is done.
    Done,
    /// A person has to review a feature.
    Review,
    /// `PAUSE.md` exists.
    Paused,
    /// Another run is at work.
    LockHeld,
    /// The cycles are used up.
    MaxCycles,
    /// There is no work, and no summary says what to build.
    Undecided,
    /// A child failed or gave no usable answer.
    Invalid,
    /// The context file is still missing.
    LanguagePolicy,
    /// The workspace cannot be used.
    RootInvalid,
    /// Children cannot be started here.
    Environment,
    /// The health check failed.
    Unhealthy,
    /// The person stopped it.
    Cancelled,
    /// The route profile has said which child a run would start; `None`: none.
    Routed(Option<Target>),
}

impl FromStr for AutoEnding {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<AutoEnding, UnknownWord> {
        let known = AutoEnding::ALL.into_iter().find(|ending| ending.as_str() == name);
        known.ok_or_else(|| UnknownWord::new(name, AutoEnding::ALL.map(AutoEnding::as_str).into()))
    }
}

impl AutoEnding {
    /// Every ending.
    pub const ALL: [AutoEnding; 15] = [
        AutoEnding::Done,
        AutoEnding::Review,
        AutoEnding::Paused,
        AutoEnding::LockHeld,
        AutoEnding::MaxCycles,
        AutoEnding::Undecided,
        AutoEnding::Invalid,
        AutoEnding::LanguagePolicy,
        AutoEnding::RootInvalid,
        AutoEnding::Environment,
        AutoEnding::Unhealthy,
        AutoEnding::Cancelled,
        AutoEnding::Routed(Some(Target::Planner)),
        AutoEnding::Routed(Some(Target::Loop)),
        AutoEnding::Routed(None),
    ];

    /// Its name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            AutoEnding::Done => "done",
            AutoEnding::Review => "review",
            AutoEnding::Paused => "paused",
            AutoEnding::LockHeld => "lock_held",
            AutoEnding::MaxCycles => "max_cycles",
            AutoEnding::Undecided => "undecided",
            AutoEnding::Invalid => "invalid",
            AutoEnding::LanguagePolicy => "language_policy",
            AutoEnding::RootInvalid => "root_invalid",
            AutoEnding::Environment => "environment",
            AutoEnding::Unhealthy => "unhealthy",
            AutoEnding::Cancelled => "cancelled",
            AutoEnding::Routed(Some(Target::Planner)) => "routed_planner",
            AutoEnding::Routed(Some(Target::Loop)) => "routed_loop",
            AutoEnding::Routed(None) => "routed_done",
        }
    }

    /// The number that a shell sees; scripts should rather read the tokens.
    pub fn exit_code(self) -> u8 {
        match self {
            AutoEnding::Done | AutoEnding::Routed(_) => 0,
            AutoEnding::Review => 10,
            AutoEnding::Paused => 11,
            AutoEnding::LockHeld => 12,
            AutoEnding::MaxCycles => 13,
            AutoEnding::Undecided => 14,
            AutoEnding::Invalid => 20,
            AutoEnding::LanguagePolicy => 21,
            AutoEnding::RootInvalid => 22,
            AutoEnding::Environment => 23,
            AutoEnding::Unhealthy => 24,
            AutoEnding::Cancelled => 130,
        }
    }

    /// How a program ends whose run ended like this.
    pub fn exit(self) -> Exit {
        Exit::Custom(self.exit_code())
    }

    /// The command that comes after the run.
    pub fn next_command(self) -> NextCommand {
        match self {
            AutoEnding::Done | AutoEnding::Routed(None) => NextCommand::Done,
            AutoEnding::Routed(Some(target)) => NextCommand::Target(target),
            AutoEnding::Review
            | AutoEnding::Undecided
            | AutoEnding::LanguagePolicy
            | AutoEnding::RootInvalid
            | AutoEnding::Unhealthy => NextCommand::Target(Target::Planner),
            AutoEnding::Paused
            | AutoEnding::LockHeld
            | AutoEnding::MaxCycles
            | AutoEnding::Invalid
            | AutoEnding::Environment
            | AutoEnding::Cancelled => NextCommand::Auto,
        }
    }

    /// The lines that announce the ending, before the lock is released. A review and a route
    /// have lines with values instead, which only their own transitions know.
    pub(super) fn announcement(self, profile: Profile) -> Vec<Token> {
        match self {
            AutoEnding::Done
            | AutoEnding::Cancelled
            | AutoEnding::Review
            | AutoEnding::Routed(_) => Vec::new(),
            AutoEnding::Paused => vec![match profile {
                Profile::V1 | Profile::V2 | Profile::V3 => Token::AutoPauseDetected,
                Profile::Route => Token::PauseDetected,
            }],
            AutoEnding::LockHeld => vec![Token::LockHeld],
            AutoEnding::MaxCycles => vec![Token::MaxCyclesReached],
            AutoEnding::Undecided => {
                vec![Token::RouteUndecided, Token::RouteTarget(Some(Target::Planner))]
            }
            AutoEnding::Invalid => vec![Token::ResultInvalid],
            AutoEnding::LanguagePolicy => vec![Token::LanguagePolicyMissing],
            AutoEnding::RootInvalid => vec![Token::RootInvalid],
            AutoEnding::Environment => vec![Token::EnvironmentUnsupported],
            AutoEnding::Unhealthy => vec![Token::HealthCheckFailed],
        }
    }
}
