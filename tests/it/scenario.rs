//! Whole runs on a simulated machine that fails at every moment it can.

mod crashes;
mod failures;
mod interleaving;
mod quick;
mod tools;

use onloop_core::documents::{self, ledger};
use onloop_core::effect::{Exit, Failure, FailureKind, GitRequest, Outcome, ProcessSpec};
use onloop_tests::{Disk, Ended, SimHost, SimProcess};
use serde_json::Value;

use crate::run::workflow;

const FILE: &str = "/demo/hotl-workflow-w.md";
const RUN: &[&str] = &["onloop", "run", "--mode", "none", "--agent-command", "the-agent"];
const RESUME: &[&str] = &["onloop", "resume", "--agent-command", "the-agent"];

/// Three steps: one that needs two attempts, one with a human gate, and one whose end is
/// looked at by a person after a machine has.
const STEPS: &str = "\
- [ ] **Step 1: Build**
action: build it
loop: until it is built
max_iterations: 3
verify: check-built

- [ ] **Step 2: Ship**
action: ship it
loop: false
verify: check-shipped
gate: human

- [ ] **Step 3: Tell**
action: tell everybody
loop: false
verify:
  - type: human-review
    prompt: read it
  - type: shell
    command: check-told
";

/// A machine on which `the-agent` does what its step says: `/demo/built` counts how often it
/// built, and two is enough; `shipped` and `told` are files.
fn machine() -> SimHost {
    let mut machine = SimHost::new();
    machine.disk.put(FILE, workflow("", STEPS));
    machine.on("the-agent", act);
    let exists = |path: &'static str| {
        move |disk: &mut Disk, _: &ProcessSpec| {
            SimProcess::exit(i32::from(disk.get(path).is_none()), "looked\n")
        }
    };
    machine.on("check-built", |disk, _| {
        let enough = disk.get("/demo/built").is_some_and(|bytes| bytes.len() >= 2);
        SimProcess::exit(i32::from(!enough), "counted\n")
    });
    machine.on("check-shipped", exists("/demo/shipped"));
    machine.on("check-told", exists("/demo/told"));
    machine
}

fn act(disk: &mut Disk, spec: &ProcessSpec) -> SimProcess {
    let variable = |wanted: &str| spec.env_set.get(wanted).map_or("", String::as_str);
    match variable("ONLOOP_STEP") {
        "1" => {
            let built = [disk.get("/demo/built").unwrap_or_default(), b"x"].concat();
            disk.put("/demo/built", built);
        }
        "2" => disk.put("/demo/shipped", "x"),
        "3" => disk.put("/demo/told", "x"),
        other => panic!("there is no step `{other}`"),
    }
    SimProcess::exit(0, "acted\n")
}

/// Does what a person does until the run is over: continues, approves, mends nothing.
/// Returns how the last program ended.
fn carry_on(machine: &mut SimHost) -> Ended {
    for _ in 0..12 {
        let ended = match unfinished(machine) {
            None if !completed(machine) => machine.run(RUN),
            None => return Ended::Exit(Exit::Done),
            Some(record) => match waiting_for(&record) {
                Some(step) => machine.run(&["onloop", "gate", &step.to_string(), "approved"]),
                None => machine.run(RESUME),
            },
        };
        assert!(
            matches!(ended, Ended::Exit(Exit::Done | Exit::Paused)),
            "{ended:?}\n{}",
            machine.notes()
        );
    }
    panic!("twelve programs did not finish the run\n{}", machine.notes());
}

/// The step whose gate, or review, a person has to decide.
pub(crate) fn waiting_for(record: &Value) -> Option<u64> {
    if record["status"] != "paused" {
        return None;
    }
    let steps = record["steps"].as_array().expect("a run has steps");
    let waits = |step: &&Value| {
        let gate =
            step["status"] == "done" && step["gate"] == "human" && step["gate_result"].is_null();
        let reason = step["block_reason"].as_str().unwrap_or_default();
        gate || step["status"] == "blocked" && reason.starts_with("human review required")
    };
    steps.iter().find(waits).and_then(|step| step["number"].as_u64())
}

/// All records on the disk; one that cannot be read is a failure.
fn records(machine: &SimHost) -> Vec<Value> {
    let files = machine.disk.files("/state/runs");
    let ledgers = files.iter().filter(|path| path.ends_with("/ledger.jsonl"));
    ledgers
        .map(|path| {
            let bytes = machine.disk.get(path).expect("it was listed");
            let ledger = ledger::read(bytes, None);
            let run = ledger.unwrap_or_else(|error| panic!("{path} was damaged: {error}")).run;
            serde_json::from_slice(&documents::run::write(&run)).expect("a record is JSON")
        })
        .collect()
}

fn unfinished(machine: &SimHost) -> Option<Value> {
    records(machine).into_iter().find(|record| record["status"] != "completed")
}

fn completed(machine: &SimHost) -> bool {
    records(machine).iter().any(|record| record["status"] == "completed")
}

/// What of a record does not depend on when, and how often, things were done.
pub(crate) fn essence(record: &Value) -> String {
    let mut essence = format!("{} {}\n", record["status"], record["reverified"]);
    for step in record["steps"].as_array().expect("a run has steps") {
        let of = |name: &str| step[name].to_string();
        let checks = match &step["verify"]["checks"] {
            Value::Array(checks) => checks.clone(),
            _ => vec![step["verify"].clone()],
        };
        let passed: Vec<String> = checks.iter().map(|check| check["passed"].to_string()).collect();
        essence += &format!(
            "{} {} {} {} {passed:?}\n",
            of("number"),
            of("status"),
            of("gate_result"),
            of("gate_mode")
        );
    }
    essence
}

/// A completed run is what an undisturbed one is, and everything that mirrors it agrees.
#[track_caller]
fn assert_finished_well(machine: &SimHost, about: &str) {
    let record = records(machine)
        .into_iter()
        .find(|record| record["status"] == "completed")
        .unwrap_or_else(|| panic!("{about}: nothing was completed\n{}", machine.notes()));
    assert_eq!(essence(&record), undisturbed(), "{about}\n{}", machine.notes());
    for made in ["built", "shipped", "told"] {
        assert!(machine.disk.get(&format!("/demo/{made}")).is_some(), "{about}: {made} is missing");
    }
    let ticked = machine.disk.text(FILE).matches("- [x] **Step").count();
    assert_eq!(ticked, 3, "{about}: checkboxes\n{}", machine.disk.text(FILE));
    let report = format!("/demo/.hotl/reports/{}.md", record["run_id"].as_str().unwrap());
    assert!(machine.disk.text(&report).contains("**Status:** completed"), "{about}");
}

/// Nobody holds anything any more.
#[track_caller]
fn assert_unlocked(machine: &SimHost, about: &str) {
    assert_eq!(machine.disk.files("/demo/.hotl/locks"), Vec::<String>::new(), "{about}");
}

/// The essence of a run that nothing disturbs.
fn undisturbed() -> String {
    let step =
        |number: u32, gate: &str, checks: &str| format!("{number} \"done\" {gate} {checks}\n");
    let approved = "\"approved\" \"human\"";
    let one = "[\"true\"]";
    [
        "\"completed\" true\n".to_owned(),
        step(1, "null null", one),
        step(2, approved, one),
        step(3, approved, "[\"true\", \"true\"]"),
    ]
    .concat()
}

/// Everything that was said to have happened is in the record: a step said to be done, or to
/// have failed an attempt, has its event.
#[track_caller]
fn assert_nothing_said_was_lost(machine: &SimHost, about: &str) {
    let said = machine.notes();
    let records = records(machine);
    let logged = |part: &str| {
        records.iter().any(|record| {
            let events = record["events"].as_array().expect("a record has events");
            events.iter().any(|event| event.to_string().contains(part))
        })
    };
    for step in 1..=3 {
        for (line, event) in [
            (format!("✓ Step {step}: "), format!("Step {step}: ")),
            (format!("✗ Step {step}: "), format!("✗ Step {step}: ")),
            (format!("→ Step {step}: "), format!("→ Step {step}: ")),
            (format!("↻ Step {step}: "), format!("↻ Step {step}: ")),
        ] {
            assert!(!said.contains(&line) || logged(&event), "{about}: `{line}` was lost\n{said}");
        }
    }
    let gates = machine.results();
    for step in 2..=3 {
        if gates.contains(&format!(" {step}: approved (human)")) {
            assert!(logged(&format!("Step {step}: approved (human)")), "{about}: gate {step}");
        }
    }
}

/// The number of requests of a whole undisturbed run.
fn length_of_a_run(mut machine: SimHost) -> usize {
    carry_on(&mut machine);
    assert_finished_well(&machine, "undisturbed");
    assert_eq!(machine.disk.text("/demo/built"), "xx");
    machine.requests.len()
}

/// Git that cannot do anything.
fn broken_git(_: &mut Disk, _: &GitRequest) -> Result<Outcome, Failure> {
    Err(Failure::new(FailureKind::Other, "git is broken"))
}
