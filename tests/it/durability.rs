//! Nothing that was said to be recorded is lost, whoever else writes and whoever is killed:
//! real processes on real files.

mod budgets;
mod concurrent;
mod kills;
mod resuming;
mod saved_states;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::workspace::Workspace;

/// How often a test with a random part is repeated: `ONLOOP_ROUNDS`, else `few`.
fn rounds(few: u64) -> u64 {
    let given = std::env::var("ONLOOP_ROUNDS").ok();
    given.map_or(few, |rounds| rounds.parse().expect("ONLOOP_ROUNDS is a number"))
}

/// A further member that makes any record too large to be rewritten at every transition.
fn ballast() -> String {
    "x".repeat(onloop_core::limits::RECORD_REWRITE_BYTES + 1024)
}

/// A record and its journal as they lie on disk, read without the program's own reader.
struct OnDisk {
    state: PathBuf,
    journal: PathBuf,
}

impl OnDisk {
    /// The files of the only run of a project.
    fn of(project: &Workspace) -> OnDisk {
        let state = only_state(&project.path(".hotl/state")).expect("there is a record");
        OnDisk { journal: state.with_extension("journal"), state }
    }

    /// The record. A file that is no JSON is a failure at any moment.
    #[track_caller]
    fn snapshot(&self) -> Value {
        let bytes = std::fs::read(&self.state).expect("the record is there");
        serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            panic!("{}: {error}\n{}", self.state.display(), String::from_utf8_lossy(&bytes))
        })
    }

    /// Lines of the journal that the record does not contain yet; a torn last line counts as
    /// never written.
    #[track_caller]
    fn journalled(&self, snapshot: &Value) -> Vec<Value> {
        let bytes = std::fs::read(&self.journal).unwrap_or_default();
        let text = String::from_utf8(bytes).expect("a journal is UTF-8");
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let lines = whole.lines().map(|line| -> Value {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
        });
        let folded = snapshot["revision"].as_u64().expect("a record has a revision");
        lines.filter(|line| line["revision"].as_u64().expect("so has a line") > folded).collect()
    }

    /// What happened how often: event names, with their step and, where it has one, the reason
    /// of a block or the decision at a gate.
    #[track_caller]
    fn tally(&self) -> BTreeMap<String, usize> {
        let snapshot = self.snapshot();
        let mut tally = BTreeMap::new();
        let mut count = |key: String| *tally.entry(key).or_insert(0) += 1;
        for event in snapshot["events"].as_array().expect("a record has events") {
            let text = event["text"].as_str().expect("an event has a text");
            count(key(event, text));
        }
        for line in self.journalled(&snapshot) {
            let said = ["reason", "decision"].map(|name| line[name].as_str().unwrap_or_default());
            count(key(&line, &said.concat()));
        }
        tally
    }

    /// The number of changes so far.
    #[track_caller]
    fn revision(&self) -> u64 {
        let snapshot = self.snapshot();
        let lines = self.journalled(&snapshot);
        let last = lines.last().unwrap_or(&snapshot);
        last["revision"].as_u64().expect("both have a revision")
    }
}

fn key(event: &Value, text: &str) -> String {
    let name = event["event"].as_str().expect("an event has a name");
    let step = event["step"].as_u64().unwrap_or_default();
    let detail = match name {
        "gate_decided" => ["approved", "rejected"].into_iter().find(|word| text.contains(word)),
        "step_blocked" | "run_finalized" => text.split_whitespace().last(),
        _ => None,
    };
    format!("{name} {step} {}", detail.unwrap_or_default()).trim_end().to_owned()
}

fn only_state(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut states = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let state = states.next();
    assert_eq!(states.next(), None, "there is one run");
    state
}
