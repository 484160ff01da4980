//! Cursor. Several events ask about several sorts of tool calls; they share one answer. A
//! session goes on by a follow-up message, which Cursor counts and bounds itself.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, StopInput, filled, output, reason, text};
use crate::permission::{Call, Decision};

pub(super) fn read(document: &Value) -> Result<Input, String> {
    let event = match event_name(document)? {
        "beforeSubmitPrompt" => Event::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "generation_id"),
            typed: true,
        },
        "beforeShellExecution" => {
            let command = text(document, "command").ok_or("`command` is missing")?;
            Event::ToolCall(Call { tool: "Bash".to_owned(), input: json!({ "command": command }) })
        }
        "beforeReadFile" => {
            let path = text(document, "file_path").ok_or("`file_path` is missing")?;
            Event::ToolCall(Call { tool: "Read".to_owned(), input: json!({ "file_path": path }) })
        }
        "beforeMCPExecution" => {
            let tool = filled(document, "tool_name").ok_or("`tool_name` is missing")?;
            let tool =
                if tool.starts_with("mcp__") { tool } else { format!("mcp__cursor__{tool}") };
            Event::ToolCall(Call { tool, input: embedded(&document["tool_input"])? })
        }
        "preToolUse" => {
            let tool = filled(document, "tool_name").ok_or("`tool_name` is missing")?;
            Event::ToolCall(Call { tool, input: embedded(&document["tool_input"])? })
        }
        "afterShellExecution" => {
            let command = text(document, "command").unwrap_or_default();
            let input = json!({ "command": command });
            let call = Call { tool: "Bash".to_owned(), input };
            Event::ToolDone { call, output: output(&document["output"]) }
        }
        "stop" => Event::Stop(StopInput {
            message: None,
            broken_off: matches!(document["status"].as_str(), Some("aborted" | "error")),
        }),
        _ => Event::Other,
    };
    let ids = ["conversation_id", "generation_id", "session_id"];
    let session = ids.iter().find_map(|key| filled(document, key));
    let folder = document["workspace_roots"][0].as_str().map(str::to_owned);
    let transcript = filled(document, "transcript_path");
    Ok(Input { session, cwd: filled(document, "cwd").or(folder), transcript, event })
}

/// The event; versions that do not name it send what only one event has.
fn event_name(document: &Value) -> Result<&str, String> {
    match document["hook_event_name"].as_str() {
        Some(name) if !name.trim().is_empty() => Ok(name),
        Some(_) | None => {
            let keys = [
                ("command", "beforeShellExecution"),
                ("prompt", "beforeSubmitPrompt"),
                ("tool_name", "preToolUse"),
                ("file_path", "beforeReadFile"),
                ("loop_count", "stop"),
                ("status", "stop"),
            ];
            let found = keys.iter().find(|(key, _)| !document[*key].is_null());
            found.map(|(_, event)| *event).ok_or_else(|| "`hook_event_name` is missing".to_owned())
        }
    }
}

/// Input of a tool, which may be JSON within a text.
fn embedded(input: &Value) -> Result<Value, String> {
    match input {
        Value::String(text) => {
            let parsed = crate::syntax::strict_json::parse(text);
            parsed.map_err(|error| format!("`tool_input` is not JSON: {error}"))
        }
        other => Ok(other.clone()),
    }
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall | Kind::PermissionRequest, Answer::Decided(decision, why)) => {
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
        (Kind::Prompt, _) => Some(json!({ "continue": true })),
        (Kind::Stop, Answer::Continue(prompt)) => Some(json!({ "followup_message": prompt })),
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
