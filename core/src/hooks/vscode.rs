//! VS Code with Copilot. Its documents are those of Claude Code with some keys in camel case
//! and with tools of its own.

use serde_json::{Value, json};

use super::{Answer, Event, Input, Kind, StopInput, filled, output, reason, text};
use crate::permission::Call;

/// Tools that only VS Code has.
const OWN_TOOLS: [&str; 20] = [
    "run_in_terminal",
    "get_terminal_output",
    "create_and_run_task",
    "create_file",
    "create_directory",
    "replace_string_in_file",
    "multi_replace_string_in_file",
    "insert_edit_into_file",
    "edit_notebook_file",
    "create_new_jupyter_notebook",
    "run_notebook_cell",
    "read_file",
    "list_dir",
    "grep_search",
    "file_search",
    "semantic_search",
    "fetch_webpage",
    "get_errors",
    "manage_todo_list",
    "runSubagent",
];

/// Whether a tool is one that only VS Code has.
pub(super) fn is_own_tool(tool: &str) -> bool {
    OWN_TOOLS.contains(&tool)
}

pub(super) fn read(document: &Value) -> Result<Input, String> {
    let either =
        |camel: &str, snake: &str| filled(document, camel).or_else(|| filled(document, snake));
    let event = match either("hookEventName", "hook_event_name").as_deref() {
        None => return Err("`hookEventName` is missing".to_owned()),
        Some("UserPromptSubmit") => {
            let text = text(document, "prompt").unwrap_or_default();
            Event::Prompt { text, id: None, typed: true }
        }
        Some("PreToolUse") => Event::ToolCall(call(document)?),
        Some("PostToolUse") => {
            Event::ToolDone { call: call(document)?, output: output(&document["tool_response"]) }
        }
        Some("Stop") => Event::Stop(StopInput {
            message: filled(document, "last_assistant_message"),
            broken_off: false,
        }),
        Some(_) => Event::Other,
    };
    let session = either("sessionId", "session_id");
    let transcript = filled(document, "transcript_path");
    Ok(Input { session, cwd: filled(document, "cwd"), transcript, event })
}

/// The permission engine knows these tools by their own names.
fn call(document: &Value) -> Result<Call, String> {
    let either = |snake: &str, camel: &str| match &document[snake] {
        Value::Null => document[camel].clone(),
        found => found.clone(),
    };
    let tool = either("tool_name", "toolName");
    match tool.as_str().filter(|tool| !tool.trim().is_empty()) {
        Some(tool) => Ok(Call { tool: tool.to_owned(), input: either("tool_input", "toolInput") }),
        None => Err("`tool_name` is missing".to_owned()),
    }
}

pub(super) fn write(kind: &Kind, answer: &Answer) -> Option<Value> {
    match (kind, answer) {
        (Kind::ToolCall, Answer::Decided(decision, why)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision.as_str(),
                "permissionDecisionReason": reason(why),
            }
        })),
        (Kind::Stop, Answer::Continue(prompt)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "Stop",
                "decision": "block",
                "reason": prompt,
            }
        })),
        (Kind::Stop | Kind::Prompt, Answer::Tell(message)) => {
            Some(json!({ "systemMessage": message }))
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
