//! What a run proves about a commit, as a statement of in-toto.

use serde_json::{Value, json};

use super::ledger::{Ledger, sha256};
use super::receipt::{reference, verified_on};
use super::run::{check_type, verdict_parts};
use super::summary::{run_usage, warnings};
use onloop_run::{GateDecision, Mode, Run, RunStatus, StepRecord};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The form of statements.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// What the statement says, in the vocabulary of in-toto.
const PREDICATE: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// Name and version of what we add to that.
const SCHEMA: &str = "onloop.evidence/v1";

/// Why nothing can be stated; a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStatement {
    /// No commit has what was verified.
    #[error("no commit holds what was verified; there are commits in a git repository only")]
    NoCommit,
    /// The run is not done.
    #[error("it is not completed")]
    NotCompleted,
}

/// The commit that the statement is about: the one that was handed on, else the last one that was
/// verified.
pub fn subject(run: &Run) -> Option<&str> {
    let verified = run.verified_checkpoint().map(|checkpoint| checkpoint.commit.as_str());
    run.finished_commit.as_deref().or(verified)
}

/// The statement about a completed run; `ledger` are the bytes that `read` was read from.
///
/// # Errors
///
/// Why there is nothing to state.
pub fn statement(read: &Ledger, ledger: &[u8]) -> Result<Value, NoStatement> {
    let run = &read.run;
    if run.status != RunStatus::Completed {
        return Err(NoStatement::NotCompleted);
    }
    let commit = subject(run).ok_or(NoStatement::NoCommit)?;
    let name = run.place.branch.as_deref().unwrap_or("commit");
    let mut subjects = vec![json!({ "name": name, "digest": { "gitCommit": commit } })];
    if let Some(kept) = run.verified_checkpoint() {
        let name = format!("refs/onloop/{}/{}", run.id, kept.moment.name());
        let digest = json!({ "gitCommit": kept.commit, "gitTree": kept.tree });
        subjects.push(json!({ "name": name, "digest": digest }));
    }
    let (mut passed, mut warned) = (Vec::new(), Vec::new());
    for record in &run.steps {
        for result in &record.results {
            let name = format!("step {}, check {}", record.step.number, result.check + 1);
            let names = if result.warnings.is_empty() { &mut passed } else { &mut warned };
            names.push(name);
        }
    }
    let workflow = run.place.workflow_path.rsplit(['/', '\\']).next().unwrap_or_default();
    let digest = json!({ "sha256": run.settings.plan_digest });
    Ok(json!({
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {
            "result": if warned.is_empty() && run.unchecked() == 0 { "PASSED" } else { "WARNED" },
            "configuration": [{ "name": workflow, "digest": digest }],
            "passedTests": passed,
            "warnedTests": warned,
            "failedTests": [],
            "onloop": evidence(read, ledger),
        },
    }))
}

fn evidence(read: &Ledger, ledger: &[u8]) -> Value {
    let run = &read.run;
    let mut evidence = json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "run_id": run.id,
        "intent": text::one_line(&run.settings.intent),
        "started_at": run.started_at.to_rfc3339(),
        "completed_at": run.completed_at.map(Timestamp::to_rfc3339),
        "ledger": { "seq": read.head.seq, "sha256": read.head.sha256 },
        "checks": run.steps.iter().flat_map(checks).collect::<Vec<_>>(),
        "unchecked_steps": unchecked_steps(run),
        "checks_repeated_at_end": run.reverified,
        "verified_on": verified_on(run),
        "decisions": decisions(ledger),
        "confinement": run.sandboxes,
        "agents": agents(run),
        "usage": run_usage(run),
    });
    let merges: Vec<Value> = run.steps.iter().filter_map(merge).collect();
    if !merges.is_empty() {
        evidence["merges"] = merges.into();
    }
    evidence
}

/// The merge by which the work of a step that worked beside others came into the run.
fn merge(record: &StepRecord) -> Option<Value> {
    let fork = record.fork.as_ref()?;
    let commit = fork.merged.as_ref()?;
    let (step, run, base) = (record.step.number, &fork.run, &fork.base);
    let conflicts = fork.conflicts.len();
    Some(
        json!({ "step": step, "run": run, "base": base, "commit": commit, "conflicts": conflicts }),
    )
}

/// The numbers of steps that are done although nothing verified them.
fn unchecked_steps(run: &Run) -> Vec<u32> {
    let unchecked = run.steps.iter().filter(|record| !run.is_checked(record));
    unchecked.map(|record| record.step.number).collect()
}

fn checks(record: &StepRecord) -> Vec<Value> {
    let mut checks = Vec::new();
    for result in &record.results {
        let Some(check) = record.step.checks.get(result.check as usize) else { continue };
        let (verdict, ..) = verdict_parts(&result.verdict);
        // A NUL is in neither of them.
        let output = [result.stdout.as_bytes(), b"\0", result.stderr.as_bytes()].concat();
        checks.push(json!({
            "step": record.step.number,
            "check": result.check + 1,
            "type": check_type(std::slice::from_ref(check)),
            "command_sha256": sha256(reference(check).as_bytes()),
            "verdict": verdict.as_str(),
            "exit_code": result.measured.and_then(|measured| measured.exit_code),
            "duration_ms": result.measured.map(|measured| measured.duration_ms),
            "output_sha256": sha256(&output),
            "warnings": warnings(std::slice::from_ref(result)),
            "inputs_observed": result.inputs.is_some(),
        }));
    }
    checks
}

/// What somebody or the rules decided, with who and through which channel, where the ledger says it.
fn decisions(ledger: &[u8]) -> Vec<Value> {
    const KEPT: [&str; 9] =
        ["seq", "at", "event", "step", "decision", "mode", "verdict", "reason", "by"];
    let mut decisions = Vec::new();
    for line in ledger.split(|byte| *byte == b'\n') {
        let Ok(Value::Object(members)) = serde_json::from_slice(line) else { continue };
        let event = members.get("event").and_then(Value::as_str).unwrap_or_default();
        let decides = ["gate_decided", "verdict_accepted", "review_finished", "taken_over"];
        if decides.contains(&event) {
            let kept = members.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str()));
            decisions.push(Value::Object(kept.collect()));
        }
    }
    decisions
}

/// A decision at a gate, with who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Number of the step, from 1.
    pub step: u32,
    /// What was decided.
    pub decision: GateDecision,
    /// By a person, or by the rules.
    pub mode: Mode,
    /// The account, where it is known, and the channel through which it came.
    pub by: Option<(Option<String>, String)>,
    /// When, as the ledger has it.
    pub at: String,
}

/// The decisions at gates, as the lines of a ledger tell them.
pub fn decided(ledger: &[u8]) -> Vec<Decided> {
    let of = |decision: &Value| {
        let word = |name: &str| decision[name].as_str().map(str::to_owned);
        let by = &decision["by"];
        let channel = by["channel"].as_str().map(str::to_owned);
        Some(Decided {
            step: decision["step"].as_u64()?.try_into().ok()?,
            decision: word("decision")?.parse().ok()?,
            mode: word("mode")?.parse().ok()?,
            by: channel.map(|channel| (by["user"].as_str().map(str::to_owned), channel)),
            at: word("at")?,
        })
    };
    let lines = decisions(ledger);
    lines.iter().filter(|line| line["event"] == "gate_decided").filter_map(of).collect()
}

/// Each agent that worked, with its model, the version that its client told of itself, and in which
/// steps.
fn agents(run: &Run) -> Vec<Value> {
    type Who<'a> = (&'a str, Option<&'a str>, Option<&'a str>);
    let mut agents: Vec<(Who<'_>, Vec<u32>)> = Vec::new();
    for turn in &run.turns {
        let who = (turn.agent.as_str(), turn.model.as_deref(), turn.client_version.as_deref());
        match agents.iter_mut().find(|(known, _)| *known == who) {
            Some((_, steps)) if steps.contains(&turn.step) => {}
            Some((_, steps)) => steps.push(turn.step),
            None => agents.push((who, vec![turn.step])),
        }
    }
    let shown = agents.into_iter();
    shown
        .map(|((agent, model, version), steps)| {
            json!({ "agent": agent, "model": model, "version": version, "steps": steps })
        })
        .collect()
}

/// What a statement says, for people: one line each. What is missing in it is left out.
pub fn describe(statement: &Value) -> Vec<String> {
    let predicate = &statement["predicate"];
    let word = |value: &Value| value.as_str().map(text::one_line);
    let count = |name: &str| predicate[name].as_array().map_or(0, Vec::len) as u64;
    let (passed, warned) = (count("passedTests"), count("warnedTests"));
    let checks = text::counted(passed + warned, "check");
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{name:<9}{value}")));
    };
    line("run", word(&predicate["onloop"]["run_id"]));
    line("commit", word(&statement["subject"][0]["digest"]["gitCommit"]));
    let result = word(&predicate["result"]);
    line("result", result.map(|result| format!("{result} ({checks}, {warned} with warnings)")));
    line("ledger", word(&predicate["onloop"]["ledger"]["sha256"]));
    lines
}
