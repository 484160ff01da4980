//! Calls of Telegram's Bot API.

use serde_json::Value;

use onloop_effect::{Failure, HttpAnswer, HttpMethod, HttpSpec, Io, is_safe_address};
use onloop_sessions::handsoff::approval::updates;
use onloop_sessions::handsoff::config::BotToken;
use onloop_syntax::limits;

/// Where the API is, unless the environment says otherwise.
const BASE: &str = "https://api.telegram.org";
const BASE_VARIABLE: &str = "ONLOOP_TELEGRAM_API";

/// A bot and the server through which it is reached.
pub(crate) struct Bot<'c> {
    base: String,
    token: &'c BotToken,
}

/// The environment names a server that is neither reached over HTTPS nor on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{BASE_VARIABLE}` must begin with `https://`, or name a server on this machine")]
pub(crate) struct InsecureAddress;

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// There was no response, or it could not be stored.
    #[error("{}", .0.message)]
    Failed(#[from] Failure),
    /// The server responded with an error status.
    #[error("Telegram refused with status {status}{}", meaning(*status))]
    Refused {
        /// The status.
        status: u16,
        /// How long to wait before the next call, if it says so.
        retry_after_ms: Option<u64>,
    },
    /// The response is not one of the Bot API.
    #[error("the server does not respond as Telegram does")]
    Garbled,
}

/// What a status of the Bot API means, as the rest of a sentence.
fn meaning(status: u16) -> &'static str {
    match status {
        400 => ": it does not take the message; is `chat_id` right?",
        401 => ": the token is not valid any more",
        403 => ": the bot may not write to the chat",
        404 => ": there is no bot with this token",
        _ => "",
    }
}

impl CallError {
    /// Whether the person interrupted.
    pub(crate) fn is_interrupt(&self) -> bool {
        matches!(self, CallError::Failed(failure) if failure.is_interrupted())
    }

    /// Whether every further call would fail the same way: the token is not valid (any more), or the
    /// chat is not one of the bot.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, CallError::Refused { status: 400 | 401 | 403 | 404, .. })
            || self.is_interrupt()
    }
}

impl<'c> Bot<'c> {
    /// The bot with that token.
    ///
    /// # Errors
    ///
    /// When the environment names an address to which the token would travel unencrypted.
    pub(crate) fn new(io: &Io, token: &'c BotToken) -> Result<Bot<'c>, InsecureAddress> {
        let base = io.env(BASE_VARIABLE).unwrap_or(BASE).trim_end_matches('/').to_owned();
        match is_safe_address(&base) {
            true => Ok(Bot { base, token }),
            false => Err(InsecureAddress),
        }
    }

    /// The number of the bot, which is in its token and is not a secret.
    pub(crate) fn id(&self) -> &str {
        self.token.expose().split(':').next().unwrap_or_default()
    }

    /// The token, to seal an answer with.
    pub(crate) fn token(&self) -> &BotToken {
        self.token
    }

    /// The `result` in the response to a call.
    pub(crate) async fn call(
        &self,
        io: &Io,
        method: &str,
        payload: &Value,
        timeout_ms: u64,
    ) -> Result<Value, CallError> {
        let answer = self.answer(io, method, payload, timeout_ms).await?;
        updates::result(&answer.body).ok_or(CallError::Garbled)
    }

    /// The whole response to a call.
    pub(crate) async fn answer(
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
        let answer = io.http(spec).await?;
        match answer.status {
            200..=299 => Ok(answer),
            status => Err(CallError::Refused {
                status,
                retry_after_ms: updates::retry_after_ms(&answer.body),
            }),
        }
    }
}
