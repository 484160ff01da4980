//! How a turn ended, from what the client said last and how its process ended.

use super::client::Client;
use super::error::{AgentError, AgentErrorKind};
use super::event::{TurnEnd, UsageLimit};
use super::state::AgentState;
use onloop_effect::ProcessStatus;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The client says that it is done, and its process agrees.
    Completed,
    /// The provider's limit is reached: nothing was wrong with the work.
    Limited(UsageLimit),
    /// The client, or its process, failed.
    Failed(AgentError),
    /// The process ended without a word about how the turn ended: it was killed, or what it said
    /// was not its stream.
    NoFinalEvent,
}

impl AgentState {
    /// The verdict on a turn whose process ended with `status`.
    pub fn outcome(&self, status: ProcessStatus) -> TurnOutcome {
        let error = match (self.turn_end(), self.last_error()) {
            // opencode says that a step has ended and nothing about the turn: what came after it
            // counts.
            (Some(TurnEnd::Completed), Some(error)) if self.client() == Client::Opencode => error,
            (Some(TurnEnd::Completed), _) => {
                return match status {
                    ProcessStatus::Exited(0) => TurnOutcome::Completed,
                    ProcessStatus::Exited(code) => {
                        let message = format!("it ended well and then with exit code {code}");
                        TurnOutcome::Failed(AgentError::of_kind(AgentErrorKind::Other, &message))
                    }
                    ProcessStatus::Signalled(_)
                    | ProcessStatus::TimedOut
                    | ProcessStatus::Interrupted => TurnOutcome::NoFinalEvent,
                };
            }
            (Some(TurnEnd::Failed(error)), _) => error,
            // An error is the last word of a client that gave up without another one.
            (None, Some(error)) if matches!(status, ProcessStatus::Exited(_)) => error,
            (None, _) => return TurnOutcome::NoFinalEvent,
        };
        match (error.kind, self.limit()) {
            (AgentErrorKind::Limit, Some(limit)) if limit.is_reached => {
                TurnOutcome::Limited(limit.clone())
            }
            (AgentErrorKind::Limit, _) => TurnOutcome::Limited(UsageLimit {
                is_reached: true,
                resets_at: None,
                window: String::new(),
            }),
            (_, _) => TurnOutcome::Failed(error.clone()),
        }
    }
}
