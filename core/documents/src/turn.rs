//! A turn of a client, in the ledger and in the record.

use super::document::{DocumentError, document};
use onloop_run::{TurnEnding, TurnRecord, Wait};
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;

document! {
    /// What one turn of a client came to; `null` is not known.
    pub(super) struct TurnDocument {
        step: u32,
        attempt: u32,
        agent: String,
        client_version: Option<String> [rare],
        session: Option<String>,
        model: Option<String>,
        input_tokens: Option<u64>,
        cached_input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        session_tokens: Option<TokensDocument>,
        cost_usd_micros: Option<u64>,
        prices_as_of: Option<String> [rare],
        denied: u64,
        ending: Option<String> [rare],
        idle: bool [optional],
    }
}

document! {
    /// A wait for a provider that does not serve its agent.
    pub(super) struct WaitDocument {
        step: u32,
        attempt: u32,
        agent: String,
        why: String,
        since: String,
        until: String,
        tries: u32,
    }
}

document! {
    /// Numbers of tokens.
    pub(super) struct TokensDocument {
        input: u64,
        cached_input: u64,
        output: u64,
    }
}

pub(super) fn turn_document(turn: &TurnRecord) -> TurnDocument {
    TurnDocument {
        step: turn.step,
        attempt: turn.attempt,
        agent: turn.agent.clone(),
        client_version: turn.client_version.clone(),
        session: turn.session.clone(),
        model: turn.model.clone(),
        input_tokens: turn.tokens.map(|tokens| tokens.input),
        cached_input_tokens: turn.tokens.map(|tokens| tokens.cached_input),
        output_tokens: turn.tokens.map(|tokens| tokens.output),
        session_tokens: turn.session_tokens.map(|tokens| TokensDocument {
            input: tokens.input,
            cached_input: tokens.cached_input,
            output: tokens.output,
            ..TokensDocument::default()
        }),
        cost_usd_micros: turn.cost.map(Money::micros),
        prices_as_of: turn.prices_as_of.clone(),
        denied: turn.denied,
        ending: turn.ending.map(|ending| ending.as_str().to_owned()),
        idle: turn.is_idle,
        ..TurnDocument::default()
    }
}

pub(super) fn read_turn(document: TurnDocument) -> TurnRecord {
    TurnRecord {
        step: document.step,
        attempt: document.attempt,
        agent: document.agent,
        client_version: document.client_version,
        session: document.session,
        model: document.model,
        tokens: document.input_tokens.map(|input| Tokens {
            input,
            cached_input: document.cached_input_tokens.unwrap_or(0),
            output: document.output_tokens.unwrap_or(0),
        }),
        session_tokens: document.session_tokens.map(|tokens| Tokens {
            input: tokens.input,
            cached_input: tokens.cached_input,
            output: tokens.output,
        }),
        cost: document.cost_usd_micros.map(Money::from_micros),
        prices_as_of: document.prices_as_of,
        denied: document.denied,
        // A word of a later version changes nothing that this one does.
        ending: document.ending.as_deref().and_then(TurnEnding::from_word),
        is_idle: document.idle,
    }
}

pub(super) fn wait_document(wait: &Wait) -> WaitDocument {
    WaitDocument {
        step: wait.step,
        attempt: wait.attempt,
        agent: wait.agent.clone(),
        why: wait.why.as_str().to_owned(),
        since: wait.since.to_rfc3339_millis(),
        until: wait.until.to_rfc3339_millis(),
        tries: wait.tries,
        ..WaitDocument::default()
    }
}

pub(super) fn read_wait(document: WaitDocument) -> Result<Wait, DocumentError> {
    let time = |member: &str, text: &str| {
        let bad = || DocumentError::member(member, format!("is {text:?}, expected a time"));
        Timestamp::parse(text).ok_or_else(bad)
    };
    Ok(Wait {
        step: document.step,
        attempt: document.attempt,
        why: document.why.parse().map_err(|error| DocumentError::member("why", error))?,
        since: time("since", &document.since)?,
        until: time("until", &document.until)?,
        agent: document.agent,
        tries: document.tries,
    })
}
