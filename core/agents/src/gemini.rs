//! Gemini CLI: `--output-format stream-json`, as its documentation describes it.

use serde_json::Value;

use super::clean::{cleaned, name, output};
use super::error::AgentError;
use super::event::{AgentEvent, CallEnd, TurnEnd};
use super::tool::{call, named, said, text_of};
use super::used::{UsageReport, UsageScope};
use onloop_syntax::limits;
use onloop_syntax::tokens::Tokens;

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    let event = match document["type"].as_str() {
        Some("init") => named(document, "session_id").map(|session| AgentEvent::SessionBegun {
            session,
            model: named(document, "model"),
            version: None,
        }),
        Some("message") if document["role"] == "assistant" => message(document),
        Some("tool_use") => {
            let tool = document["tool_name"].as_str().unwrap_or("a tool");
            let begun = call(document["tool_id"].as_str(), tool, &document["parameters"]);
            Some(AgentEvent::CallBegun(begun))
        }
        Some("tool_result") => ended(document),
        Some("error") => error(document),
        Some("result") => return result(document),
        Some(_) | None => None,
    };
    event.into_iter().collect()
}

fn message(document: &Value) -> Option<AgentEvent> {
    let text = text_of(&document["content"]);
    match document["delta"] == Value::Bool(true) {
        true if text.is_empty() => None,
        true => Some(AgentEvent::SaidPart(cleaned(&text, limits::AGENT_TEXT_BYTES))),
        false => said(&text),
    }
}

fn ended(document: &Value) -> Option<AgentEvent> {
    let id = document["tool_id"].as_str()?;
    let error = &document["error"];
    let kind = error["type"].as_str().unwrap_or_default().to_lowercase();
    let is_denied = ["denied", "policy", "permission", "cancel"].iter().any(|w| kind.contains(w));
    let end = match (document["status"].as_str(), is_denied) {
        (Some("success"), _) => CallEnd::Done,
        (_, true) => CallEnd::Denied,
        (_, false) => CallEnd::Failed,
    };
    let message = error["message"].as_str().map(str::to_owned);
    let said = message.unwrap_or_else(|| text_of(&document["output"]));
    Some(AgentEvent::CallEnded { id: name(id), end, output: output(&said) })
}

fn error(document: &Value) -> Option<AgentEvent> {
    let message = document["message"].as_str()?;
    match document["severity"].as_str() {
        Some("warning") => Some(AgentEvent::Noted(cleaned(message, 1000))),
        Some(_) | None => Some(AgentEvent::Erred(AgentError::new(None, message))),
    }
}

fn result(document: &Value) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let stats = &document["stats"];
    if stats.is_object() {
        let number = |member: &str| stats[member].as_u64().unwrap_or(0);
        let tokens = Tokens {
            input: number("input_tokens"),
            cached_input: number("cached"),
            // Thinking is in the total alone.
            output: number("output_tokens")
                .max(number("total_tokens").saturating_sub(number("input_tokens"))),
        };
        let scope = UsageScope::Turn("result".to_owned());
        events.push(AgentEvent::Used(UsageReport { scope, tokens, cost: None }));
    }
    events.push(AgentEvent::Ended(match document["status"].as_str() {
        Some("success") => TurnEnd::Completed,
        Some(_) | None => {
            let message = document["error"]["message"].as_str().unwrap_or("the turn failed");
            TurnEnd::Failed(AgentError::new(None, message))
        }
    }));
    events
}
