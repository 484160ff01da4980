//! One call of Telegram's interface for bots.

use serde_json::Value;

use crate::effect::{Failure, FailureKind, HttpAnswer, HttpMethod, HttpSpec, Io};
use crate::handsoff::approval::updates;
use crate::handsoff::config::Token;
use crate::limits;

/// Where the interface is, unless the environment says otherwise.
const BASE: &str = "https://api.telegram.org";
const BASE_VARIABLE: &str = "ONLOOP_TELEGRAM_API";

/// A bot, as it is reached from here.
pub(super) struct Bot<'c> {
    base: String,
    token: &'c Token,
}

/// Why a call did not succeed.
#[derive(Debug)]
pub(super) enum CallError {
    /// There was no answer.
    Failed(Failure),
    /// The interface refused; whether it makes sense to try again, and when.
    Refused {
        /// Its status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after_ms: Option<u64>,
    },
    /// It answered something else than the interface does.
    Garbled,
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Failed(failure) => f.write_str(&failure.message),
            CallError::Refused { status, .. } => write!(f, "Telegram refused with status {status}"),
            CallError::Garbled => f.write_str("what answered is not Telegram's interface"),
        }
    }
}

impl CallError {
    /// Whether the person interrupted.
    pub(super) fn is_interrupt(&self) -> bool {
        matches!(self, CallError::Failed(failure) if failure.kind == FailureKind::Interrupted)
    }

    /// Whether every further call will fail the same way: the token is not (any more) one.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, CallError::Refused { status: 401 | 403 | 404, .. }) || self.is_interrupt()
    }
}

impl<'c> Bot<'c> {
    /// The bot with that token.
    ///
    /// # Errors
    ///
    /// When the environment names an address over which a token would travel in the clear.
    pub(super) fn new(io: &Io, token: &'c Token) -> Result<Bot<'c>, String> {
        let base = io.env(BASE_VARIABLE).unwrap_or(BASE).trim_end_matches('/').to_owned();
        let here = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        let is_here = here.iter().any(|here| {
            let rest = base.strip_prefix(here);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        });
        if base.starts_with("https://") || is_here {
            return Ok(Bot { base, token });
        }
        Err(format!(
            "`{BASE_VARIABLE}` must begin with `https://`, or name a server on this machine"
        ))
    }

    /// What keeps the bots of different people apart, and is no secret: the number of the bot.
    pub(super) fn id(&self) -> &str {
        self.token.expose().split(':').next().unwrap_or_default()
    }

    /// The token, to seal an answer with.
    pub(super) fn token(&self) -> &Token {
        self.token
    }

    /// The `result` of a call that may take `timeout_ms`.
    pub(super) async fn call(
        &self,
        io: &Io,
        method: &str,
        payload: &Value,
        timeout_ms: u64,
    ) -> Result<Value, CallError> {
        let answer = self.answer(io, method, payload, timeout_ms).await?;
        updates::result(&answer.body).ok_or(CallError::Garbled)
    }

    /// The whole answer to a call that may take `timeout_ms`.
    pub(super) async fn answer(
        &self,
        io: &Io,
        method: &str,
        payload: &Value,
        timeout_ms: u64,
    ) -> Result<HttpAnswer, CallError> {
        let spec = HttpSpec {
            method: HttpMethod::Post,
            url: format!("{}/bot{}/{method}", self.base, self.token.expose()),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Some(payload.to_string().into_bytes().into()),
            timeout_ms,
            limit_bytes: limits::APPROVAL_ANSWER_BYTES,
        };
        let answer = io.http(spec).await.map_err(CallError::Failed)?;
        match answer.status {
            200..=299 => Ok(answer),
            status => Err(CallError::Refused {
                status,
                retry_after_ms: updates::retry_after_ms(&answer.body),
            }),
        }
    }
}
