//! opencode, whose plugins are JavaScript in its own process. Ours calls this program with
//! documents of our own form and throws when a call is denied.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, StopInput, filled, output, reason, text};
use crate::permission::Call;

pub(super) fn read(document: &Value) -> Result<Input, String> {
    let event = match filled(document, "event").as_deref() {
        None => return Err("`event` is missing".to_owned()),
        Some("chat.message") => Event::Prompt {
            text: text(document, "text").unwrap_or_default(),
            id: filled(document, "message_id"),
            typed: true,
        },
        Some("tool.execute.before") => Event::ToolCall(call(document)?),
        Some("permission.ask") => Event::PermissionRequest(call(document)?),
        Some("tool.execute.after") => {
            Event::ToolDone { call: call(document)?, output: output(&document["output"]) }
        }
        Some("session.idle") => {
            Event::Stop(StopInput { message: filled(document, "last_message"), broken_off: false })
        }
        Some(_) => Event::Other,
    };
    let session = filled(document, "session_id");
    let transcript = filled(document, "transcript_path");
    Ok(Input { session, cwd: filled(document, "cwd"), transcript, event })
}

/// The permission engine knows these tools by their own names.
fn call(document: &Value) -> Result<Call, String> {
    let tool = filled(document, "tool").ok_or("`tool` is missing")?;
    Ok(Call { tool, input: document["input"].clone() })
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall | Kind::PermissionRequest, Answer::Decided(decision, why)) => {
            Some(json!({ "decision": decision.as_str(), "reason": reason(why) }))
        }
        (Kind::Stop, Answer::Continue(prompt)) => {
            Some(json!({ "continue": true, "prompt": prompt }))
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
