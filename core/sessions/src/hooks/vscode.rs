//! VS Code with Copilot. Its documents are those of Claude Code with some keys in camel case
//! and with tools of its own.

use serde_json::{Value, json};

use super::{
    AnswerForm, EVENT_SIGNS, HookAnswer, HookEvent, HookInput, MalformedInput, StopInput,
    event_name, filled, output, pre_tool_use, text,
};
use onloop_permission::Call;

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

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    let event = match event_name(document, &["hookEventName", "hook_event_name"], EVENT_SIGNS)? {
        "UserPromptSubmit" => {
            let text = text(document, "prompt").unwrap_or_default();
            HookEvent::Prompt { text, id: None, typed: true }
        }
        "PreToolUse" => HookEvent::ToolCall(call(document)?),
        "PostToolUse" => HookEvent::ToolDone {
            call: call(document)?,
            output: output(&document["tool_response"]),
        },
        "Stop" => HookEvent::Stop(StopInput {
            message: filled(document, "last_assistant_message"),
            ..StopInput::default()
        }),
        _ => HookEvent::Other,
    };
    let session = filled(document, "sessionId").or_else(|| filled(document, "session_id"));
    let transcript = filled(document, "transcript_path");
    let cwd = filled(document, "cwd");
    Ok(HookInput { session, cwd, transcript, event, ..HookInput::default() })
}

/// The permission engine knows these tools by their own names.
fn call(document: &Value) -> Result<Call, MalformedInput> {
    let either = |snake: &str, camel: &str| match &document[snake] {
        Value::Null => document[camel].clone(),
        found => found.clone(),
    };
    let tool = either("tool_name", "toolName");
    match tool.as_str().filter(|tool| !tool.trim().is_empty()) {
        Some(tool) => Ok(Call { tool: tool.to_owned(), input: either("tool_input", "toolInput") }),
        None => Err(MalformedInput::Missing("tool_name")),
    }
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (AnswerForm::ToolCall, HookAnswer::Decided(decision, why)) => {
            Some(pre_tool_use(decision.as_str(), why))
        }
        (AnswerForm::Stop, HookAnswer::Continue(prompt)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "Stop",
                "decision": "block",
                "reason": prompt,
            }
        })),
        (AnswerForm::Stop | AnswerForm::Prompt, HookAnswer::SystemMessage(message)) => {
            Some(json!({ "systemMessage": message }))
        }
        _ => None,
    }
}
