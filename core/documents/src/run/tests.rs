//! Damaged records: what is missing or unknown is an error, never an empty value.

use serde_json::Value;

use super::*;
use onloop_run::*;
use onloop_syntax::time::Timestamp;
use onloop_workflow as workflow;

/// One of everything that a step can have.
const FILE: &str = "---
intent: show
success_criteria: shown
risk_level: high
max_cost_usd: 2.5
worktree: true
max_parallel: 2
---
### 1. First
action: do it
loop: until it works
max_iterations: 4
verify:
  - type: shell
    command: test -e a
    expect: fail
    timeout: 3s
    cwd: sub
    shell: sh
  - type: artifact
    path: out.txt
    assert:
      kind: contains
      value: done
gate: human

### 2. Second
action: make it

```sh
make
```

loop: false
verify:
  type: browser
  url: http://localhost/
  check: it is there
gate: auto

### 3. Third
action: do that
depends_on: [1]
loop: false
verify: make test
";

fn result(check: u32, verdict: CheckVerdict) -> CheckResult {
    CheckResult {
        check,
        verdict,
        stdout: "out".to_owned(),
        stderr: String::new(),
        measured: None,
        at: None,
        warnings: Vec::new(),
        inputs: None,
    }
}

/// Runs that have, together, every member that a record can have.
fn samples() -> Vec<Run> {
    let parsed = workflow::parse("hotl-workflow-a.md", FILE.as_bytes());
    let plan = parsed.plan.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    let beginning = Beginning {
        id: "a-1".to_owned(),
        place: Place::default(),
        at: Timestamp::EPOCH,
        auto_approve: false,
        reverify: true,
        review_agent: Some("claude".to_owned()),
        issue: Some("https://example.org/a/b/issues/1".to_owned()),
        issue_text: "It fails".to_owned(),
        pr_repairs: Some(3),
    };
    let mut run = Run::begin(&plan, beginning);
    let mut all = vec![run.clone()];
    let mut apply = |run: &mut Run, event: Event| {
        run.apply(Timestamp::EPOCH, &event).unwrap_or_else(|refusal| panic!("{refusal}"));
        all.push(run.clone());
    };
    let failed = CheckVerdict::Failed { reason: "exit code 1".to_owned() };
    let human = CheckVerdict::NeedsHuman { prompt: "look".to_owned() };
    let unable = CheckVerdict::CannotEvaluate { reason: "no browser".to_owned() };
    let decided = |step, decision| Event::GateDecided { step, decision, mode: Mode::Human };
    let reviewed = |step, verdict| Event::ReviewFinished {
        step,
        verdict,
        findings: "none".to_owned(),
        base: None,
    };
    let passed = |checks: u32| (0..checks).map(|n| result(n, CheckVerdict::Passed)).collect();
    for event in [
        Event::StepStarted { step: 1 },
        Event::StepActed { step: 1 },
        Event::StepVerified { step: 1, results: vec![result(0, failed)] },
        Event::StepStarted { step: 1 },
        Event::StepVerified { step: 1, results: passed(2) },
        reviewed(Some(1), Verdict::Block),
        Event::VerdictAccepted,
        decided(1, GateDecision::Rejected),
        decided(1, GateDecision::Approved),
        Event::StepStarted { step: 2 },
        Event::StepVerified { step: 2, results: vec![result(0, unable)] },
        Event::RunResumed,
        Event::StepVerified { step: 2, results: vec![result(0, human)] },
        decided(2, GateDecision::Approved),
        Event::StepStarted { step: 3 },
        Event::StepVerified { step: 3, results: passed(1) },
        reviewed(None, Verdict::Ready),
        Event::ChecksRepeated {
            repeated: 2,
            failures: Vec::new(),
            warnings: Vec::new(),
            clean: false,
        },
        Event::RunFinalized,
        Event::FinishIntended {
            act: FinishAct::Discard { commit: None },
            notes: None,
            replace: false,
        },
        Event::FinishRecorded {
            outcome: FinishOutcome::new(Disposition::Discarded),
            replace: false,
        },
    ] {
        apply(&mut run, event);
    }
    all
}

/// Calls `each` for every member of `value`: with its path, and the pointer to its object.
fn members(value: &Value, path: &str, pointer: &str, each: &mut dyn FnMut(&str, &str, &str)) {
    match value {
        Value::Object(inside) => {
            for (key, value) in inside {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{key}");
                each(&path, pointer, key);
                members(value, &path, &format!("{pointer}/{key}"), each);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let (path, pointer) = (format!("{path}[{index}]"), format!("{pointer}/{index}"));
                members(item, &path, &pointer, each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Members that are written only where they say something, or that came later.
fn may_be_missing(path: &str) -> bool {
    const OPTIONAL: [&str; 17] = [
        "last_failure.check",
        "last_failure.idle",
        "written.limits",
        "verify.passed",
        "expect",
        "timeout_ms",
        "cwd",
        "shell",
        ".verify.command",
        "].step",
        "].detail",
        "reviews.last",
        "options.issue",
        "options.issue_text",
        "options.pr_repairs",
        "max_parallel",
        "].depends_on",
    ];
    // What a shell check runs, what a script is made of, and the result of one check are not.
    let needed = path == "steps[2].verify.command"
        || path.contains(".script.")
        || path == "written.auto_approve"
        || path.starts_with("written.limits.")
        || (path.ends_with("verify.passed") && !path.starts_with("steps[0]"));
    let is_time_of_check = path.contains(".verify.") && path.ends_with(".at");
    is_time_of_check || !needed && OPTIONAL.iter().any(|end| path.ends_with(end))
}

#[test]
fn a_member_that_is_missing_or_renamed_is_named() {
    let mut seen = std::collections::BTreeSet::new();
    // Each member in a few of the samples: reading them all for each takes half a minute.
    let mut tried = std::collections::BTreeMap::<String, u32>::new();
    for run in samples() {
        let document: Value = serde_json::from_slice(&write(&run)).unwrap();
        members(&document.clone(), "", "", &mut |path, pointer, key| {
            let name = path.replace(|letter: char| letter.is_ascii_digit(), "");
            let times = tried.entry(name).or_default();
            *times += 1;
            for renamed in [false, true].into_iter().filter(|_| *times <= 4) {
                let mut damaged = document.clone();
                let inside = damaged.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
                let value = inside.remove(key).unwrap();
                if renamed {
                    inside.insert(format!("{key}_"), value);
                }
                match read(damaged.to_string().as_bytes()) {
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains(&format!("{key}`")), "{path}: {error}");
                        assert!(!may_be_missing(path), "{path}");
                    }
                    // Nothing comes nearer to its end by it.
                    Ok(read) => {
                        assert_eq!(read.next(), run.next(), "{path}");
                        assert!(may_be_missing(path), "{path} may be missing");
                    }
                }
            }
            seen.insert(key.to_owned());
        });
    }
    let all = [
        "schema",
        "written",
        "blocking",
        "verdict",
        "last_failure",
        "finish",
        "finish_intent",
        "since",
        "gate_result",
        "phase",
        "checks",
        "assert",
        "reason",
        "script",
        "events",
    ];
    for key in all {
        assert!(seen.contains(key), "no sample has `{key}`");
    }
}

#[test]
fn a_word_that_is_not_known_is_named_with_those_that_are() {
    let samples = samples();
    let documents: Vec<Value> =
        samples.iter().map(|run| serde_json::from_slice(&write(run)).unwrap()).collect();
    let table = [
        (
            "/status",
            "`status`: unknown variant `maybe`, expected one of `running`, `paused`, `blocked`, \
             `ready_to_finish`, `completed`, `abandoned`",
        ),
        (
            "/risk_level",
            "`risk_level`: unknown variant `maybe`, expected one of `low`, `medium`, `high`",
        ),
        (
            "/started_at",
            "`started_at`: invalid value: string \"maybe\", expected a time as in RFC 3339",
        ),
        (
            "/completed_at",
            "`completed_at`: invalid value: string \"maybe\", expected a time as in RFC 3339",
        ),
        (
            "/events/0/at",
            "`events[0].at`: invalid value: string \"maybe\", expected a time as in RFC 3339",
        ),
        (
            "/reviews/blocking/verdict",
            "`reviews.blocking.verdict`: unknown variant `maybe`, expected one of `READY`, \
             `READY WITH WARNINGS`, `NOT READY`, `NO VERDICT`, `NOT REVIEWED`",
        ),
        (
            "/steps/0/status",
            "`steps[0].status`: unknown variant `maybe`, expected one of `pending`, \
             `in_progress`, `done`, `failed`, `blocked`",
        ),
        (
            "/steps/0/phase",
            "`steps[0].phase`: unknown variant `maybe`, expected one of `acting`, `acted`, \
             `interrupted`",
        ),
        ("/steps/0/loop", "`steps[0].loop`: is \"maybe\", expected `false` or `until …`"),
        ("/steps/0/gate", "`steps[0].gate`: unknown variant `maybe`, expected `human` or `auto`"),
        (
            "/steps/0/gate_result",
            "`steps[0].gate_result`: unknown variant `maybe`, expected `approved` or `rejected`",
        ),
        (
            "/steps/0/gate_mode",
            "`steps[0].gate_mode`: unknown variant `maybe`, expected `auto` or `human`",
        ),
        (
            "/steps/1/script/shell",
            "`steps[1].script.shell`: unknown variant `maybe`, expected one of `bash`, `sh`, \
             `pwsh`, `cmd`",
        ),
        (
            "/steps/1/verify/type",
            "`steps[1].verify`: unknown variant `maybe`, expected one of `shell`, `browser`, \
             `human-review`, `artifact`",
        ),
        (
            "/steps/0/verify/checks/0/expect",
            "`steps[0].verify`: unknown variant `maybe`, expected `pass` or `fail`",
        ),
        (
            "/steps/0/verify/checks/1/assert/kind",
            "`steps[0].verify`: unknown variant `maybe`, expected one of `exists`, `contains`, \
             `matches-glob`",
        ),
        (
            "/steps/1/verify/verdict",
            "`steps[1].verify`: unknown variant `maybe`, expected one of `passed`, `failed`, \
             `needs_human`, `cannot_evaluate`",
        ),
        (
            "/finish/disposition",
            "`finish`: unknown variant `maybe`, expected one of `kept`, `merged`, `published`, \
             `discarded`",
        ),
        (
            "/finish_intent/disposition",
            "`finish_intent`: unknown variant `maybe`, expected one of `merged`, `published`, \
             `discarded`",
        ),
        (
            "/finish_intent/since",
            "`finish_intent.since`: invalid value: string \"maybe\", expected a time as in RFC \
             3339",
        ),
    ];
    for (pointer, expected) in table {
        let has = |document: &&Value| document.pointer(pointer).is_some_and(Value::is_string);
        let mut damaged = documents.iter().find(has).expect(pointer).clone();
        *damaged.pointer_mut(pointer).unwrap() = "maybe".into();
        let error = read(damaged.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("damaged record: {expected}"));
    }
}
