//! Claude Code. A tool call runs unless the answer is complete and valid: silence, another
//! event's name or an unknown word let it run, so a decision is always written whole.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, StopInput, call, filled, output, reason, text, vscode};
use crate::permission::Decision;

pub(super) fn read(document: &Value) -> Result<Input, String> {
    if is_vscode(document) {
        // VS Code reads the hooks of Claude Code and calls them for every tool of its own.
        // Its own approvals hold; we have a hook of its own form.
        return Ok(Input { session: None, cwd: None, transcript: None, event: Event::Other });
    }
    let event = match filled(document, "hook_event_name").as_deref() {
        None => return Err("`hook_event_name` is missing".to_owned()),
        Some("UserPromptSubmit") => Event::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "prompt_id"),
            typed: typed(document),
        },
        Some("UserPromptExpansion") => expansion(document),
        Some("PreToolUse") => Event::ToolCall(call(document)?),
        Some("PermissionRequest") => Event::PermissionRequest(call(document)?),
        Some("PostToolUse") => {
            Event::ToolDone { call: call(document)?, output: output(&document["tool_response"]) }
        }
        Some("Stop") => Event::Stop(stop(document)),
        // Sub-agents end when they end; sessions begin and end without our doing.
        Some(_) => Event::Other,
    };
    let session = filled(document, "session_id");
    let transcript = filled(document, "transcript_path");
    Ok(Input { session, cwd: filled(document, "cwd"), transcript, event })
}

/// What VS Code sends is named in another way.
fn is_vscode(document: &Value) -> bool {
    let named = document["hookEventName"].is_string() || document["sessionId"].is_string();
    let tool = document["tool_name"].as_str();
    (named && !document["hook_event_name"].is_string()) || tool.is_some_and(vscode::is_own_tool)
}

/// Prompts of timers, schedules and the system are not a person's.
fn typed(document: &Value) -> bool {
    match document["source"].as_str() {
        None | Some("user" | "sdk") => true,
        Some(_) => false,
    }
}

/// A command of a plugin, before it becomes the prompt that the command stands for.
fn expansion(document: &Value) -> Event {
    let Some(name) = filled(document, "command_name") else { return Event::Other };
    let arguments = text(document, "command_args").unwrap_or_default();
    let command = format!("/{} {arguments}", name.trim_start_matches('/'));
    Event::Prompt { text: command, id: filled(document, "prompt_id"), typed: false }
}

pub(super) fn stop(document: &Value) -> StopInput {
    StopInput { message: filled(document, "last_assistant_message"), broken_off: false }
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall, Answer::Decided(decision, why)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision.as_str(),
                "permissionDecisionReason": reason(why),
            }
        })),
        (Kind::ToolCall, Answer::Deferred(why)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "defer",
                "permissionDecisionReason": reason(why),
            }
        })),
        (Kind::PermissionRequest, Answer::Decided(decision, why)) => permission(*decision, why),
        (Kind::Stop, Answer::Continue(prompt)) => {
            Some(json!({ "decision": "block", "reason": prompt }))
        }
        (Kind::Stop | Kind::Prompt | Kind::Other, Answer::Tell(message)) => {
            Some(json!({ "systemMessage": message }))
        }
        (
            _,
            Answer::Nothing
            | Answer::Tell(_)
            | Answer::Continue(_)
            | Answer::Decided(..)
            | Answer::Deferred(_),
        ) => None,
    }
}

/// The host knows no "ask" here: it is about to ask anyway.
fn permission(decision: Decision, why: &str) -> Option<Value> {
    let decision = match decision {
        Decision::Allow => json!({ "behavior": "allow" }),
        Decision::Deny => json!({ "behavior": "deny", "message": reason(why) }),
        Decision::Ask => return None,
    };
    Some(json!({
        "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision }
    }))
}
