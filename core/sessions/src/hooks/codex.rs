//! Codex CLI. Its documents look like those of Claude Code and are stricter: an unknown member
//! makes an answer invalid, and then the tool runs. Before a tool call it accepts neither "ask"
//! nor a plain "allow", so both are an empty answer; "deny" needs a reason.

use serde_json::{Value, json};

use super::{
    AnswerForm, EVENT_SIGNS, HookAnswer, HookEvent, HookInput, MalformedInput, StopInput, call,
    event_name, filled, is_compacted, of_conversation, output, permission_request, pre_tool_use,
    session_start, text,
};
use onloop_permission::Decision;

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match event_name(document, &["hook_event_name"], EVENT_SIGNS)? {
        "UserPromptSubmit" => HookEvent::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "turn_id"),
            typed: true,
        },
        "PreToolUse" => HookEvent::ToolCall(call(document)?),
        "PermissionRequest" => HookEvent::PermissionRequest(call(document)?),
        "PostToolUse" => HookEvent::ToolDone {
            call: call(document)?,
            output: output(&document["tool_response"]),
        },
        "Stop" => HookEvent::Stop(StopInput {
            message: filled(document, "last_assistant_message"),
            ..StopInput::default()
        }),
        "SessionStart" if is_compacted(document) => HookEvent::Compacted,
        _ => HookEvent::Other,
    };
    Ok(of_conversation(document, event))
}

/// Whether commands run in the sandbox of Codex, by the end of its transcript: each turn writes its
/// settings there. Not, where the end says nothing of it.
pub(super) fn is_sandboxed(transcript: &[u8]) -> bool {
    let lines = transcript.rsplit(|byte| *byte == b'\n');
    let documents = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let settings = documents.into_iter().find(|document| document["type"] == "turn_context");
    let policy = settings.map(|document| document["payload"]["sandbox_policy"]["type"].clone());
    policy.is_some_and(|policy| policy == "read-only" || policy == "workspace-write")
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
        (AnswerForm::Compacted, HookAnswer::AdditionalContext(text)) => Some(session_start(text)),
        (
            AnswerForm::Stop | AnswerForm::Prompt | AnswerForm::Compacted,
            HookAnswer::SystemMessage(message),
        ) => Some(json!({ "systemMessage": message })),
        _ => None,
    }
}
