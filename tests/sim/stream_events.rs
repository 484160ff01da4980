//! What an agent's client said in a turn, as JSON: one document for each event, and one for the
//! turn. `tests/streams` has a stream of each client for each case, with these documents.

use onloop_core::agent::{
    AgentError, AgentEvent, AgentState, Client, StreamLine, TurnEnd, UsageLimit, UsageScope,
};
use onloop_core::money::Money;
use onloop_core::time::Timestamp;
use onloop_core::tokens::Tokens;
use serde_json::{Value, json};

/// Reads a stream: its documents, one a line, and the state after it.
pub fn read(client: Client, stream: &str) -> (String, AgentState) {
    let mut state = AgentState::new(client, Tokens::default());
    let mut said = String::new();
    for line in stream.lines() {
        for event in client.read(&StreamLine::Whole(line.to_owned())) {
            state.apply(&event, &mut String::new());
            said += &format!("{}\n", agent_event(&event));
        }
    }
    (format!("{said}{}\n", agent_turn(&state)), state)
}

/// One event.
fn agent_event(event: &AgentEvent) -> Value {
    match event {
        AgentEvent::SessionBegun { session, model, version } => json!({
            "event": "session_begun", "session": session, "model": model, "version": version,
        }),
        AgentEvent::ModelNamed(model) => json!({ "event": "model_named", "model": model }),
        AgentEvent::Said(text) => json!({ "event": "said", "text": text }),
        AgentEvent::SaidAside(text) => json!({ "event": "said_aside", "text": text }),
        AgentEvent::SaidPart(text) => json!({ "event": "said_part", "text": text }),
        AgentEvent::Working => json!({ "event": "working" }),
        AgentEvent::CallBegun(call) => json!({
            "event": "call_begun", "id": call.id, "tool": call.tool, "about": call.about,
        }),
        AgentEvent::CallEnded { id, end, output } => json!({
            "event": "call_ended", "id": id, "end": end.as_str(), "output": output,
        }),
        AgentEvent::Used(report) => {
            let (scope, of) = match &report.scope {
                UsageScope::Request(name) => ("request", Some(name)),
                UsageScope::Turn(name) => ("turn", Some(name)),
                UsageScope::Session => ("session", None),
            };
            let usage = usage(Some(report.tokens), report.cost);
            json!({ "event": "used", "scope": scope, "of": of, "usage": usage })
        }
        AgentEvent::Cost(cost) => json!({ "event": "cost", "cost_usd": cost.usd() }),
        AgentEvent::Limited(limit) => json!({ "event": "limited", "limit": limit_value(limit) }),
        AgentEvent::Retrying { error, wait_ms } => json!({
            "event": "retrying", "error": error_value(error), "wait_ms": wait_ms,
        }),
        AgentEvent::Erred(error) => json!({ "event": "erred", "error": error_value(error) }),
        AgentEvent::Ended(end) => json!({ "event": "ended", "error": end_error(end) }),
        AgentEvent::Noted(note) => json!({ "event": "noted", "text": note }),
    }
}

/// What a turn comes to.
fn agent_turn(turn: &AgentState) -> Value {
    json!({
        "event": "turn",
        "agent": turn.client().as_str(),
        "session": turn.session(),
        "model": turn.model(),
        "version": turn.version(),
        "usage": usage(turn.tokens(), turn.cost()),
        "denied": turn.denied(),
        "limit": turn.limit().map(limit_value),
        "ended": turn.turn_end().is_some(),
        "error": turn.turn_end().map_or(Value::Null, end_error),
        "last_error": turn.last_error().map(error_value),
    })
}

/// Tokens and their cost; `null` where nobody can tell.
fn usage(tokens: Option<Tokens>, cost: Option<Money>) -> Value {
    json!({
        "input_tokens": tokens.map(|tokens| tokens.input),
        "cached_input_tokens": tokens.map(|tokens| tokens.cached_input),
        "output_tokens": tokens.map(|tokens| tokens.output),
        "cost_usd": cost.map(Money::usd),
    })
}

fn limit_value(limit: &UsageLimit) -> Value {
    json!({
        "reached": limit.is_reached,
        "resets_at": limit.resets_at.map(Timestamp::to_rfc3339),
        "window": limit.window,
    })
}

fn error_value(error: &AgentError) -> Value {
    json!({ "kind": error.kind.as_str(), "message": error.message })
}

fn end_error(end: &TurnEnd) -> Value {
    match end {
        TurnEnd::Completed => Value::Null,
        TurnEnd::Failed(error) => error_value(error),
    }
}
