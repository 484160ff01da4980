//! A run on a fleet and the same run on one machine have the same record, report and receipt, apart
//! from place, time and machine.
#![cfg(unix)]

#[allow(dead_code, reason = "other programs need more")]
mod fleet;

use std::fs;
use std::time::Duration;

use fleet::Fleet;
use onloop_fleet::engine::{QueueState, ReadJournal};
use serde_json::Value;

const STEPS: &str = "- [ ] **Step 1: Open the door**
action: Write door.txt
loop: until it is open
max_iterations: 3
verify: test -f door.txt

- [ ] **Step 2: Count**
action: Write till.txt
loop: false
verify: test -f till.txt
";

/// An agent that completes both steps, the first of them in its second attempt.
const AGENT: &str = "case $ONLOOP_STEP$ONLOOP_ATTEMPT in 11) exit 0;; 12) touch door.txt;; *) touch till.txt;; esac";

/// Members of documents that depend on place, time and machine.
const PLACE: [&str; 13] = [
    "at",
    "prev",
    "sha256",
    "commit",
    "tree",
    "programs",
    "pid",
    "started",
    "boot",
    "host",
    "took_ms",
    "duration_ms",
    "revision",
];

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !PLACE.contains(&name.as_str()));
            members.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

fn stripped(document: &str) -> String {
    let mut value: Value = serde_json::from_str(document).expect("JSON");
    strip(&mut value);
    serde_json::to_string_pretty(&value).expect("JSON")
}

/// Returns the text with zeros in dates and times.
fn timeless(text: &str) -> String {
    let digits = |shape: &str, at: &str| {
        at.len() >= shape.len()
            && shape.bytes().zip(at.bytes()).all(|(wanted, found)| match wanted {
                b'0' => found.is_ascii_digit(),
                other => other == found,
            })
    };
    let mut shown = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let shape =
            ["0000-00-00T00:00:00", "00:00:00"].into_iter().find(|shape| digits(shape, rest));
        match shape {
            Some(shape) => {
                shown += "TIME";
                rest = &rest[shape.len()..];
                // A fraction of a second.
                let fraction = rest.strip_prefix('.').unwrap_or(rest);
                rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            }
            None => {
                shown.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    shown
}

#[test]
fn record_report_and_receipt_are_the_same_here_and_on_a_fleet() {
    let mut fleet = Fleet::new(Duration::from_secs(6));
    let run = fleet.submit(STEPS, AGENT);
    fleet.start_worker("one");
    fleet.wait(&run, |view| {
        matches!(view.state, QueueState::Finished { .. }) && view.holder.is_none()
    });
    let words = ["run", "hotl-workflow-sell.md", "--run-id", "here", "--agent-command", AGENT];
    let here = fleet.onloop(&words);
    assert!(here.status.success(), "{}", fleet.all(&here));

    let there = format!("{}/one/runs/{run}", fleet.folder());
    let same = |text: &str| {
        let text = text.replace(&format!("{there}/.hotl-worktrees"), "WORKTREES");
        let text = text.replace(&format!("{}/.hotl-worktrees", fleet.folder()), "WORKTREES");
        let text = text.replace(&format!("{there}/shop"), "SHOP").replace(&run, "here");
        timeless(&text.replace(&format!("{}/shop", fleet.folder()), "SHOP"))
    };
    let said = |words: &[&str]| {
        let output = fleet.onloop(words);
        assert!(output.status.success(), "{words:?} {}", fleet.all(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let ledger = |lines: &str| -> Vec<String> { same(lines).lines().map(stripped).collect() };
    let lines = fleet.client().call(&ReadJournal::now(&run)).expect("lines").lines;
    let own = fs::read_to_string(fleet.path("state/runs/here/ledger.jsonl")).expect("a ledger");
    assert_eq!(ledger(&lines), ledger(&own));
    let report = |id: &str| {
        let text = same(&said(&["report", id]));
        let (before, rest) = text.split_once("**Duration:** ").expect("how long it took");
        let (_, after) = rest.split_once(' ').expect("the end of the line");
        format!("{before}{after}")
    };
    assert_eq!(report(&run), report("here"));
    let receipt = |id: &str| stripped(&same(&said(&["receipt", id])));
    assert_eq!(receipt(&run), receipt("here"));
}
