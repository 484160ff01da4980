//! Cline. A hook can stop what is under way or let it go on; it has no word for "ask", so what
//! is neither allowed nor denied is left to Cline's own approval, as are calls that nobody
//! objects to.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, filled, output, reason, text};
use crate::permission::{Call, Decision};

pub(super) fn read(document: &Value) -> Result<Input, String> {
    let event = match filled(document, "hookName").as_deref() {
        None => return Err("`hookName` is missing".to_owned()),
        Some("UserPromptSubmit") => Event::Prompt {
            text: text(&document["userPromptSubmit"], "prompt").unwrap_or_default(),
            id: None,
            typed: true,
        },
        Some("PreToolUse") => Event::ToolCall(call(&document["preToolUse"])?),
        Some("PostToolUse") => {
            let done = &document["postToolUse"];
            Event::ToolDone { call: call(done)?, output: output(&done["result"]) }
        }
        Some(_) => Event::Other,
    };
    let folder = document["workspaceRoots"][0].as_str().map(str::to_owned);
    Ok(Input { session: filled(document, "taskId"), cwd: folder, transcript: None, event })
}

fn call(document: &Value) -> Result<Call, String> {
    let tool = filled(document, "toolName").or_else(|| filled(document, "tool"));
    let tool = tool.ok_or("`toolName` is missing")?;
    Ok(Call { tool, input: document["parameters"].clone() })
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall, Answer::Decided(Decision::Deny, why)) => {
            Some(json!({ "cancel": true, "errorMessage": reason(why) }))
        }
        // Silence would do; a hook without an answer is reported as broken.
        (
            Kind::ToolCall | Kind::PermissionRequest | Kind::Prompt | Kind::Stop | Kind::Other,
            Answer::Nothing
            | Answer::Tell(_)
            | Answer::Continue(_)
            | Answer::Decided(..)
            | Answer::Deferred(_),
        ) => Some(json!({ "cancel": false })),
    }
}
