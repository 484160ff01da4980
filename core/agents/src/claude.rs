//! Claude Code: `--output-format stream-json --verbose --include-partial-messages`.
//!
//! A message comes as one line for each of its blocks, every time with the usage as it was when
//! the message began; the numbers that count are in `message_delta`. The result says what the
//! turn used with its sub-agents and after whatever went wrong on the way; its other totals run
//! on over conversations that were resumed.

use serde_json::Value;

use super::clean::{cleaned, name, output};
use super::error::{AgentError, AgentErrorKind};
use super::event::{AgentEvent, CallEnd, TurnEnd, UsageLimit};
use super::tool::{call, named, said, said_aside, text_of};
use super::used::{UsageReport, UsageScope};
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;

/// The model that the client names where it speaks itself.
const NOBODY: &str = "<synthetic>";

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    match document["type"].as_str() {
        Some("system") => system(document).into_iter().collect(),
        Some("stream_event") => streamed(document).into_iter().collect(),
        Some("assistant") => assistant(document),
        Some("user") => user(document),
        Some("rate_limit_event") => limited(&document["rate_limit_info"]).into_iter().collect(),
        Some("result") => result(document),
        Some(_) | None => Vec::new(),
    }
}

fn system(document: &Value) -> Option<AgentEvent> {
    match document["subtype"].as_str()? {
        "init" => Some(AgentEvent::SessionBegun {
            session: named(document, "session_id")?,
            model: named(document, "model"),
            version: named(document, "claude_code_version"),
        }),
        "api_retry" => {
            let error = AgentError::new(
                document["error_status"].as_u64(),
                document["error"].as_str().unwrap_or("unknown"),
            );
            Some(AgentEvent::Retrying { error, wait_ms: document["retry_delay_ms"].as_u64() })
        }
        _ => None,
    }
}

/// The numbers of a request while it runs, and that it runs: pings carry nothing.
fn streamed(document: &Value) -> Option<AgentEvent> {
    let event = &document["event"];
    match event["type"].as_str()? {
        "content_block_delta" => Some(AgentEvent::Working),
        "message_start" => request(named(&event["message"], "id")?, &event["message"]["usage"]),
        "message_delta" => request(named(document, "api_message_id")?, &event["usage"]),
        _ => None,
    }
}

fn request(id: String, usage: &Value) -> Option<AgentEvent> {
    usage.is_object().then(|| {
        let number = |member: &str| usage[member].as_u64().unwrap_or(0);
        let cached = number("cache_read_input_tokens");
        let written = number("cache_creation_input_tokens");
        let tokens = Tokens {
            input: number("input_tokens").saturating_add(cached).saturating_add(written),
            cached_input: cached,
            output: number("output_tokens"),
        };
        AgentEvent::Used(UsageReport { scope: UsageScope::Request(id), tokens, cost: None })
    })
}

fn assistant(document: &Value) -> Vec<AgentEvent> {
    let message = &document["message"];
    if document["is_api_error_message"] == Value::Bool(true) {
        let limit = limited(&document["api_error_params"]["rate_limit_info"]);
        return limit
            .into_iter()
            .chain([AgentEvent::Erred(api_error(document, message))])
            .collect();
    }
    let mut events = Vec::new();
    let told = match document["parent_tool_use_id"].is_string() {
        true => said_aside,
        false => said,
    };
    if message["model"] != NOBODY
        && let Some(id) = named(message, "id")
    {
        events.extend(request(id, &message["usage"]));
    }
    for block in message["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => events.extend(block["text"].as_str().and_then(told)),
            Some("tool_use") => {
                let tool = block["name"].as_str().unwrap_or("a tool");
                let begun = call(block["id"].as_str(), tool, &block["input"]);
                events.push(AgentEvent::CallBegun(begun));
            }
            Some(_) | None => {}
        }
    }
    events
}

/// What the client says in the model's place when there was no answer.
fn api_error(document: &Value, message: &Value) -> AgentError {
    let words = text_of(&message["content"]);
    match document["api_error"].as_str() {
        Some("usage_limit_reached") => AgentError::of_kind(AgentErrorKind::Limit, &words),
        Some(_) | None => AgentError::new(document["api_error_status"].as_u64(), &words),
    }
}

fn limited(info: &Value) -> Option<AgentEvent> {
    let is_reached = match info["status"].as_str()? {
        "rejected" => true,
        "allowed_warning" => false,
        _ => return None,
    };
    let resets_at =
        info["resetsAt"].as_i64().map(|s| Timestamp::from_millis(s.saturating_mul(1000)));
    let window = named(info, "rateLimitType").unwrap_or_default();
    Some(AgentEvent::Limited(UsageLimit { is_reached, resets_at, window }))
}

fn user(document: &Value) -> Vec<AgentEvent> {
    let results = document["message"]["content"].as_array().into_iter().flatten();
    let results = results.filter(|block| block["type"] == "tool_result");
    results.filter_map(|block| ended(document, block)).collect()
}

fn ended(document: &Value, block: &Value) -> Option<AgentEvent> {
    let id = block["tool_use_id"].as_str()?;
    let content = text_of(&block["content"]);
    let metas = document["tool_result_meta"].as_array();
    let meta = metas.into_iter().flatten().find(|meta| meta["id"] == id).unwrap_or(&Value::Null);
    let is_denied = meta["permission_decision"]["decision"] == "reject"
        || meta["non_execution_kind"] == "permission-rule"
        || (content.starts_with("PreToolUse:") && content.contains("hook error"));
    let end = match (is_denied, &block["is_error"]) {
        (true, Value::Bool(true)) => CallEnd::Denied,
        (false, Value::Bool(true)) => CallEnd::Failed,
        (_, _) => CallEnd::Done,
    };
    Some(AgentEvent::CallEnded { id: name(id), end, output: output(&content) })
}

fn result(document: &Value) -> Vec<AgentEvent> {
    let mut events: Vec<AgentEvent> = Vec::new();
    for denied in document["permission_denials"].as_array().into_iter().flatten() {
        if let Some(id) = named(denied, "tool_use_id") {
            // The result of the call has said why; a call without one is counted by this.
            let (end, output) = (CallEnd::Denied, String::new());
            events.push(AgentEvent::CallEnded { id, end, output });
        }
    }
    events.extend(turn_usage(document));
    events.push(AgentEvent::Ended(turn_end(document)));
    events
}

fn turn_usage(document: &Value) -> Option<AgentEvent> {
    let turn = named(document, "uuid").unwrap_or_else(|| "result".to_owned());
    let scope = UsageScope::Turn(turn);
    let Some(models) = document["model_usage_since_last_result"].as_object() else {
        // Older ones: without sub-agents, and what it cost is only known of the whole session.
        let Some(AgentEvent::Used(report)) = request(String::new(), &document["usage"]) else {
            return None;
        };
        return Some(AgentEvent::Used(UsageReport { scope, ..report }));
    };
    let (mut tokens, mut cost) = (Tokens::default(), Some(Money::ZERO));
    for model in models.values() {
        let number = |member: &str| model[member].as_u64().unwrap_or(0);
        let cached = number("cacheReadInputTokens");
        let written = number("cacheCreationInputTokens");
        tokens = tokens.plus(Tokens {
            input: number("inputTokens").saturating_add(cached).saturating_add(written),
            cached_input: cached,
            output: number("outputTokens"),
        });
        let own = model["costUSD"].as_f64().and_then(Money::from_usd);
        cost = cost.zip(own).map(|(sum, own)| sum.saturating_add(own));
    }
    Some(AgentEvent::Used(UsageReport { scope, tokens, cost }))
}

/// A `subtype` of `success` also stands on turns that the provider had refused.
fn turn_end(document: &Value) -> TurnEnd {
    let reason = document["terminal_reason"].as_str();
    let is_error = document["is_error"] == Value::Bool(true);
    if !is_error && matches!(reason, Some("completed") | None) {
        return TurnEnd::Completed;
    }
    let errors = document["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(Value::as_str).collect();
    let words = match (errors.is_empty(), document["result"].as_str()) {
        (false, _) => errors.join("; "),
        (true, Some(result)) if is_error && !result.is_empty() => result.to_owned(),
        (true, _) => format!("it ended with `{}`", cleaned(reason.unwrap_or("error"), 100)),
    };
    let limit = document["api_error"] == "usage_limit_reached";
    TurnEnd::Failed(match reason {
        _ if limit => AgentError::of_kind(AgentErrorKind::Limit, &words),
        Some("prompt_too_long") => AgentError::of_kind(AgentErrorKind::TooLong, &words),
        Some("api_error") => AgentError::new(document["api_error_status"].as_u64(), &words),
        Some(_) | None => AgentError::of_kind(AgentErrorKind::Other, &words),
    })
}
