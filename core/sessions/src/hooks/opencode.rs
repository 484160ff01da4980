//! opencode, whose plugins are JavaScript in its own process. Ours calls this program with
//! documents of our own form and throws when a call is denied.

use serde_json::{Value, json};

use super::{
    AnswerForm, HookAnswer, HookEvent, HookInput, MalformedInput, StopInput, filled, output,
    reason, required, text,
};
use onloop_permission::{Call, Decision};

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match filled(document, "event").as_deref() {
        None => return Err(MalformedInput::Missing("event")),
        Some("chat.message") => HookEvent::Prompt {
            text: text(document, "text").unwrap_or_default(),
            id: filled(document, "message_id"),
            typed: true,
        },
        Some("tool.execute.before") => HookEvent::ToolCall(call(document)?),
        Some("permission.ask") => HookEvent::PermissionRequest(call(document)?),
        Some("tool.execute.after") => {
            HookEvent::ToolDone { call: call(document)?, output: output(&document["output"]) }
        }
        Some("session.idle") => HookEvent::Stop(StopInput {
            message: filled(document, "last_message"),
            ..StopInput::default()
        }),
        Some("session.compacting") => HookEvent::Compacted,
        Some(_) => HookEvent::Other,
    };
    let session = filled(document, "session_id");
    let transcript = filled(document, "transcript_path");
    let (cwd, call_id) = (filled(document, "cwd"), filled(document, "call_id"));
    Ok(HookInput { session, cwd, transcript, call_id, event, ..HookInput::default() })
}

/// The permission engine knows these tools by their own names.
fn call(document: &Value) -> Result<Call, MalformedInput> {
    let tool = required(document, "tool")?;
    Ok(Call { tool, input: document["input"].clone() })
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (
            AnswerForm::ToolCall | AnswerForm::PermissionRequest,
            HookAnswer::Decided(decision, why),
        ) => Some(json!({ "decision": decision.as_str(), "reason": reason(why) })),
        (AnswerForm::ToolCall, HookAnswer::Rewritten { input, why }) => Some(json!({
            "decision": Decision::Allow.as_str(), "reason": reason(why), "input": input,
        })),
        (AnswerForm::Stop, HookAnswer::Continue(prompt)) => {
            Some(json!({ "continue": true, "prompt": prompt }))
        }
        (AnswerForm::Compacted, HookAnswer::AdditionalContext(text)) => {
            Some(json!({ "context": text }))
        }
        (
            AnswerForm::Prompt | AnswerForm::Stop | AnswerForm::Compacted,
            HookAnswer::SystemMessage(message),
        ) => Some(json!({ "message": message })),
        _ => None,
    }
}
