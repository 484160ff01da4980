//! Cline. A hook can stop what is under way or let it go on; it has no word for "ask", so what
//! is neither allowed nor denied is left to Cline's own approval, as are calls that nobody
//! objects to.

use serde_json::{Value, json};

use super::{
    AnswerForm, HookAnswer, HookEvent, HookInput, MalformedInput, PermissionMode, filled, output,
    reason, text,
};
use onloop_permission::{Call, Decision};

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match filled(document, "hookName").as_deref() {
        None => return Err(MalformedInput::Missing("hookName")),
        Some("UserPromptSubmit") => HookEvent::Prompt {
            text: text(&document["userPromptSubmit"], "prompt").unwrap_or_default(),
            id: None,
            typed: true,
        },
        Some("PreToolUse") => HookEvent::ToolCall(call(&document["preToolUse"])?),
        Some("PostToolUse") => {
            let done = &document["postToolUse"];
            HookEvent::ToolDone { call: call(done)?, output: output(&done["result"]) }
        }
        Some(_) => HookEvent::Other,
    };
    let folder = document["workspaceRoots"][0].as_str().map(str::to_owned);
    let session = filled(document, "taskId");
    Ok(HookInput {
        session,
        cwd: folder,
        transcript: None,
        call_id: None,
        mode: PermissionMode::Default,
        event,
    })
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
