//! Runs whose host says that its ledger is far away: what is over soon is recorded with what it has done.

use onloop_core::effect::Request;
use onloop_tests::{SimHost, SimProcess};
use serde_json::Value;

use super::{RUN, assert_finished_well, carry_on, machine};

/// Longer than anything takes on the machine, if it does not hang.
const QUICK_MS: u64 = 15;

pub(super) fn quick_machine() -> SimHost {
    with_quick_ms(QUICK_MS)
}

fn with_quick_ms(quick_ms: u64) -> SimHost {
    let mut machine = machine();
    machine.quick_ms = quick_ms;
    machine
}

/// What happened, in the order of the ledger.
fn events(machine: &SimHost) -> Vec<String> {
    let files = machine.disk.files("/state/runs");
    let ledger = files.iter().find(|path| path.ends_with("/ledger.jsonl")).expect("a ledger");
    let event = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        format!("{} {}", line["event"], line["kind"])
    };
    machine.disk.text(ledger).lines().map(event).collect()
}

fn appends(machine: &SimHost) -> usize {
    let is_ledger = |request: &&Request| matches!(request, Request::Append { path, .. } if path.ends_with("/ledger.jsonl"));
    machine.requests.iter().filter(is_ledger).count()
}

#[test]
fn the_same_is_recorded_at_half_as_many_times() {
    let (mut usual, mut quick) = (machine(), quick_machine());
    carry_on(&mut usual);
    carry_on(&mut quick);
    assert_finished_well(&quick, "quick");
    assert_eq!(events(&quick), events(&usual));
    let (usual, quick) = (appends(&usual), appends(&quick));
    assert!(quick * 2 <= usual + 4, "{quick} times instead of {usual}");
}

#[test]
fn what_takes_longer_is_recorded_while_it_runs() {
    let long = |quick_ms| {
        let mut machine = with_quick_ms(quick_ms);
        for program in ["check-built", "check-shipped", "check-told"] {
            machine.on(program, |_, _| SimProcess {
                duration_ms: 10 * QUICK_MS,
                ..SimProcess::exit(0, "")
            });
        }
        machine.run(RUN);
        let started = machine.requests.iter().filter_map(|request| match request {
            Request::Append { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
        let last: Vec<String> =
            started.map(|lines| lines.lines().last().unwrap_or_default().to_owned()).collect();
        last.iter()
            .filter(|line| line.contains("\"event\":\"work_started\",\"worker\":\"check\""))
            .count()
    };
    assert!(long(0) > 0);
    assert_eq!(long(QUICK_MS), long(0));
}
