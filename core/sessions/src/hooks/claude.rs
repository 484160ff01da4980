//! Claude Code. A tool call runs unless the answer is complete and valid: with an empty answer,
//! the name of another event or an unknown decision it runs, so every member is always written.

use serde_json::{Value, json};

use super::{
    AnswerForm, BackgroundTask, EVENT_SIGNS, HookAnswer, HookEvent, HookInput, MalformedInput,
    StopFailure, StopInput, call, event_name, filled, is_compacted, of_conversation, output,
    permission_request, pre_tool_use, session_start, text, vscode,
};
use onloop_permission::Decision;

pub(super) fn read(document: &Value) -> Result<HookInput, MalformedInput> {
    if is_vscode(document) {
        // VS Code reads the hooks of Claude Code and calls them for every tool of its own.
        // Its own approvals hold; we have a hook of its own form.
        return Ok(HookInput {
            session: None,
            cwd: None,
            event: HookEvent::Other,
            ..HookInput::default()
        });
    }
    let event = match event_name(document, &["hook_event_name"], EVENT_SIGNS)? {
        "UserPromptSubmit" => HookEvent::Prompt {
            text: text(document, "prompt").unwrap_or_default(),
            id: filled(document, "prompt_id"),
            typed: typed(document),
        },
        "UserPromptExpansion" => expansion(document),
        "PreToolUse" => HookEvent::ToolCall(call(document)?),
        "PermissionRequest" => HookEvent::PermissionRequest(call(document)?),
        "PostToolUse" => HookEvent::ToolDone {
            call: call(document)?,
            output: output(&document["tool_response"]),
        },
        "Stop" => HookEvent::Stop(stop(document)),
        "SessionStart" if is_compacted(document) => HookEvent::Compacted,
        "StopFailure" => HookEvent::StopFailed(stop_failure(document)),
        // Sub-agents end when they end; sessions begin and end without our doing.
        _ => HookEvent::Other,
    };
    Ok(of_conversation(document, event))
}

/// VS Code names its members in camel case.
fn is_vscode(document: &Value) -> bool {
    let named = document["hookEventName"].is_string() || document["sessionId"].is_string();
    let tool = document["tool_name"].as_str();
    (named && !document["hook_event_name"].is_string()) || tool.is_some_and(vscode::is_own_tool)
}

/// Whether a person wrote the prompt, not a timer, a schedule or the system.
fn typed(document: &Value) -> bool {
    match document["source"].as_str() {
        None | Some("user" | "sdk") => true,
        Some(_) => false,
    }
}

/// A command of a plugin, before it becomes the prompt that the command stands for.
fn expansion(document: &Value) -> HookEvent {
    let Some(name) = filled(document, "command_name") else { return HookEvent::Other };
    let arguments = text(document, "command_args").unwrap_or_default();
    let command = format!("/{} {arguments}", name.trim_start_matches('/'));
    HookEvent::Prompt { text: command, id: filled(document, "prompt_id"), typed: false }
}

fn stop_failure(document: &Value) -> StopFailure {
    let (error, message) = (filled(document, "error"), filled(document, "last_assistant_message"));
    StopFailure { error, message }
}

pub(super) fn stop(document: &Value) -> StopInput {
    let message = filled(document, "last_assistant_message");
    StopInput { message, tasks: running_tasks(document), ..StopInput::default() }
}

fn running_tasks(document: &Value) -> Vec<BackgroundTask> {
    let tasks = document["background_tasks"].as_array().into_iter().flatten();
    let running = tasks.filter(|task| task["status"] == "running");
    let task = |task: &Value| {
        let about = filled(task, "command").or_else(|| filled(task, "description"));
        Some(BackgroundTask { id: filled(task, "id")?, about: about.unwrap_or_default() })
    };
    running.filter_map(task).collect()
}

pub(super) fn write(form: AnswerForm, answer: &HookAnswer) -> Option<Value> {
    match (form, answer) {
        (AnswerForm::ToolCall, HookAnswer::Decided(decision, why)) => {
            Some(pre_tool_use(decision.as_str(), why))
        }
        (AnswerForm::ToolCall, HookAnswer::Rewritten { input, why }) => {
            let mut answer = pre_tool_use(Decision::Allow.as_str(), why);
            answer["hookSpecificOutput"]["updatedInput"] = input.clone();
            Some(answer)
        }
        (AnswerForm::ToolCall, HookAnswer::Deferred(why)) => Some(pre_tool_use("defer", why)),
        (AnswerForm::PermissionRequest, HookAnswer::Decided(decision, why)) => {
            permission_request(*decision, why)
        }
        (AnswerForm::Stop, HookAnswer::Continue(prompt)) => {
            Some(json!({ "decision": "block", "reason": prompt }))
        }
        (AnswerForm::Compacted, HookAnswer::AdditionalContext(text)) => Some(session_start(text)),
        (
            AnswerForm::Stop | AnswerForm::Prompt | AnswerForm::Compacted | AnswerForm::Other,
            HookAnswer::SystemMessage(message),
        ) => Some(json!({ "systemMessage": message })),
        _ => None,
    }
}
