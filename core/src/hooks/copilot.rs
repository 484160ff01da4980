//! Copilot CLI. Its documents do not name their event; what only one event has tells them
//! apart. What comes with a name of an event is from another program that reads the same
//! files, and has hooks of its own form.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, StopInput, filled, output, reason, text};
use crate::permission::Call;

pub(super) fn read(document: &Value) -> Result<Input, String> {
    let is_named =
        ["hookEventName", "hook_event_name"].iter().any(|key| document[*key].is_string());
    let event = if is_named {
        Event::Other
    } else if !document["toolName"].is_null() {
        let call = call(document)?;
        match &document["toolResult"] {
            Value::Null => Event::ToolCall(call),
            result => Event::ToolDone { call, output: output(&result["textResultForLlm"]) },
        }
    } else if document["prompt"].is_string() {
        let text = text(document, "prompt").unwrap_or_default();
        Event::Prompt { text, id: None, typed: true }
    } else if document["stopReason"].is_string() && document["agentName"].is_null() {
        Event::Stop(StopInput { message: None, broken_off: false })
    } else if document["timestamp"].is_null() {
        return Err("it is no event of this host".to_owned());
    } else {
        Event::Other
    };
    let session = filled(document, "sessionId");
    let transcript = filled(document, "transcriptPath");
    Ok(Input { session, cwd: filled(document, "cwd"), transcript, event })
}

/// The permission engine knows most tools by their own names.
fn call(document: &Value) -> Result<Call, String> {
    let tool = filled(document, "toolName").ok_or("`toolName` is missing")?;
    let tool = match tool.as_str() {
        "view" => "Read".to_owned(),
        "create" => "Write".to_owned(),
        _ => tool,
    };
    let input = match &document["toolArgs"] {
        // Older versions send the arguments as JSON within a text.
        Value::String(text) => crate::syntax::strict_json::parse(text)
            .map_err(|error| format!("`toolArgs` is not JSON: {error}"))?,
        other => other.clone(),
    };
    Ok(Call { tool, input })
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall, Answer::Decided(decision, why)) => Some(json!({
            "permissionDecision": decision.as_str(),
            "permissionDecisionReason": reason(why),
        })),
        (Kind::Stop, Answer::Continue(prompt)) => {
            Some(json!({ "decision": "block", "reason": prompt }))
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
