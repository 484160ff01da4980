//! Why a person who was asked has not answered.

use super::telegram::CallError;
use onloop_effect::Failure;

/// How asking ended without an answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// There was no answer in time.
    #[error("nobody answered through Telegram in time")]
    TimedOut,
    /// There was no answer in time, and the question stays open.
    #[error("nobody has answered through Telegram yet, where the question stays open")]
    StaysOpen,
    /// The chat could not be reached until the time was over; why.
    #[error("asking through Telegram: not reached until the time was over: {0}")]
    Unreached(String),
    /// What was asked about has been decided elsewhere, or has changed.
    #[error("it was decided through another channel")]
    Settled,
    /// The person at this process interrupted it.
    #[error("asking through Telegram: interrupted")]
    Interrupted,
    /// We cannot ask, or cannot wait any longer; why.
    #[error("asking through Telegram: {0}")]
    GaveUp(String),
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
