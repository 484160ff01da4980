//! GitHub Copilot CLI: `--output-format json`, as its documentation describes it. What it counts
//! are premium requests; tokens are there only where an event of its session names them.

use serde_json::Value;

use super::clean::{name, output};
use super::error::AgentError;
use super::event::{AgentEvent, CallEnd, TurnEnd};
use super::tool::{call, named, said};
use super::used::{UsageReport, UsageScope};
use onloop_syntax::tokens::Tokens;

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    let data = &document["data"];
    let event = match document["type"].as_str() {
        Some("session.start" | "session.resume") => {
            named(data, "sessionId").map(|session| AgentEvent::SessionBegun {
                session,
                model: named(data, "selectedModel"),
                version: named(data, "copilotVersion"),
            })
        }
        Some("assistant.message") => data["content"].as_str().and_then(said),
        Some("tool.execution_start") => {
            let tool = data["toolName"].as_str().unwrap_or("a tool");
            let begun = call(data["toolCallId"].as_str(), tool, &data["arguments"]);
            Some(AgentEvent::CallBegun(begun))
        }
        Some("tool.execution_complete") => ended(data),
        Some("assistant.usage") => used(document, data),
        Some("session.error") => {
            let status = data["statusCode"].as_u64();
            let message = data["message"].as_str().unwrap_or("the session failed");
            Some(AgentEvent::Erred(AgentError::new(status, message)))
        }
        Some("result") => Some(AgentEvent::Ended(turn_end(document))),
        Some(_) | None => None,
    };
    event.into_iter().collect()
}

fn ended(data: &Value) -> Option<AgentEvent> {
    let id = data["toolCallId"].as_str()?;
    let error = &data["error"];
    let end = match (&data["success"], error["code"].as_str()) {
        (Value::Bool(true), _) => CallEnd::Done,
        (_, Some("denied" | "rejected")) => CallEnd::Denied,
        (_, _) => CallEnd::Failed,
    };
    let said = error["message"].as_str().or(data["result"]["content"].as_str());
    let output = output(said.unwrap_or_default());
    Some(AgentEvent::CallEnded { id: name(id), end, output })
}

fn used(document: &Value, data: &Value) -> Option<AgentEvent> {
    let number = |member: &str| data[member].as_u64();
    let input = number("inputTokens")?;
    let tokens = Tokens {
        input,
        cached_input: number("cacheReadTokens").unwrap_or(0),
        output: number("outputTokens").unwrap_or(0),
    };
    let scope = UsageScope::Request(named(document, "id")?);
    Some(AgentEvent::Used(UsageReport { scope, tokens, cost: None }))
}

fn turn_end(document: &Value) -> TurnEnd {
    match document["exitCode"].as_i64() {
        Some(0) | None => TurnEnd::Completed,
        Some(code) => {
            TurnEnd::Failed(AgentError::new(None, &format!("it ended with exit code {code}")))
        }
    }
}
