//! How runs end: names, exit codes, next commands and last words.

use crate::auto::route::{Destination, Profile};
use crate::auto::token::{NextCommand, Token};
use crate::effect::Exit;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A child said that everything is done.
    Done,
    /// A person has to review a feature.
    Review,
    /// Somebody wants a pause.
    Paused,
    /// Another run is at work.
    LockHeld,
    /// The cycles are used up.
    MaxCycles,
    /// Nothing to do and nothing asked for.
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
    /// The route profile has said where to go.
    Routed(Destination),
}

impl Ending {
    /// Every ending.
    pub const ALL: [Ending; 15] = [
        Ending::Done,
        Ending::Review,
        Ending::Paused,
        Ending::LockHeld,
        Ending::MaxCycles,
        Ending::Undecided,
        Ending::Invalid,
        Ending::LanguagePolicy,
        Ending::RootInvalid,
        Ending::Environment,
        Ending::Unhealthy,
        Ending::Cancelled,
        Ending::Routed(Destination::Planner),
        Ending::Routed(Destination::Loop),
        Ending::Routed(Destination::Done),
    ];

    /// Its name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Review => "review",
            Ending::Paused => "paused",
            Ending::LockHeld => "lock_held",
            Ending::MaxCycles => "max_cycles",
            Ending::Undecided => "undecided",
            Ending::Invalid => "invalid",
            Ending::LanguagePolicy => "language_policy",
            Ending::RootInvalid => "root_invalid",
            Ending::Environment => "environment",
            Ending::Unhealthy => "unhealthy",
            Ending::Cancelled => "cancelled",
            Ending::Routed(Destination::Planner) => "routed_planner",
            Ending::Routed(Destination::Loop) => "routed_loop",
            Ending::Routed(Destination::Done) => "routed_done",
        }
    }

    /// The number that a shell sees; scripts should rather read the tokens.
    pub fn exit_code(self) -> u8 {
        match self {
            Ending::Done | Ending::Routed(_) => 0,
            Ending::Review => 10,
            Ending::Paused => 11,
            Ending::LockHeld => 12,
            Ending::MaxCycles => 13,
            Ending::Undecided => 14,
            Ending::Invalid => 20,
            Ending::LanguagePolicy => 21,
            Ending::RootInvalid => 22,
            Ending::Environment => 23,
            Ending::Unhealthy => 24,
            Ending::Cancelled => 130,
        }
    }

    /// How a program ends whose run ended like this.
    pub fn exit(self) -> Exit {
        Exit::Custom(self.exit_code())
    }

    /// The command that comes after the run.
    pub fn next_command(self) -> NextCommand {
        match self {
            Ending::Done => NextCommand::Done,
            Ending::Routed(destination) => destination.next_command(),
            Ending::Review
            | Ending::Undecided
            | Ending::LanguagePolicy
            | Ending::RootInvalid
            | Ending::Unhealthy => NextCommand::Planner,
            Ending::Paused
            | Ending::LockHeld
            | Ending::MaxCycles
            | Ending::Invalid
            | Ending::Environment
            | Ending::Cancelled => NextCommand::Auto,
        }
    }

    /// The lines that announce the ending, before the lock is released. A review and a route
    /// have lines with values instead, which only their own transitions know.
    pub(super) fn announcement(self, profile: Profile) -> Vec<Token> {
        match self {
            Ending::Done | Ending::Cancelled | Ending::Review | Ending::Routed(_) => Vec::new(),
            Ending::Paused => vec![match profile {
                Profile::V1 | Profile::V2 | Profile::V3 => Token::AutoPauseDetected,
                Profile::Route => Token::PauseDetected,
            }],
            Ending::LockHeld => vec![Token::LockHeld],
            Ending::MaxCycles => vec![Token::MaxCyclesReached],
            Ending::Undecided => {
                vec![Token::RouteUndecided, Token::RouteTarget(Destination::Planner)]
            }
            Ending::Invalid => vec![Token::ResultInvalid],
            Ending::LanguagePolicy => vec![Token::LanguagePolicyMissing],
            Ending::RootInvalid => vec![Token::RootInvalid],
            Ending::Environment => vec![Token::EnvironmentUnsupported],
            Ending::Unhealthy => vec![Token::HealthCheckFailed],
        }
    }
}
