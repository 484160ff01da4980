//! What is proved of a run, found in a file, or decided about a call.

use serde_json::{Value, json};

use super::run::{finish, inputs, verified_on, warnings};
use super::{count, flag, list_of, object, object_or_null, text, text_or_null};

pub(super) fn receipt() -> Value {
    let run = object(
        json!({
            "run_id": text(),
            "workflow_path": text(),
            "workflow_slug": text(),
            "plan_digest": text(),
            "status": text(),
            "revision": count(),
            "branch": text_or_null(),
            "source_head": text_or_null(),
            "started_at": text(),
            "completed_at": text_or_null(),
        }),
        &["run_id", "status", "revision"],
    );
    let implementation = json!({ "driver": text_or_null(), "host": text_or_null() });
    let sufficiency = json!({ "sufficient": flag(), "reasons": list_of(text()) });
    let redaction = json!({ "contains_output": flag(), "contains_prompts": flag() });
    object(
        json!({
            "schema": { "const": "hotl.receipt/v1" },
            "run": run,
            "implementation": object(implementation, &["driver", "host"]),
            "evidence": list_of(evidence()),
            "unchecked": count(),
            "checks_repeated_at_end": flag(),
            "verified_on": verified_on(),
            "finish": finish(),
            "sufficiency": object(sufficiency, &["sufficient", "reasons"]),
            "redaction": object(redaction, &["contains_output", "contains_prompts"]),
        }),
        &["schema", "run", "evidence", "unchecked", "sufficiency"],
    )
}

/// What is known of one step.
fn evidence() -> Value {
    let verification = json!({
        "required": flag(),
        "type": text_or_null(),
        "reference": text_or_null(),
        "passed": { "type": ["boolean", "null"] },
    });
    let gate = json!({
        "required": flag(),
        "required_mode": text_or_null(),
        "configured": text_or_null(),
        "result": text_or_null(),
        "mode": text_or_null(),
    });
    object(
        json!({
            "number": count(),
            "status": text(),
            "attempts": count(),
            "checked": flag(),
            "verification": object(verification, &["required", "passed"]),
            "gate": object(gate, &["required", "result", "mode"]),
            "block_reason": text_or_null(),
            "warnings": warnings(),
            "inputs": inputs(),
            "fork": { "type": "object" },
        }),
        &["number", "status", "attempts", "checked", "verification", "gate"],
    )
}

pub(super) fn findings() -> Value {
    let edit = object(
        json!({ "start": count(), "end": count(), "text": text() }),
        &["start", "end", "text"],
    );
    let fix =
        object_or_null(json!({ "title": text(), "edits": list_of(edit) }), &["title", "edits"]);
    let finding = object(
        json!({
            "code": text(),
            "severity": { "enum": ["error", "warning"] },
            "message": text(),
            "help": text_or_null(),
            "start": count(),
            "end": count(),
            "line": count(),
            "column": count(),
            "end_line": count(),
            "end_column": count(),
            "fix": fix,
        }),
        &["code", "severity", "message", "line", "column"],
    );
    let file = json!({ "path": text(), "diagnostics": list_of(finding) });
    let left_out = object(json!({ "path": text(), "reason": text() }), &["path", "reason"]);
    object(
        json!({
            "schema": { "const": "onloop.lint/v1" },
            "errors": count(),
            "warnings": count(),
            "files": list_of(object(file, &["path", "diagnostics"])),
            "skipped": list_of(left_out.clone()),
            "unreadable": list_of(left_out),
        }),
        &["schema", "errors", "warnings", "files"],
    )
}

pub(super) fn explanation() -> Value {
    let decision = json!({ "enum": ["allow", "ask", "deny"] });
    let command = object(
        json!({
            "name": text_or_null(),
            "words": list_of(text()),
            "about": text_or_null(),
            "class": text_or_null(),
            "table": text_or_null(),
            "source": text(),
            "containable": flag(),
            "to_change_it": text_or_null(),
            "depth": count(),
            "decision": decision,
            "rule": text_or_null(),
            "reason": text_or_null(),
        }),
        &["words", "decision"],
    );
    object(
        json!({
            "decision": decision,
            "rule": text(),
            "reason": text(),
            "commands": list_of(command),
            "notes": list_of(text()),
        }),
        &["decision", "rule", "reason", "commands"],
    )
}
