//! Small runs and their events, for unit tests and for those of the ledger.

use std::num::NonZeroU32;

use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;
use onloop_workflow::*;

use super::*;

/// A run of `steps` at low risk without automatic approval.
pub(super) fn begin(steps: Vec<Step>) -> Run {
    begin_as(steps, Risk::Low, |_| {})
}

/// A run of `steps` at `risk`, begun with other settings.
pub(super) fn begin_as(steps: Vec<Step>, risk: Risk, change: impl FnOnce(&mut Beginning)) -> Run {
    begin_plan(Plan::example("demo", steps).with(|parts| parts.risk = risk), change)
}

/// A run of `plan`, begun with other settings.
pub(super) fn begin_plan(plan: Plan, change: impl FnOnce(&mut Beginning)) -> Run {
    let at = Timestamp::parse("2026-03-20T21:23:15Z").expect("a time");
    let place = Place {
        workflow_path: "/w/hotl-workflow-demo.md".to_owned(),
        execution_root: "/w".to_owned(),
        executor_mode: "none".to_owned(),
        slug: "demo".to_owned(),
        report_path: ".hotl/reports/demo-20260320T212315Z.md".to_owned(),
        ..Place::default()
    };
    let id = "demo-20260320T212315Z".to_owned();
    let mut beginning = Beginning { id, place, at, ..Beginning::default() };
    change(&mut beginning);
    Run::begin(&plan, beginning)
}

/// A step that is verified by one command.
pub(super) fn step(number: u32) -> Step {
    Step {
        number,
        name: format!("Name {number}"),
        action: "act".to_owned(),
        script: None,
        repeat: Loop::Never,
        checks: vec![Check::Shell(ShellCheck::new("true"))],
        gate: None,
        depends_on: None,
        baseline: false,
        may_change: Vec::new(),
        network: None,
        model: None,
        sensitive: false,
    }
}

pub(super) fn until(limit: u32) -> Loop {
    let limit = NonZeroU32::new(limit).expect("a positive limit");
    Loop::Until { condition: "it works".to_owned(), limit }
}

pub(super) fn result(check: u32, verdict: CheckVerdict) -> CheckResult {
    CheckResult {
        check,
        verdict,
        stdout: "said".to_owned(),
        stderr: String::new(),
        measured: None,
        at: None,
        warnings: Vec::new(),
        inputs: None,
    }
}

pub(super) fn passed(step: u32) -> Event {
    Event::StepVerified { step, results: vec![result(0, CheckVerdict::Passed)] }
}

pub(super) fn failed(step: u32) -> Event {
    let verdict = CheckVerdict::Failed { reason: "exit code 1".to_owned() };
    Event::StepVerified { step, results: vec![result(0, verdict)] }
}

pub(super) fn human(step: u32, decision: GateDecision) -> Event {
    Event::GateDecided { step, decision, mode: Mode::Human }
}

pub(super) fn turn(step: u32) -> TurnRecord {
    let tokens = Tokens { input: 5, cached_input: 2, output: 3 };
    TurnRecord {
        step,
        attempt: 1,
        agent: "codex".to_owned(),
        client_version: Some("0.169.0".to_owned()),
        session: Some("s-1".to_owned()),
        model: None,
        tokens: Some(tokens),
        session_tokens: Some(tokens.plus(tokens)),
        cost: None,
        prices_as_of: None,
        denied: 1,
        ending: Some(TurnEnding::Completed),
        is_idle: false,
        ended_at: None,
        calls: Vec::new(),
        more_calls: 0,
    }
}

pub(super) fn apply(run: &mut Run, events: &[Event]) {
    for event in events {
        let at = Timestamp::from_millis(run.last_update.as_millis() + 1000);
        run.apply(at, event).unwrap_or_else(|refusal| panic!("{event:?}: {refusal}"));
    }
}
