//! Cursor. Several events ask about several sorts of tool calls; they share one answer. A
//! session is continued with a follow-up message, which Cursor counts and bounds itself.

use serde_json::{Value, json};

use super::{
    AnswerForm, EventSigns, HookAnswer, HookEvent, HookInput, MalformedInput, StopInput, embedded,
    event_name, filled, output, reason, required, text,
};
use onloop_permission::paths::below;
use onloop_permission::{Call, Decision};

/// Older versions do not name their events. A tool of an MCP server comes with the server's address or
/// command.
const SIGNS: &EventSigns = &[
    (&["tool_name", "result_json"], "afterMCPExecution"),
    (&["tool_name", "tool_output"], "postToolUse"),
    (&["tool_name", "url"], "beforeMCPExecution"),
    (&["tool_name", "command"], "beforeMCPExecution"),
    (&["tool_name"], "preToolUse"),
    (&["command", "output"], "afterShellExecution"),
    (&["command"], "beforeShellExecution"),
    (&["file_path", "edits"], "afterFileEdit"),
    (&["file_path"], "beforeReadFile"),
    (&["prompt"], "beforeSubmitPrompt"),
    (&["loop_count"], "stop"),
    (&["status"], "stop"),
];

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match event_name(document, &["hook_event_name"], SIGNS)? {
        "beforeSubmitPrompt" => HookEvent::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "generation_id"),
            typed: true,
        },
        "beforeShellExecution" => {
            let command = text(document, "command").ok_or(MalformedInput::Missing("command"))?;
            HookEvent::ToolCall(Call {
                tool: "Bash".to_owned(),
                input: json!({ "command": command }),
            })
        }
        "beforeReadFile" => {
            let path = text(document, "file_path").ok_or(MalformedInput::Missing("file_path"))?;
            HookEvent::ToolCall(Call {
                tool: "Read".to_owned(),
                input: json!({ "file_path": path }),
            })
        }
        "beforeMCPExecution" => {
            let tool = required(document, "tool_name")?;
            let tool =
                if tool.starts_with("mcp__") { tool } else { format!("mcp__cursor__{tool}") };
            HookEvent::ToolCall(Call { tool, input: embedded(document, "tool_input")? })
        }
        "preToolUse" => {
            let tool = required(document, "tool_name")?;
            HookEvent::ToolCall(Call { tool, input: embedded(document, "tool_input")? })
        }
        "afterShellExecution" => {
            let command = text(document, "command").unwrap_or_default();
            let input = json!({ "command": command });
            let call = Call { tool: "Bash".to_owned(), input };
            HookEvent::ToolDone { call, output: output(&document["output"]) }
        }
        "stop" => HookEvent::Stop(StopInput {
            message: None,
            broken_off: matches!(document["status"].as_str(), Some("aborted" | "error")),
            ..StopInput::default()
        }),
        _ => HookEvent::Other,
    };
    let ids = ["conversation_id", "generation_id", "session_id"];
    let session = ids.iter().find_map(|key| filled(document, key));
    let roots = document["workspace_roots"].as_array().map_or(&[][..], Vec::as_slice);
    let roots = roots.iter().filter_map(Value::as_str).map(|root| root.trim_end_matches('/'));
    let transcript = filled(document, "transcript_path");
    let cwd = filled(document, "cwd");
    let is_around = |root: &&str| cwd.as_deref().is_some_and(|cwd| below(cwd, root).is_some());
    let around = roots.clone().filter(is_around).max_by_key(|root| root.len());
    let project = around.or_else(|| roots.clone().next()).map(str::to_owned);
    let cwd = cwd.or_else(|| project.clone());
    Ok(HookInput { session, cwd, project, transcript, event, ..HookInput::default() })
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (
            AnswerForm::ToolCall | AnswerForm::PermissionRequest,
            HookAnswer::Decided(decision, why),
        ) => {
            let why = reason(why);
            Some(match decision {
                Decision::Allow => json!({ "permission": "allow" }),
                Decision::Ask | Decision::Deny => json!({
                    "permission": decision.as_str(),
                    "user_message": why,
                    "agent_message": why,
                }),
            })
        }
        (AnswerForm::Prompt, _) => Some(json!({ "continue": true })),
        (AnswerForm::Stop, HookAnswer::Continue(prompt)) => {
            Some(json!({ "followup_message": prompt }))
        }
        _ => None,
    }
}
