//! Runs and their steps.

use serde_json::{Value, json};

use super::{count, count_or_null, flag, list_of, object, object_or_null, text, text_or_null};

/// A run that has just begun.
pub(super) fn begun() -> Value {
    object(json!({ "run_id": text(), "status": { "const": "running" } }), &["run_id", "status"])
}

/// A step of a run; its checks where the run was asked for by its id.
fn step() -> Value {
    object(
        json!({
            "number": count(),
            "name": text(),
            "status": { "enum": ["pending", "in_progress", "done", "failed", "blocked"] },
            "attempts": count(),
            "verify_passed": { "type": ["boolean", "null"] },
            "checked": flag(),
            "gate_result": text_or_null(),
            "gate_mode": text_or_null(),
            "block_reason": text_or_null(),
            "warnings": warnings(),
            "inputs": inputs(),
            "agent": text_or_null(),
            "session": text_or_null(),
            "denied": count(),
            "usage": usage(),
            "checks": list_of(check()),
            "fork": { "type": "object" },
        }),
        &["number", "name", "status", "attempts", "verify_passed"],
    )
}

/// One step, and how its run stands.
pub(super) fn step_of_a_run() -> Value {
    object(
        json!({ "run_id": text(), "status": text(), "step": step() }),
        &["run_id", "status", "step"],
    )
}

/// A check and what came of it.
fn check() -> Value {
    object(
        json!({
            "what": text(),
            "result": { "enum": ["passed", "failed", "waits", "open"] },
            "reason": text_or_null(),
            "took_ms": count_or_null(),
            "at": text_or_null(),
            "warnings": list_of(text()),
            "opened": text(),
        }),
        &["what", "result"],
    )
}

/// What checks have noticed besides their result.
pub(super) fn warnings() -> Value {
    let more = json!({ "check": count(), "text": text(), "kind": text(), "reason": text() });
    list_of(object(changed_file(more), &["check", "text", "kind"]))
}

/// The changed files that checks opened.
pub(super) fn inputs() -> Value {
    let file = object(changed_file(json!({})), &["path", "found", "change"]);
    list_of(object(
        json!({ "check": count(), "observed": flag(), "files": list_of(file), "more": count() }),
        &["check", "observed", "files", "more"],
    ))
}

/// The members of a changed file, and these.
fn changed_file(mut members: Value) -> Value {
    members["path"] = text();
    members["found"] = json!({ "enum": ["opened", "named"] });
    members["change"] = json!({ "enum": ["changed", "created", "removed"] });
    members["hides"] = flag();
    members["expected"] = flag();
    members["steps"] = list_of(count());
    members["added"] = count();
    members["removed"] = count();
    members
}

/// The summary of a run.
pub(super) fn run() -> Value {
    let review = object_or_null(
        json!({ "step": count_or_null(), "verdict": text(), "findings": text() }),
        &["step", "verdict", "findings"],
    );
    object(
        json!({
            "run_id": text(),
            "status": text(),
            "workflow_path": text(),
            "source_workflow_path": text_or_null(),
            "workflow_slug": text(),
            "intent": text(),
            "branch": text_or_null(),
            "source_branch": text_or_null(),
            "source_head": text_or_null(),
            "repo_root": text_or_null(),
            "execution_root": text(),
            "worktree_path": text_or_null(),
            "executor_mode": text(),
            "driver": text_or_null(),
            "host": text_or_null(),
            "report_path": text(),
            "started_at": text(),
            "last_update": text(),
            "completed_at": text_or_null(),
            "current_step": count_or_null(),
            "current_steps": { "type": "array", "items": count() },
            "total_steps": count(),
            "completed_steps": count(),
            "failed_steps": count(),
            "blocked_steps": count(),
            "unchecked": count(),
            "verified_on": verified_on(),
            "usage": usage(),
            "review": review,
            "finish": finish(),
            "pull_request": { "type": ["object", "null"] },
            "confined": list_of(worker_sandbox()),
            "steps": list_of(step()),
            "asks": asks(),
        }),
        &["run_id", "status", "execution_root", "report_path", "total_steps", "steps"],
    )
}

/// What became of the work; every member is null where nothing is settled yet.
pub(super) fn finish() -> Value {
    let mut properties = json!({});
    for name in [
        "disposition",
        "recorded_at",
        "target_branch",
        "remote",
        "pr_url",
        "branch_action",
        "worktree_action",
        "artifacts_preserved_at",
        "notes",
    ] {
        properties[name] = text_or_null();
    }
    object(properties, &["disposition"])
}

/// Who worked, in which sandbox; or why in none.
fn worker_sandbox() -> Value {
    let names = json!({ "names": list_of(text()) });
    object(
        json!({
            "worker": text(),
            "step": count(),
            "by": text(),
            "network": json!({ "anyOf": [text(), object(names, &["names"])] }),
            "caches": list_of(text()),
            "why": text(),
        }),
        &["worker", "step"],
    )
}

/// What a run asks of a person, and what they have to know.
fn asks() -> Value {
    let review =
        object_or_null(json!({ "verdict": text(), "findings": text() }), &["verdict", "findings"]);
    let facts = object_or_null(
        json!({
            "text": text(),
            "action": text(),
            "risk": { "enum": ["low", "medium", "high"] },
            "checks": list_of(check()),
            "earlier": list_of(text()),
            "changes": text(),
            "own_changes": text(),
            "said": text(),
            "since_step": count_or_null(),
            "changes_unknown": text_or_null(),
            "review": review,
        }),
        &["text", "action", "risk", "checks", "changes"],
    );
    object(
        json!({
            "step": count_or_null(),
            "question": text(),
            "is_gate": flag(),
            "type_name": text_or_null(),
            "facts": facts,
            "seen": text(),
        }),
        &["step", "question", "is_gate"],
    )
}

fn usage() -> Value {
    let tokens = ["input_tokens", "cached_input_tokens", "output_tokens"];
    let mut properties = json!({
        "cost_usd": { "type": ["number", "null"], "minimum": 0 },
        "cost_estimated_as_of": text(),
    });
    for name in tokens {
        properties[name] = count_or_null();
    }
    object(properties, &tokens)
}

/// A run in a list; one that cannot be read has an `error`.
pub(super) fn entry() -> Value {
    let driver = object_or_null(
        json!({ "pid": count(), "host": text(), "live": flag(), "role": text_or_null() }),
        &["pid", "host", "live"],
    );
    let next = object_or_null(
        json!({ "action": text(), "step": count_or_null(), "needs_person": flag() }),
        &["action", "step", "needs_person"],
    );
    object(
        json!({
            "run_id": text(),
            "kind": text(),
            "status": text(),
            "current_step": count(),
            "current_steps": { "type": "array", "items": count() },
            "total_steps": count(),
            "branch": text_or_null(),
            "executor_mode": text(),
            "intent": text(),
            "started_at": text(),
            "last_update": text(),
            "driven_by": driver,
            "outcome": text_or_null(),
            "next": next,
            "pull_request": { "type": ["object", "null"] },
            "workflow_path": text(),
            "source_workflow_path": text_or_null(),
            "repo_root": text_or_null(),
            "execution_root": text(),
            "worktree_path": text_or_null(),
            "report_path": text(),
            "state_file": text(),
            "run_root": text(),
            "error": text(),
        }),
        &["run_id", "status"],
    )
}

/// Where a run works that has begun.
pub(super) fn prepared() -> Value {
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

pub(super) fn next() -> Value {
    object(
        json!({
            "run_id": text(),
            "status": text(),
            "action": text(),
            "step": count_or_null(),
            "command": text_or_null(),
            "commands": list_of(text()),
            "needs_person": flag(),
            "driver": count_or_null(),
        }),
        &["run_id", "status", "action", "step", "command", "commands", "needs_person", "driver"],
    )
}

/// Where the checks ran last.
pub(super) fn verified_on() -> Value {
    json!({ "enum": ["worktree", "clean_checkout"] })
}
