//! Codex CLI. Its documents look like those of Claude Code and are stricter: an unknown member
//! makes an answer invalid, and then the tool runs. Before a tool call it accepts neither "ask"
//! nor a plain "allow", so both are an empty answer; "deny" needs a reason.

use serde_json::{Value, json};

use super::{
    AnswerForm, HookAnswer, HookEvent, HookInput, MalformedInput, PermissionMode, StopInput, call,
    filled, is_compacted, of_conversation, output, permission_request, pre_tool_use, session_start,
    text,
};
use onloop_permission::Decision;

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match filled(document, "hook_event_name").as_deref() {
        None => return Err(MalformedInput::Missing("hook_event_name")),
        Some("UserPromptSubmit") => HookEvent::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "turn_id"),
            typed: true,
        },
        Some("PreToolUse") => HookEvent::ToolCall(call(document)?),
        Some("PermissionRequest") => HookEvent::PermissionRequest(call(document)?),
        Some("PostToolUse") => HookEvent::ToolDone {
            call: call(document)?,
            output: output(&document["tool_response"]),
        },
        Some("Stop") => HookEvent::Stop(StopInput {
            message: filled(document, "last_assistant_message"),
            ..StopInput::default()
        }),
        Some("SessionStart") if is_compacted(document) => HookEvent::Compacted,
        Some(_) => HookEvent::Other,
    };
    let event = of_conversation(document, event);
    let session = filled(document, "session_id");
    let transcript = filled(document, "transcript_path");
    let (cwd, call_id) = (filled(document, "cwd"), filled(document, "tool_use_id"));
    Ok(HookInput { session, cwd, transcript, call_id, mode: PermissionMode::Default, event })
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (AnswerForm::ToolCall, HookAnswer::Decided(Decision::Deny, why)) => {
            Some(pre_tool_use("deny", why))
        }
        (AnswerForm::PermissionRequest, HookAnswer::Decided(decision, why)) => {
            permission_request(*decision, why)
        }
        (AnswerForm::Stop, HookAnswer::Continue(prompt)) => {
            Some(json!({ "decision": "block", "reason": prompt }))
        }
        (AnswerForm::Compacted, HookAnswer::Remind(text)) => Some(session_start(text)),
        (
            AnswerForm::Stop | AnswerForm::Prompt | AnswerForm::Compacted,
            HookAnswer::Tell(message),
        ) => Some(json!({ "systemMessage": message })),
        _ => None,
    }
}
