//! The forms of what tools answer, as JSON Schema.

use serde_json::{Value, json};

use super::tool::Tool;

/// The schema of the structured answers of a tool.
pub(super) fn schema(tool: Tool) -> Value {
    let text = json!({ "type": "string", "description": "What the command prints, as it is" });
    let result = match result(tool) {
        // What failed may have printed something else, or nothing.
        Some(typed) => json!({ "anyOf": [typed, text] }),
        None => text,
    };
    let outcomes =
        ["done", "failed", "usage", "paused", "refused", "bug", "interrupted", "ended", "begun"];
    json!({
        "type": "object",
        "properties": {
            "outcome": {
                "type": "string",
                "enum": outcomes,
                "description": "`paused`: a person has to decide; `refused`: nothing was done; \
                                `begun`: it goes on in the background",
            },
            "exit_code": { "type": "integer", "description": "The exit code of the command line" },
            "result": result,
            "notes": { "type": "string", "description": "Words for people, and the next step" },
        },
        "required": ["outcome", "exit_code", "result", "notes"],
        "additionalProperties": false,
    })
}

/// What its command prints as JSON; `None`: text.
fn result(tool: Tool) -> Option<Value> {
    Some(match tool {
        Tool::Run => json!({ "anyOf": [run(), begun()] }),
        Tool::Stop | Tool::Finalize | Tool::Summary => run(),
        Tool::Status => json!({ "anyOf": [run(), { "type": "array", "items": entry() }] }),
        Tool::Begin => prepared(),
        Tool::Next => next(),
        Tool::Receipt => receipt(),
        Tool::Lint => findings(),
        Tool::PermitExplain => explanation(),
        Tool::Step | Tool::Gate | Tool::Report | Tool::Diff => return None,
    })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn count_or_null() -> Value {
    json!({ "type": ["integer", "null"], "minimum": 0 })
}

/// A run that has just begun.
fn begun() -> Value {
    object(json!({ "run_id": text(), "status": { "const": "running" } }), &["run_id", "status"])
}

/// The summary of a run.
fn run() -> Value {
    let step = object(
        json!({
            "number": count(),
            "name": text(),
            "status": { "enum": ["pending", "in_progress", "done", "failed", "blocked"] },
            "attempts": count(),
            "verify_passed": { "type": ["boolean", "null"] },
            "gate_result": text_or_null(),
            "gate_mode": text_or_null(),
            "block_reason": text_or_null(),
            "agent": text_or_null(),
            "denied": count(),
            "usage": usage(),
        }),
        &["number", "name", "status", "attempts", "verify_passed"],
    );
    object(
        json!({
            "run_id": text(),
            "status": text(),
            "workflow_path": text(),
            "intent": text(),
            "branch": text_or_null(),
            "execution_root": text(),
            "worktree_path": text_or_null(),
            "report_path": text(),
            "started_at": text(),
            "last_update": text(),
            "completed_at": text_or_null(),
            "total_steps": count(),
            "completed_steps": count(),
            "failed_steps": count(),
            "blocked_steps": count(),
            "usage": usage(),
            "steps": { "type": "array", "items": step },
            "asks": asks(),
        }),
        &["run_id", "status", "execution_root", "report_path", "total_steps", "steps"],
    )
}

/// What a run asks of a person.
fn asks() -> Value {
    object(
        json!({
            "step": count_or_null(),
            "question": text(),
            "is_gate": { "type": "boolean" },
            "type_name": text_or_null(),
            "seen": text(),
        }),
        &["step", "question", "is_gate"],
    )
}

fn usage() -> Value {
    let tokens = ["input_tokens", "cached_input_tokens", "output_tokens"];
    let mut properties = json!({ "cost_usd": { "type": ["number", "null"], "minimum": 0 } });
    for name in tokens {
        properties[name] = count_or_null();
    }
    object(properties, &tokens)
}

/// A run in a list; one that cannot be read has an `error`.
fn entry() -> Value {
    object(
        json!({
            "run_id": text(),
            "status": text(),
            "current_step": count(),
            "total_steps": count(),
            "branch": text_or_null(),
            "last_update": text(),
            "workflow_path": text(),
            "execution_root": text(),
            "worktree_path": text_or_null(),
            "report_path": text(),
            "error": text(),
        }),
        &["run_id", "status"],
    )
}

/// Where a run works that has begun.
fn prepared() -> Value {
    object(
        json!({
            "run_id": text(),
            "execution_root": text(),
            "repo_root": text(),
            "workflow_path": text(),
            "source_workflow_path": text(),
            "branch": text_or_null(),
            "source_branch": text_or_null(),
            "source_head": text_or_null(),
            "worktree_path": text_or_null(),
        }),
        &["run_id", "execution_root", "workflow_path"],
    )
}

fn next() -> Value {
    object(
        json!({
            "run_id": text(),
            "status": text(),
            "action": text(),
            "step": count_or_null(),
            "command": text_or_null(),
            "commands": { "type": "array", "items": text() },
            "needs_person": { "type": "boolean" },
        }),
        &["run_id", "status", "action", "step", "command", "commands", "needs_person"],
    )
}

fn receipt() -> Value {
    let sufficiency = object(
        json!({
            "sufficient": { "type": "boolean" },
            "reasons": { "type": "array", "items": text() },
        }),
        &["sufficient", "reasons"],
    );
    object(
        json!({ "schema": { "const": "hotl.receipt/v1" }, "sufficiency": sufficiency }),
        &["schema", "sufficiency"],
    )
}

fn findings() -> Value {
    let finding = object(
        json!({
            "code": text(),
            "severity": { "enum": ["error", "warning"] },
            "message": text(),
            "help": text_or_null(),
            "line": count(),
            "column": count(),
            "end_line": count(),
            "end_column": count(),
        }),
        &["code", "severity", "message", "line", "column"],
    );
    let findings = json!({ "type": "array", "items": finding });
    let file = object(json!({ "path": text(), "diagnostics": findings }), &["path", "diagnostics"]);
    object(
        json!({
            "schema": { "const": "onloop.lint/v1" },
            "errors": count(),
            "warnings": count(),
            "files": { "type": "array", "items": file },
        }),
        &["schema", "errors", "warnings", "files"],
    )
}

fn explanation() -> Value {
    object(
        json!({
            "decision": { "enum": ["allow", "ask", "deny"] },
            "rule": text(),
            "reason": text(),
        }),
        &["decision", "rule", "reason"],
    )
}
