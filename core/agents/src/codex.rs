//! Codex: `exec --json`.
//!
//! The stream knows neither the model nor any tokens before the turn ends, and what it then says
//! is of the whole thread. An `error` is not the end; `turn.failed` is. A call that a hook or
//! Codex itself refuses leaves no event.

use serde_json::Value;

use super::clean::{cleaned, line, name, output};
use super::error::{AgentError, message_within};
use super::event::{AgentEvent, CallEnd, TurnEnd, UsageLimit};
use super::tool::{call, named, said, text_of};
use super::used::{UsageReport, UsageScope};
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;

/// The name of the shell in events.
pub(super) const SHELL: &str = "shell";

/// How the message about a request that is made again begins.
const AGAIN: &str = "Reconnecting...";

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    let event = match document["type"].as_str() {
        Some("thread.started") => named(document, "thread_id")
            .map(|session| AgentEvent::SessionBegun { session, model: None, version: None }),
        Some("item.started") => begun(&document["item"]),
        Some("item.updated") => Some(AgentEvent::Working),
        Some("item.completed") => return completed(&document["item"]),
        Some("error") => Some(erred(document["message"].as_str().unwrap_or_default())),
        Some("turn.failed") => {
            let message = document["error"]["message"].as_str().unwrap_or("the turn failed");
            Some(AgentEvent::Ended(TurnEnd::Failed(error(message))))
        }
        Some("turn.completed") => {
            let end = AgentEvent::Ended(TurnEnd::Completed);
            return used(&document["usage"]).into_iter().chain([end]).collect();
        }
        Some(_) | None => None,
    };
    event.into_iter().collect()
}

fn error(message: &str) -> AgentError {
    AgentError::new(None, &message_within(message))
}

fn erred(message: &str) -> AgentEvent {
    match message.strip_prefix(AGAIN) {
        Some(why) => {
            // ` 1/5 (why)`, or ` waiting for network (why)`
            let inner = why.split_once('(').map_or(why, |(_, inner)| inner.trim_end_matches(')'));
            AgentEvent::Retrying { error: error(inner.trim()), wait_ms: None }
        }
        None => AgentEvent::Erred(error(message)),
    }
}

fn used(usage: &Value) -> Option<AgentEvent> {
    usage.is_object().then(|| {
        let number = |member: &str| usage[member].as_u64().unwrap_or(0);
        let tokens = Tokens {
            input: number("input_tokens"),
            cached_input: number("cached_input_tokens"),
            output: number("output_tokens"),
        };
        AgentEvent::Used(UsageReport { scope: UsageScope::Session, tokens, cost: None })
    })
}

/// What a line of the thread's rollout says: the model, tokens after each request, and when a limit
/// that is reached is lifted.
pub(super) fn rollout_events(document: &Value) -> Vec<AgentEvent> {
    let payload = &document["payload"];
    match (document["type"].as_str(), payload["type"].as_str()) {
        (Some("turn_context"), _) => {
            named(payload, "model").map(AgentEvent::ModelNamed).into_iter().collect()
        }
        (Some("event_msg"), Some("token_count")) => {
            let windows = ["primary", "secondary"];
            let limits = windows.map(|name| limited(name, &payload["rate_limits"][name]));
            let limits = limits.into_iter().flatten();
            limits.chain(used(&payload["info"]["total_token_usage"])).collect()
        }
        (Some("response_item"), _) => match payload["role"].as_str() {
            // What was said to the model shows nothing of its work.
            Some("user" | "developer" | "system") => Vec::new(),
            Some(_) | None => vec![AgentEvent::Working],
        },
        (_, _) => Vec::new(),
    }
}

fn limited(name: &str, window: &Value) -> Option<AgentEvent> {
    if window["used_percent"].as_f64()? < 100.0 {
        return None;
    }
    let resets_at = window["resets_at"].as_i64();
    let resets_at = resets_at.map(|s| Timestamp::from_millis(s.saturating_mul(1000)));
    let window = match window["window_minutes"].as_u64() {
        Some(minutes) => format!("{name}, {minutes} minutes"),
        None => name.to_owned(),
    };
    Some(AgentEvent::Limited(UsageLimit { is_reached: true, resets_at, window }))
}

/// The name of the tool and what it does, where the item is a call of one.
fn tool(item: &Value) -> Option<(String, Value)> {
    let text = |member: &str| item[member].as_str().unwrap_or_default();
    let (tool, about) = match item["type"].as_str()? {
        "command_execution" => (SHELL.to_owned(), item["command"].clone()),
        "file_change" => {
            let changes = item["changes"].as_array().into_iter().flatten();
            let changes = changes.filter_map(|change| {
                Some(format!("{} {}", change["kind"].as_str()?, change["path"].as_str()?))
            });
            let changes: Vec<String> = changes.take(20).collect();
            ("edit".to_owned(), Value::from(line(&changes.join(", "))))
        }
        "mcp_tool_call" => {
            (format!("{}.{}", text("server"), text("tool")), item["arguments"].clone())
        }
        "web_search" => ("web_search".to_owned(), item["query"].clone()),
        "collab_tool_call" => (text("tool").to_owned(), item["prompt"].clone()),
        _ => return None,
    };
    Some((tool, about))
}

fn begun(item: &Value) -> Option<AgentEvent> {
    let Some((tool, about)) = tool(item) else { return Some(AgentEvent::Working) };
    Some(AgentEvent::CallBegun(call(item["id"].as_str(), &tool, &about)))
}

fn completed(item: &Value) -> Vec<AgentEvent> {
    match item["type"].as_str() {
        Some("agent_message") => {
            return item["text"].as_str().and_then(said).into_iter().collect();
        }
        Some("error") => {
            let message = cleaned(item["message"].as_str().unwrap_or_default(), 1000);
            return vec![AgentEvent::Noted(message)];
        }
        Some(_) | None => {}
    }
    // It has thought, or noted what is to be done.
    let Some((tool, about)) = tool(item) else { return vec![AgentEvent::Working] };
    // Not every item is said to begin.
    let begun = call(item["id"].as_str(), &tool, &about);
    let end = match (item["status"].as_str(), item["exit_code"].as_i64()) {
        (Some("declined"), _) => CallEnd::Denied,
        (Some("failed"), _) => CallEnd::Failed,
        (_, Some(code)) if code != 0 => CallEnd::Failed,
        (_, _) => CallEnd::Done,
    };
    let said = match item["error"]["message"].as_str() {
        Some(error) => error.to_owned(),
        None => match item["aggregated_output"].as_str() {
            Some(output) => output.to_owned(),
            None => text_of(&item["result"]["content"]),
        },
    };
    let ended = AgentEvent::CallEnded { id: name(&begun.id), end, output: output(&said) };
    vec![AgentEvent::CallBegun(begun), ended]
}
