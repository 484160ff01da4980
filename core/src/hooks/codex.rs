//! Codex CLI. It looks like Claude Code and is stricter: an unknown member makes an answer
//! invalid, and then the tool runs. It knows no "ask" and no plain "allow" before a tool call,
//! so both are silence, and a refusal needs a reason.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, StopInput, call, filled, output, reason, text};
use crate::permission::Decision;

pub(super) fn read(document: &Value) -> Result<Input, String> {
    let event = match filled(document, "hook_event_name").as_deref() {
        None => return Err("`hook_event_name` is missing".to_owned()),
        Some("UserPromptSubmit") => Event::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "turn_id"),
            typed: true,
        },
        Some("PreToolUse") => Event::ToolCall(call(document)?),
        Some("PermissionRequest") => Event::PermissionRequest(call(document)?),
        Some("PostToolUse") => {
            Event::ToolDone { call: call(document)?, output: output(&document["tool_response"]) }
        }
        Some("Stop") => Event::Stop(StopInput {
            message: filled(document, "last_assistant_message"),
            broken_off: false,
        }),
        Some(_) => Event::Other,
    };
    let session = filled(document, "session_id");
    let transcript = filled(document, "transcript_path");
    Ok(Input { session, cwd: filled(document, "cwd"), transcript, event })
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall, Answer::Decided(Decision::Deny, why)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason(why),
            }
        })),
        (Kind::PermissionRequest, Answer::Decided(decision, why)) => {
            let decision = match decision {
                Decision::Allow => json!({ "behavior": "allow" }),
                Decision::Deny => json!({ "behavior": "deny", "message": reason(why) }),
                Decision::Ask => return None,
            };
            Some(json!({
                "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision }
            }))
        }
        (Kind::Stop, Answer::Continue(prompt)) => {
            Some(json!({ "decision": "block", "reason": prompt }))
        }
        (Kind::Stop | Kind::Prompt, Answer::Tell(message)) => {
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
