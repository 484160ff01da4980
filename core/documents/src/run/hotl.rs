//! Imports the records of `hotl-rt`, which has no `schema`: brings one into the present form.
//!
//! Members that every version of `hotl-rt` writes stay as they are, so that the reader refuses a
//! record without them. It accepts more words than onloop does; each of those asks a person.

use serde_json::{Map, Value, json};

use super::SCHEMA;
use onloop_syntax::text;

type Members = Map<String, Value>;

/// Members of a run that may be `null`, where agents also wrote the word `null`.
const OPTIONAL: [&str; 9] = [
    "source_workflow_path",
    "source_branch",
    "source_head",
    "branch",
    "repo_root",
    "worktree_path",
    "driver",
    "host",
    "completed_at",
];

/// Members that a run of `hotl-rt` always has where it writes them; later ones need not.
const LATER: [&str; 7] = [
    "source_workflow_path",
    "source_branch",
    "source_head",
    "repo_root",
    "worktree_path",
    "driver",
    "host",
];

/// Members of an outcome.
const FINISH: [&str; 8] = [
    "recorded_at",
    "target_branch",
    "remote",
    "pr_url",
    "branch_action",
    "worktree_action",
    "artifacts_preserved_at",
    "notes",
];

/// Brings the record of a run of `hotl-rt` into the present form.
pub(super) fn import(run: &mut Members) {
    run.insert("schema".to_owned(), json!(SCHEMA));
    for name in LATER {
        run.entry(name).or_insert(Value::Null);
    }
    for name in OPTIONAL {
        clear_if_blank(run, name);
    }
    for name in ["workflow_slug", "execution_root", "executor_mode"] {
        replace_blank(run, name, json!(""));
    }
    if let Some(started_at) = run.get("started_at").cloned() {
        run.entry("last_update").or_insert(started_at);
    }
    let id = run.get("run_id").and_then(Value::as_str).unwrap_or_default();
    let report = format!(".hotl/reports/{id}.md");
    if run.contains_key("report_path") {
        replace_blank(run, "report_path", json!(report));
    }
    add_budgets(run);
    add_absent(
        run,
        json!({
            "revision": 0,
            "plan_digest": "",
            "written": null,
            "options": {
                "progress_verbose": false,
                "report_full": false,
                "no_reverify": false,
                "review_agent": null,
            },
            "reviews": {
                "base": null,
                "reviewed_step": 0,
                "finally_reviewed": false,
                "blocking": null,
            },
            "reverified": false,
            "finish": null,
            "finish_intent": null,
            "acting": null,
            "finished_commit": null,
            "checkpoints": [],
            "events": [],
        }),
    );
    import_finish(run);
    let steps = run.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten().filter_map(Value::as_object_mut) {
        import_step(step);
    }
}

/// Adds the members of `defaults` that `members` does not have.
fn add_absent(members: &mut Members, defaults: Value) {
    let Value::Object(defaults) = defaults else { return };
    for (name, value) in defaults {
        members.entry(name).or_insert(value);
    }
}

/// Whether a member says nothing: agents passed the word `null` for values they did not know.
fn is_blank(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(value) => value == "" || value == "null",
    }
}

fn clear_if_blank(members: &mut Members, name: &str) {
    if let Some(value) = members.get_mut(name)
        && is_blank(Some(value))
    {
        *value = Value::Null;
    }
}

fn replace_blank(members: &mut Members, name: &str, value: Value) {
    if is_blank(members.get(name)) {
        members.insert(name.to_owned(), value);
    }
}

/// The object `name`, which is added where it is absent.
fn object<'m>(members: &'m mut Members, name: &str) -> Option<&'m mut Members> {
    replace_blank(members, name, json!({}));
    members.get_mut(name).and_then(Value::as_object_mut)
}

fn add_budgets(run: &mut Members) {
    let Some(budgets) = object(run, "budgets") else { return };
    if let Some(limits) = object(budgets, "limits") {
        let unlimited = json!({
            "total_attempts": null, "agents": null, "cost_usd": null, "elapsed_minutes": null,
        });
        add_absent(limits, unlimited);
    }
    if let Some(observed) = object(budgets, "observed") {
        // `null` means here that nothing was observed.
        for name in ["agents", "cost_usd", "tokens", "active_ms"] {
            replace_blank(observed, name, json!(0));
        }
        add_absent(observed, json!({ "unknown_usage": [] }));
    }
}

fn import_finish(run: &mut Members) {
    let Some(finish) = run.get_mut("finish") else { return };
    if is_blank(finish.get("disposition")) {
        *finish = Value::Null;
        return;
    }
    let Value::Object(finish) = finish else { return };
    for name in FINISH {
        finish.entry(name).or_insert(Value::Null);
        clear_if_blank(finish, name);
    }
}

fn import_step(step: &mut Members) {
    let status = step.get("status").and_then(Value::as_str).unwrap_or_default();
    let (phase, failure) = match status {
        "in_progress" => (json!("acting"), Value::Null),
        "failed" => (Value::Null, json!("verify failed")),
        _ => (Value::Null, Value::Null),
    };
    let is_blocked = status == "blocked";
    add_absent(
        step,
        json!({
            "script": null,
            "uncounted_attempts": 0,
            "security_sensitive": false,
            "last_failure": null,
            "phase": phase,
            "failure_reason": failure,
        }),
    );
    for name in ["started_at", "completed_at", "gate", "gate_result", "gate_mode"] {
        clear_if_blank(step, name);
    }
    if is_blocked {
        import_block(step);
    }
    if let Some(word) = step.get_mut("loop")
        && is_blank(Some(word))
    {
        *word = json!("false");
    }
    import_gate(step);
    if let Some(verify) = step.get_mut("verify") {
        import_verify(verify);
    }
}

/// `hotl-rt` says only in words what blocks a step.
fn import_block(step: &mut Members) {
    let reason = step.get("block_reason").and_then(Value::as_str).unwrap_or_default().to_owned();
    let block = match reason.strip_prefix("human review required") {
        Some(prompt) => {
            let prompt = prompt.trim_start_matches(':').trim();
            json!({ "what": "human_review", "prompt": prompt })
        }
        None if reason == "human review rejected" => json!({ "what": "review_rejected" }),
        None => json!({ "what": "other" }),
    };
    step.insert("blocked_by".to_owned(), block);
    if step.get("block_reason").is_some_and(Value::is_null) {
        step.insert("block_reason".to_owned(), json!(""));
    }
}

/// A gate of an unknown kind asks a person; a decision other than `approved` rejects.
fn import_gate(step: &mut Members) {
    let mut replace = |name: &str, known: &str, other: Value| {
        if let Some(word) = step.get_mut(name)
            && !word.is_null()
            && word != known
        {
            *word = other;
        }
    };
    replace("gate", "auto", json!("human"));
    replace("gate_result", "approved", json!("rejected"));
    replace("gate_mode", "auto", json!("human"));
    if step.get("gate_result").is_some_and(Value::is_null) {
        step.insert("gate_mode".to_owned(), Value::Null);
    } else if step.get("gate_mode").is_some_and(Value::is_null) {
        step.insert("gate_mode".to_owned(), json!("human"));
    }
}

fn import_verify(verify: &mut Value) {
    let Value::Object(check) = verify else { return };
    if check.get("type").is_some_and(|kind| kind == "multi") {
        let checks = check.get_mut("checks").and_then(Value::as_array_mut);
        for check in checks.into_iter().flatten().filter_map(Value::as_object_mut) {
            import_check(check);
        }
        return;
    }
    let is_shell = check.get("type").is_some_and(|kind| kind == "shell");
    let is_empty = |command: &Value| command.as_str().is_some_and(|line| line.trim().is_empty());
    // A step without `verify` has an empty command.
    if is_shell && check.get("command").is_some_and(is_empty) {
        *verify = Value::Null;
    } else {
        import_check(check);
    }
}

fn import_check(check: &mut Members) {
    check.retain(|_, value| !value.is_null());
    if let Some(kind) = check.get("type").and_then(Value::as_str)
        && !["shell", "browser", "human-review", "artifact"].contains(&kind)
    {
        // `hotl-rt` accepted any word; only a person knows what it means.
        let prompt = format!("unsupported verify type: {}", text::one_line(kind));
        check.insert("type".to_owned(), json!("human-review"));
        check.insert("prompt".to_owned(), json!(prompt));
    }
    import_glob(check);
    let word = match check.get("passed") {
        Some(Value::Bool(true)) => "passed",
        Some(Value::Bool(false)) => "failed",
        _ => return,
    };
    add_absent(check, json!({ "verdict": word, "stdout": "", "stderr": "" }));
    if word == "failed" {
        add_absent(check, json!({ "reason": "" }));
    }
}

/// Moves the folder of a glob into the path: older versions looked for both together.
fn import_glob(check: &mut Members) {
    let Some(glob) = check.get_mut("assert").filter(|assert| assert["kind"] == "matches-glob")
    else {
        return;
    };
    let value = glob["value"].as_str().unwrap_or_default();
    let Some((folder, name)) =
        value.rsplit_once('/').filter(|(folder, _)| !folder.contains(['*', '?', '[']))
    else {
        return;
    };
    let (folder, name) = (folder.to_owned(), name.to_owned());
    glob["value"] = json!(name);
    let path = check.get("path").and_then(Value::as_str).unwrap_or_default().trim_end_matches('/');
    let path = match path {
        "" | "." => folder,
        path => format!("{path}/{folder}"),
    };
    check.insert("path".to_owned(), json!(path));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_records_have_no_last_update_and_folders_in_globs() {
        let started_at = "2026-03-20T21:23:15+00:00";
        for (path, glob, expected) in [
            (".", "charts/*.yaml", ("charts", "*.yaml")),
            ("out/", "a/b/*", ("out/a/b", "*")),
            ("out", "*.md", ("out", "*.md")),
            ("out", "*/x.md", ("out", "*/x.md")),
        ] {
            let assert = json!({ "kind": "matches-glob", "value": glob });
            let verify =
                json!({ "type": "artifact", "command": null, "path": path, "assert": assert });
            let mut run = json!({ "started_at": started_at, "steps": [{ "verify": verify }] });
            import(run.as_object_mut().unwrap());
            assert_eq!(run["last_update"], started_at);
            let check = &run["steps"][0]["verify"];
            let found =
                (check["path"].as_str().unwrap(), check["assert"]["value"].as_str().unwrap());
            assert_eq!(found, expected);
        }
    }
}
