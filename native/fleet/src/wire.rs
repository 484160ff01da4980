//! What travels between machines and the fleet's server: one operation for each of the engine's, and what
//! agents say; JSON in and out.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, Offer};

/// When a request was made, in milliseconds since 1970.
pub const TIME: &str = "onloop-time";
/// What a request is known by.
pub const NONCE: &str = "onloop-nonce";
/// The code of a request or an answer.
pub const CODE: &str = "onloop-code";
/// Most bytes of a request.
pub const REQUEST_BYTES: usize = 24 * 1024 * 1024;
/// Most bytes of what an agent has said that travel.
pub const WORDS_BYTES: usize = 32 * 1024;
/// Most bytes of an answer.
pub const ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// What is asked of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Submit,
    Take,
    Renew,
    Claim,
    Release,
    Append,
    Lines,
    Overview,
    Say,
    Hear,
    Wanted,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 11] = [
        Operation::Submit,
        Operation::Take,
        Operation::Renew,
        Operation::Claim,
        Operation::Release,
        Operation::Append,
        Operation::Lines,
        Operation::Overview,
        Operation::Say,
        Operation::Hear,
        Operation::Wanted,
    ];

    /// Where it is asked for.
    pub fn path(self) -> &'static str {
        match self {
            Operation::Submit => "/v1/submit",
            Operation::Take => "/v1/take",
            Operation::Renew => "/v1/renew",
            Operation::Claim => "/v1/claim",
            Operation::Release => "/v1/release",
            Operation::Append => "/v1/append",
            Operation::Lines => "/v1/lines",
            Operation::Overview => "/v1/overview",
            Operation::Say => "/v1/say",
            Operation::Hear => "/v1/hear",
            Operation::Wanted => "/v1/wanted",
        }
    }

    /// What is asked for at `path`.
    pub fn of(path: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.path() == path)
    }
}

/// What [`Operation::Take`] is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeRequest {
    /// What the worker can take.
    pub offer: Offer,
    /// How long it waits.
    pub wait_ms: u64,
}

/// What [`Operation::Lines`] is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinesRequest {
    /// The run.
    pub run_id: String,
    /// The last line that is known.
    pub after: u64,
    /// How long it is waited for more.
    pub wait_ms: u64,
}

/// What [`Operation::Say`] brings: what was said last in an attempt of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The run.
    pub run_id: String,
    /// The attempt, as its log is called: `1-2`.
    pub attempt: String,
    /// The end of its log, at most [`WORDS_BYTES`].
    pub text: String,
}

/// What [`Operation::Hear`] is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HearRequest {
    /// The run.
    pub run_id: String,
    /// What was heard last; 0: nothing.
    pub heard: u64,
    /// How long something else is waited for.
    pub wait_ms: u64,
}

/// What somebody who wants to hear is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    /// What it is known by.
    pub number: u64,
    /// The words.
    pub words: Words,
}

/// What [`Operation::Wanted`] is asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedRequest {
    /// The runs that a worker works on.
    pub run_ids: Vec<String>,
    /// How long it is waited until somebody wants to hear one of them.
    pub wait_ms: u64,
}

/// What a request carries that asks for nothing in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Milliseconds of a wait.
pub(crate) fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

/// The status of an answer that is an error.
pub(crate) fn status(error: &EngineError) -> u16 {
    match error {
        EngineError::Invalid { .. } => 400,
        EngineError::Denied => 401,
        EngineError::NotFound { .. } => 404,
        EngineError::Exists { .. }
        | EngineError::Busy { .. }
        | EngineError::Fenced { .. }
        | EngineError::Conflict { .. } => 409,
        EngineError::Internal { .. } => 500,
        EngineError::Unreachable { .. } => 503,
    }
}
