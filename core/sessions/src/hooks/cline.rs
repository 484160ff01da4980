//! Cline. A hook can stop what is under way or let it go on; it has no word for "ask", so what
//! is neither allowed nor denied is left to Cline's own approval, as are calls that nobody
//! objects to.

use serde_json::{Value, json};

use super::{
    AnswerForm, EventSigns, HookAnswer, HookEvent, HookInput, MalformedInput, event_name, filled,
    output, reason, text,
};
use onloop_permission::{Call, Decision};

const SIGNS: &EventSigns = &[
    (&["preToolUse"], "PreToolUse"),
    (&["postToolUse"], "PostToolUse"),
    (&["userPromptSubmit"], "UserPromptSubmit"),
];

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match event_name(document, &["hookName"], SIGNS)? {
        "UserPromptSubmit" => HookEvent::Prompt {
            text: text(&document["userPromptSubmit"], "prompt").unwrap_or_default(),
            id: None,
            typed: true,
        },
        "PreToolUse" => HookEvent::ToolCall(call(&document["preToolUse"])?),
        "PostToolUse" => {
            let done = &document["postToolUse"];
            HookEvent::ToolDone { call: call(done)?, output: output(&done["result"]) }
        }
        _ => HookEvent::Other,
    };
    let folder = document["workspaceRoots"][0].as_str().map(str::to_owned);
    let session = filled(document, "taskId");
    Ok(HookInput { session, cwd: folder, event, ..HookInput::default() })
}

fn call(document: &Value) -> Result<Call, MalformedInput> {
    let tool = filled(document, "toolName").or_else(|| filled(document, "tool"));
    let tool = tool.ok_or(MalformedInput::Missing("toolName"))?;
    Ok(Call { tool, input: document["parameters"].clone() })
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (AnswerForm::ToolCall, HookAnswer::Decided(Decision::Deny, why)) => {
            Some(json!({ "cancel": true, "errorMessage": reason(why) }))
        }
        // Silence would do; a hook without an answer is reported as broken.
        _ => Some(json!({ "cancel": false })),
    }
}
