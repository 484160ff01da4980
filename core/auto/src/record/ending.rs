//! How runs end: names, exit codes, next commands and the lines that announce them.

use crate::route::{Profile, Target};
use crate::token::{NextCommand, Token};
use onloop_effect::Exit;
use onloop_syntax::text::words;

words! {
    /// How a run ended.
    pub enum AutoEnding {
        /// A child said that everything is done.
        Done = "done",
        /// A person has to review a feature.
        Review = "review",
        /// `PAUSE.md` exists.
        Paused = "paused",
        /// Another run holds the lock.
        LockHeld = "lock_held",
        /// The cycles are used up.
        MaxCycles = "max_cycles",
        /// There is no work, and no summary says what to build.
        Undecided = "undecided",
        /// A child failed or gave no usable answer.
        Invalid = "invalid",
        /// The context file is still missing.
        LanguagePolicy = "language_policy",
        /// The workspace cannot be used.
        RootInvalid = "root_invalid",
        /// Children cannot be started here.
        Environment = "environment",
        /// The health check failed.
        Unhealthy = "unhealthy",
        /// The person stopped it.
        Cancelled = "cancelled",
        /// The route profile has said that a run would start the planner.
        RoutedPlanner = "routed_planner",
        /// The route profile has said that a run would start the loop.
        RoutedLoop = "routed_loop",
        /// The route profile has said that a run would start nothing.
        RoutedNowhere = "routed_done",
    }
}

impl AutoEnding {
    /// The ending of a route.
    pub(super) fn routed(target: Option<Target>) -> AutoEnding {
        match target {
            Some(Target::Planner) => AutoEnding::RoutedPlanner,
            Some(Target::Loop) => AutoEnding::RoutedLoop,
            None => AutoEnding::RoutedNowhere,
        }
    }

    /// The number that a shell sees; scripts should rather read the tokens.
    pub fn exit_code(self) -> u8 {
        match self {
            AutoEnding::Done
            | AutoEnding::RoutedPlanner
            | AutoEnding::RoutedLoop
            | AutoEnding::RoutedNowhere => 0,
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
            AutoEnding::Done | AutoEnding::RoutedNowhere => NextCommand::Done,
            AutoEnding::RoutedLoop => NextCommand::Loop,
            AutoEnding::RoutedPlanner
            | AutoEnding::Review
            | AutoEnding::Undecided
            | AutoEnding::LanguagePolicy
            | AutoEnding::RootInvalid
            | AutoEnding::Unhealthy => NextCommand::Planner,
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
            | AutoEnding::RoutedPlanner
            | AutoEnding::RoutedLoop
            | AutoEnding::RoutedNowhere => Vec::new(),
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
