//! A turn of a client, in the ledger and in the record.

use super::document::document;
use crate::money::Money;
use crate::run::TurnRecord;
use crate::tokens::Tokens;

document! {
    /// What one turn of a client came to; `null` is not known.
    pub(super) struct TurnDocument {
        step: u32,
        attempt: u32,
        agent: String,
        session: Option<String>,
        model: Option<String>,
        input_tokens: Option<u64>,
        cached_input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        session_tokens: Option<TokensDocument>,
        cost_usd_micros: Option<u64>,
        denied: u64,
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
        denied: turn.denied,
        ..TurnDocument::default()
    }
}

pub(super) fn read_turn(document: TurnDocument) -> TurnRecord {
    TurnRecord {
        step: document.step,
        attempt: document.attempt,
        agent: document.agent,
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
        denied: document.denied,
    }
}
