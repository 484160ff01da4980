//! opencode: `run --format json`.
//!
//! There is no first and no last event: every line names the session, and the turn has ended well
//! when the stream ends after a step whose reason is not another call. A tool is reported once,
//! when it has ended. Usage is per request. In a run our plugin adds lines of its own, `onloop`: calls
//! that begin, waits, and what sub-agents do, of which the client says nothing. The same error, again and again, is how a conversation
//! looks that does not fit into its model.

use serde_json::Value;

use super::clean::{name, output};
use super::error::{AgentError, AgentErrorKind};
use super::event::{AgentEvent, CallEnd, TurnEnd, UsageLimit};
use super::tool::{call, named, said};
use super::used::{UsageReport, UsageScope};
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;

/// How the client's own refusals begin.
const REFUSALS: [&str; 2] = ["The user rejected permission", "The user has specified a rule"];
/// How ours do, see [`onloop_sessions::hooks`].
const OURS: &str = "onloop (";

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    if document["type"] == "onloop" {
        return watched(document);
    }
    let part = &document["part"];
    let session = named(document, "sessionID").map(|session| AgentEvent::SessionBegun {
        session,
        model: None,
        version: None,
    });
    let mut events: Vec<AgentEvent> = session.into_iter().collect();
    match document["type"].as_str() {
        Some("text") => events.extend(part["text"].as_str().and_then(said)),
        Some("tool_use") => events.extend(tool(part)),
        Some("step_finish") => events.extend(step_finish(part)),
        Some("error") => events.extend(error(document)),
        Some(_) => {}
        None => events.clear(),
    }
    events
}

/// What our plugin adds.
fn watched(document: &Value) -> Vec<AgentEvent> {
    let Some(session) = named(document, "session") else { return Vec::new() };
    let is_child = document["child"] == Value::Bool(true);
    let mut events = Vec::new();
    if !is_child {
        let session = session.clone();
        events.push(AgentEvent::SessionBegun { session, model: None, version: None });
    }
    let status = &document["status"];
    if status["type"] == "retry" {
        let message = status["message"].as_str().unwrap_or_default();
        let wait_ms = status["next"].as_u64().zip(document["at"].as_u64());
        let wait_ms = wait_ms.map(|(next, at)| next.saturating_sub(at));
        events.push(AgentEvent::Retrying { error: AgentError::new(None, message), wait_ms });
    }
    if let Some(id) = document["call"]["id"].as_str() {
        events.extend(watched_call(&document["call"], id, is_child.then_some(&session)));
    }
    let message = &document["message"];
    if let (Some(id), true) = (named(message, "id"), is_child) {
        events.extend(used(id, message));
        events.push(AgentEvent::Working);
    }
    if !is_child {
        events.extend(named(message, "modelID").map(AgentEvent::ModelNamed));
    }
    events
}

/// A call that begins; the stream itself tells how those of the main session end.
fn watched_call(told: &Value, id: &str, child: Option<&String>) -> Option<AgentEvent> {
    let id = child.map_or_else(|| id.to_owned(), |session| format!("{session}/{id}"));
    if told["ended"] != Value::Bool(true) {
        let tool = told["tool"].as_str().unwrap_or("a tool");
        return Some(AgentEvent::CallBegun(call(Some(&id), tool, &told["input"])));
    }
    let id = child.map(|_| name(&id))?;
    Some(AgentEvent::CallEnded { id, end: CallEnd::Done, output: String::new() })
}

fn tool(part: &Value) -> Vec<AgentEvent> {
    let state = &part["state"];
    let name = part["tool"].as_str().unwrap_or("a tool");
    let begun = call(part["callID"].as_str(), name, &state["input"]);
    let error = state["error"].as_str();
    let is_denied = error.is_some_and(|error| {
        error.starts_with(OURS) || REFUSALS.iter().any(|refusal| error.starts_with(refusal))
    });
    let end = match (state["status"].as_str(), state["metadata"]["exit"].as_i64()) {
        (Some("error"), _) if is_denied => CallEnd::Denied,
        (Some("error"), _) => CallEnd::Failed,
        // A command that fails is a completed call.
        (_, Some(code)) if code != 0 => CallEnd::Failed,
        (_, _) => CallEnd::Done,
    };
    let said = error.or(state["output"].as_str()).unwrap_or_default();
    let ended = AgentEvent::CallEnded { id: begun.id.clone(), end, output: output(said) };
    vec![AgentEvent::CallBegun(begun), ended]
}

fn step_finish(part: &Value) -> Vec<AgentEvent> {
    let mut events = vec![AgentEvent::Working];
    events.extend(named(part, "id").and_then(|id| used(id, part)));
    if part["reason"].as_str().is_some_and(|reason| reason != "tool-calls") {
        events.push(AgentEvent::Ended(TurnEnd::Completed));
    }
    events
}

/// What one request used, as a step or a message has it.
fn used(id: String, of: &Value) -> Option<AgentEvent> {
    let tokens = of["tokens"].as_object().map(|_| &of["tokens"])?;
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let cached = number(&tokens["cache"]["read"]);
    let read = number(&tokens["input"]).saturating_add(number(&tokens["cache"]["write"]));
    Some(AgentEvent::Used(UsageReport {
        scope: UsageScope::Request(id),
        tokens: Tokens {
            input: read.saturating_add(cached),
            cached_input: cached,
            output: number(&tokens["output"]).saturating_add(number(&tokens["reasoning"])),
        },
        // It says 0 where its configuration has no prices.
        cost: of["cost"].as_f64().and_then(Money::from_usd).filter(|&cost| cost > Money::ZERO),
    }))
}

fn error(document: &Value) -> Vec<AgentEvent> {
    let error = &document["error"];
    let data = &error["data"];
    let kind = error["name"].as_str().unwrap_or_default();
    let message = data["message"].as_str().unwrap_or(kind);
    let status = data["statusCode"].as_u64();
    let told = match (kind, status) {
        ("ContextOverflowError", _) => AgentError::of_kind(AgentErrorKind::TooLong, message),
        ("ProviderAuthError", _) => AgentError::of_kind(AgentErrorKind::Auth, message),
        (_, status) => AgentError::new(status, message),
    };
    let limit = (told.kind == AgentErrorKind::Limit).then(|| {
        let wait_s = data["responseHeaders"]["retry-after"].as_str().and_then(|s| s.parse().ok());
        let at_ms = document["timestamp"].as_i64();
        let resets_at = at_ms.zip(wait_s).map(|(at_ms, wait_s): (i64, i64)| {
            Timestamp::from_millis(at_ms.saturating_add(wait_s.saturating_mul(1000)))
        });
        AgentEvent::Limited(UsageLimit { is_reached: true, resets_at, window: String::new() })
    });
    limit.into_iter().chain([AgentEvent::Erred(told)]).collect()
}
