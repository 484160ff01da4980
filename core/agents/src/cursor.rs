//! Cursor's agent: `-p --output-format stream-json`, as its documentation describes it. It says
//! nothing about tokens. After a failure the stream may end without a result.

use serde_json::Value;

use super::clean::output;
use super::error::AgentError;
use super::event::{AgentEvent, CallEnd, TurnEnd};
use super::tool::{call, named, said, text_of};

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    match document["type"].as_str() {
        Some("system") if document["subtype"] == "init" => {
            let begun = named(document, "session_id").map(|session| AgentEvent::SessionBegun {
                session,
                model: named(document, "model"),
                version: None,
            });
            begun.into_iter().collect()
        }
        Some("assistant") => said(&text_of(&document["message"]["content"])).into_iter().collect(),
        Some("tool_call") => tool(document),
        Some("result") => vec![AgentEvent::Ended(turn_end(document))],
        Some(_) | None => Vec::new(),
    }
}

/// The call is an object whose only member is named after the tool, as `readToolCall`.
fn tool(document: &Value) -> Vec<AgentEvent> {
    let Some((tool, detail)) = document["tool_call"].as_object().and_then(|o| o.iter().next())
    else {
        return Vec::new();
    };
    let input = if detail["args"].is_null() { &detail["arguments"] } else { &detail["args"] };
    let named = detail["name"].as_str().unwrap_or(tool.strip_suffix("ToolCall").unwrap_or(tool));
    let begun = call(document["call_id"].as_str(), named, input);
    if document["subtype"] != "completed" {
        return vec![AgentEvent::CallBegun(begun)];
    }
    let result = &detail["result"];
    let has = |member: &str| !result[member].is_null();
    let end = match () {
        () if has("rejected") || has("permissionDenied") => CallEnd::Denied,
        () if has("success") => CallEnd::Done,
        () if has("failure") || has("error") => CallEnd::Failed,
        () => CallEnd::Done,
    };
    let kinds = ["rejected", "permissionDenied", "failure", "error", "success"];
    let members = ["reason", "message", "error", "errorMessage", "output", "stdout"];
    let said = kinds
        .iter()
        .find_map(|kind| members.iter().find_map(|member| result[*kind][*member].as_str()));
    let ended = AgentEvent::CallEnded {
        id: begun.id.clone(),
        end,
        output: output(said.unwrap_or_default()),
    };
    vec![AgentEvent::CallBegun(begun), ended]
}

fn turn_end(document: &Value) -> TurnEnd {
    let words = document["result"].as_str().unwrap_or("the turn failed");
    match document["is_error"] == Value::Bool(true) || document["subtype"] != "success" {
        true => TurnEnd::Failed(AgentError::new(None, words)),
        false => TurnEnd::Completed,
    }
}
