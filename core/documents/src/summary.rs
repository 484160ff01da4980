//! The summary of a run as JSON, for agents and scripts.

use serde_json::{Value, json};

use super::receipt::verified_on;
use onloop_run::{
    CheckResult, CheckVerdict, Finish, Run, RunStatus, StepRecord, StepStatus, TurnRecord,
};
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;

/// The summary payload, with the keys that older runtimes print.
pub fn summary(run: &Run) -> Value {
    let current = if run.is_over() { Vec::new() } else { run.current_steps() };
    let count = |wanted: &str| run.steps.iter().filter(|s| s.status.as_str() == wanted).count();
    let place = &run.place;
    json!({
        "run_id": run.id,
        "workflow_path": place.workflow_path,
        "source_workflow_path": place.source_workflow_path,
        "source_branch": place.source_branch,
        "source_head": place.source_head,
        "workflow_slug": place.slug,
        "intent": run.settings.intent,
        "branch": place.branch,
        "repo_root": place.repo_root,
        "execution_root": place.execution_root,
        "worktree_path": place.worktree_path,
        "executor_mode": place.executor_mode,
        "driver": place.driver,
        "host": place.host,
        "status": run.status.as_str(),
        "started_at": run.started_at.to_rfc3339(),
        "last_update": run.last_update.to_rfc3339(),
        "completed_at": run.completed_at.map(Timestamp::to_rfc3339),
        "current_step": current.first(),
        "current_steps": current,
        "total_steps": run.steps.len(),
        "completed_steps": count("done"),
        "failed_steps": count("failed"),
        "blocked_steps": count("blocked"),
        "unchecked": run.unchecked(),
        "verified_on": verified_on(run),
        "report_path": place.report_path,
        "finish": finish_value(run.finish.as_ref()),
        "pull_request": run.pull_request,
        "usage": run_usage(run),
        "confined": run.sandboxes,
        "review": run.reviews.last.as_ref().map(|last| json!({
            "step": last.step,
            "verdict": last.verdict.as_str(),
            "findings": last.findings,
        })),
        "steps": run.steps.iter().map(|s| step(run, s)).collect::<Vec<_>>(),
    })
}

/// How one step of a run stands, and the run: `{"run_id", "status", "step"}`, where `step` is as in
/// [`summary`]; `None`: the run has no such step.
pub fn step_summary(run: &Run, number: u32) -> Option<Value> {
    let record = run.step(number)?;
    let status = run.status.as_str();
    Some(json!({ "run_id": run.id, "status": status, "step": step(run, record) }))
}

fn step(run: &Run, record: &StepRecord) -> Value {
    let block_reason = match &record.status {
        StepStatus::Blocked(reason) => Some(reason.text()),
        StepStatus::Failed { reason } if run.status == RunStatus::Blocked => Some(reason.clone()),
        StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Done
        | StepStatus::Failed { .. } => None,
    };
    let turns: Vec<&TurnRecord> =
        run.turns.iter().filter(|turn| turn.step == record.step.number).collect();
    let last = turns.last();
    let mut document = json!({
        "number": record.step.number,
        "name": record.step.name,
        "status": record.status.as_str(),
        "attempts": record.attempts,
        "verify_passed": verify_passed(record),
        "checked": run.is_checked(record),
        "gate_result": record.gate.map(|gate| gate.decision.as_str()),
        "gate_mode": record.gate.map(|gate| gate.mode.as_str()),
        "block_reason": block_reason,
        "warnings": warnings(&record.results),
        "inputs": inputs(&record.results),
        "agent": last.map(|turn| &turn.agent),
        "session": last.and_then(|turn| turn.session.as_ref()),
        "denied": turns.iter().fold(0u64, |sum, turn| sum.saturating_add(turn.denied)),
        "usage": match turns.is_empty() {
            true => usage(None, None),
            false => marked(usage(tokens(&turns), cost(&turns)), &turns),
        },
    });
    add_fork(&mut document, record);
    document
}

/// Adds how a step worked beside others, where it did.
pub(super) fn add_fork(document: &mut Value, record: &StepRecord) {
    if let Some(fork) = &record.fork {
        document["fork"] = json!(fork);
    }
}

/// What became of the work; all members are `null` where that is not settled.
pub(super) fn finish_value(finish: Option<&Finish>) -> Value {
    finish.map_or_else(
        || {
            json!({
                "disposition": null,
                "target_branch": null,
                "remote": null,
                "pr_url": null,
                "branch_action": null,
                "worktree_action": null,
                "artifacts_preserved_at": null,
                "notes": null,
                "recorded_at": null,
            })
        },
        |finish| json!(finish),
    )
}

/// What there is to warn about these results, each with the number of its check, from 1, and a
/// sentence.
pub(super) fn warnings(results: &[CheckResult]) -> Value {
    let found = results.iter().flat_map(|result| {
        result.warnings.iter().map(|warning| {
            let mut shown = json!(warning);
            shown["check"] = json!(result.check + 1);
            shown["text"] = json!(warning.to_string());
            shown
        })
    });
    found.collect()
}

/// The changed files that each of these checks opened, with the number of the check, from 1. A check
/// whose files were not observed has `observed: false`.
pub(super) fn inputs(results: &[CheckResult]) -> Value {
    let found = results.iter().map(|result| {
        json!({
            "check": result.check + 1,
            "observed": result.inputs.is_some(),
            "files": result.inputs.as_ref().map_or(&[][..], |inputs| &inputs.files),
            "more": result.inputs.as_ref().map_or(0, |inputs| inputs.more),
        })
    });
    found.collect()
}

/// Tokens and their cost; `null` where nobody can tell.
fn usage(tokens: Option<Tokens>, cost: Option<Money>) -> Value {
    json!({
        "input_tokens": tokens.map(|tokens| tokens.input),
        "cached_input_tokens": tokens.map(|tokens| tokens.cached_input),
        "output_tokens": tokens.map(|tokens| tokens.output),
        "cost_usd": cost.map(Money::usd),
    })
}

/// What all agents used. Tokens are known when every agent's stream told of them. An agent that drives a
/// run by verbs may tell nothing.
pub(super) fn run_usage(run: &Run) -> Value {
    if run.is_driven_by_verbs() && run.usage.agents == 0 {
        return usage(None, None);
    }
    let turns: Vec<&TurnRecord> = run.turns.iter().collect();
    let is_all = run.usage.agents == turns.iter().filter(|turn| turn.counts()).count() as u64;
    marked(usage(tokens(&turns).filter(|_| is_all), run.usage.cost.known()), &turns)
}

/// `usage` of these turns, with the earliest day of the prices by which a part of its cost was
/// estimated.
fn marked(mut usage: Value, turns: &[&TurnRecord]) -> Value {
    let day = turns.iter().filter_map(|turn| turn.prices_as_of.as_deref()).min();
    if let Some(day) = day.filter(|_| !usage["cost_usd"].is_null()) {
        usage["cost_estimated_as_of"] = Value::from(day);
    }
    usage
}

/// The tokens of these turns; `None` where those of one are not known.
fn tokens(turns: &[&TurnRecord]) -> Option<Tokens> {
    turns.iter().try_fold(Tokens::default(), |sum, turn| Some(sum.plus(turn.tokens?)))
}

/// The cost of these turns; `None` where that of one is not known.
fn cost(turns: &[&TurnRecord]) -> Option<Money> {
    turns.iter().try_fold(Money::ZERO, |sum, turn| Some(sum.saturating_add(turn.cost?)))
}

/// `null` until there is a result.
fn verify_passed(record: &StepRecord) -> Option<bool> {
    match record.status {
        StepStatus::Done => Some(true),
        StepStatus::Failed { .. } => Some(false),
        StepStatus::Pending | StepStatus::InProgress(_) => None,
        StepStatus::Blocked(_) => record
            .results
            .iter()
            .any(|r| matches!(r.verdict, CheckVerdict::Failed { .. }))
            .then_some(false),
    }
}
