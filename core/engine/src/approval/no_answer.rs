//! Why a person who was asked has not answered.

use super::telegram::CallError;
use onloop_effect::Failure;

/// How asking ended without an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nobody answered in time.
    TimedOut,
    /// Nobody has answered in time, and the question stays open.
    StaysOpen,
    /// The chat could not be reached until the time was over; why.
    Unreached(String),
    /// What was asked about has been decided elsewhere, or has changed.
    Settled,
    /// The person at this process interrupted it.
    Interrupted,
    /// We cannot ask, or cannot wait any longer; why.
    GaveUp(String),
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoAnswer::TimedOut => f.write_str("nobody answered through Telegram in time"),
            NoAnswer::StaysOpen => f.write_str(
                "nobody has answered through Telegram yet, where the question stays open",
            ),
            NoAnswer::Unreached(why) => {
                write!(f, "asking through Telegram: not reached until the time was over: {why}")
            }
            NoAnswer::Settled => f.write_str("it was settled elsewhere"),
            NoAnswer::Interrupted => f.write_str("asking through Telegram: interrupted"),
            NoAnswer::GaveUp(why) => write!(f, "asking through Telegram: {why}"),
        }
    }
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> NoAnswer {
        match failure.is_interrupted() {
            true => NoAnswer::Interrupted,
            false => NoAnswer::GaveUp(failure.message),
        }
    }
}

impl From<CallError> for NoAnswer {
    fn from(error: CallError) -> NoAnswer {
        match error {
            CallError::Failed(failure) => failure.into(),
            CallError::Refused { .. } | CallError::Garbled => NoAnswer::GaveUp(error.to_string()),
        }
    }
}
