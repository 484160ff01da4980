//! Copilot CLI. Its documents do not name their event; what only one event has tells them
//! apart. What comes with a name of an event is from another program that reads the same
//! files, and has hooks of its own form.

use serde_json::{Value, json};

use super::{
    AnswerForm, HookAnswer, HookEvent, HookInput, MalformedInput, StopInput, embedded, filled,
    output, reason, required, text,
};
use onloop_permission::Call;

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let is_named =
        ["hookEventName", "hook_event_name"].iter().any(|key| document[*key].is_string());
    let event = if is_named {
        HookEvent::Other
    } else if !document["toolName"].is_null() {
        let call = call(document)?;
        match &document["toolResult"] {
            Value::Null => HookEvent::ToolCall(call),
            result => HookEvent::ToolDone { call, output: output(&result["textResultForLlm"]) },
        }
    } else if document["prompt"].is_string() {
        let text = text(document, "prompt").unwrap_or_default();
        HookEvent::Prompt { text, id: None, typed: true }
    } else if document["stopReason"].is_string() && document["agentName"].is_null() {
        HookEvent::Stop(StopInput::default())
    } else if document["timestamp"].is_null() {
        return Err(MalformedInput::UnknownEvent);
    } else {
        HookEvent::Other
    };
    let session = filled(document, "sessionId");
    let transcript = filled(document, "transcriptPath");
    let cwd = filled(document, "cwd");
    Ok(HookInput { session, cwd, transcript, event, ..HookInput::default() })
}

/// The permission engine knows most tools by their own names.
fn call(document: &Value) -> Result<Call, MalformedInput> {
    let tool = required(document, "toolName")?;
    let tool = match tool.as_str() {
        "view" => "Read".to_owned(),
        "create" => "Write".to_owned(),
        _ => tool,
    };
    Ok(Call { tool, input: embedded(document, "toolArgs")? })
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (AnswerForm::ToolCall, HookAnswer::Decided(decision, why)) => Some(json!({
            "permissionDecision": decision.as_str(),
            "permissionDecisionReason": reason(why),
        })),
        (AnswerForm::Stop, HookAnswer::Continue(prompt)) => {
            Some(json!({ "decision": "block", "reason": prompt }))
        }
        _ => None,
    }
}
