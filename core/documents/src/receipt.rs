//! `hotl.receipt/v1`: what the record of a run proves, without any output text.

use serde_json::{Value, json};

use super::run::check_type;
use super::summary::{add_fork, finish_value, inputs, warnings};
use onloop_run::{GateRule, Run, StepRecord, StepStatus, gate_rule};
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Check, Gate};

/// The receipt of a run.
pub fn receipt(run: &Run) -> Value {
    let reasons = run.missing_evidence();
    json!({
        "schema": "hotl.receipt/v1",
        "run": {
            "run_id": run.id,
            "workflow_path": run.place.workflow_path,
            "workflow_slug": run.place.slug,
            "plan_digest": run.settings.plan_digest,
            "status": run.status.as_str(),
            "revision": run.revision,
            "branch": run.place.branch,
            "source_head": run.place.source_head,
            "started_at": run.started_at.to_rfc3339(),
            "completed_at": run.completed_at.map(Timestamp::to_rfc3339),
        },
        "implementation": { "driver": run.place.driver, "host": run.place.host },
        "evidence": run.steps.iter().map(|step| evidence(run, step)).collect::<Vec<_>>(),
        "unchecked": run.unchecked(),
        "checks_repeated_at_end": run.reverified,
        "verified_on": verified_on(run),
        "finish": finish_value(run.finish.as_ref()),
        "sufficiency": { "sufficient": reasons.is_empty(), "reasons": reasons },
        "redaction": { "contains_output": false, "contains_prompts": false },
    })
}

/// Where the checks ran last: in the worktree that the agent wrote, or on a clean checkout of it.
pub(super) fn verified_on(run: &Run) -> &'static str {
    match run.reverified && run.verified_clean {
        true => "clean_checkout",
        false => "worktree",
    }
}

fn evidence(run: &Run, record: &StepRecord) -> Value {
    let required_mode = match gate_rule(run, record) {
        GateRule::Open => None,
        GateRule::Automatic(_) => Some("auto"),
        GateRule::Human(_) => Some("human"),
    };
    let block_reason = match &record.status {
        StepStatus::Blocked(reason) => Some(reason.text()),
        StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Done
        | StepStatus::Failed { .. } => None,
    };
    let reference = match record.step.checks.as_slice() {
        [] => None,
        [check] => Some(reference(check)),
        several => Some(several.iter().map(reference).collect::<Vec<_>>().join("\n")),
    };
    let mut document = json!({
        "number": record.step.number,
        "status": record.status.as_str(),
        "attempts": record.attempts,
        "checked": run.is_checked(record),
        "verification": {
            "required": !record.step.checks.is_empty(),
            "type": check_type(&record.step.checks),
            "reference": reference,
            "passed": match record.status {
                StepStatus::Done => Some(true),
                StepStatus::Failed { .. } => Some(false),
                StepStatus::Pending | StepStatus::InProgress(_) | StepStatus::Blocked(_) => None,
            },
        },
        "gate": {
            "required": required_mode.is_some(),
            "required_mode": required_mode,
            "configured": record.step.gate.map(Gate::as_str),
            "result": record.gate.map(|gate| gate.decision.as_str()),
            "mode": record.gate.map(|gate| gate.mode.as_str()),
        },
        "block_reason": block_reason,
        "warnings": warnings(&record.results),
        "inputs": inputs(&record.results),
    });
    add_fork(&mut document, record);
    document
}

/// What was looked at, in the words of the plan.
pub(super) fn reference(check: &Check) -> String {
    match check {
        Check::Shell(shell) => shell.command.clone(),
        Check::Browser { url, check } => format!("{url} - {check}"),
        Check::HumanReview { prompt } => prompt.clone(),
        Check::Artifact { path, .. } => path.clone(),
    }
}
