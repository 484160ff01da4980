//! Nothing that was said to be recorded is lost, whoever else writes and whoever is killed:
//! real processes on real files.

mod budgets;
mod concurrent;
mod finishes;
mod kills;
mod resuming;
mod saved_states;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use onloop_core::documents;
use serde_json::Value;

use crate::workspace::Workspace;

/// A further member that makes any record too large to be rewritten at every transition.
fn ballast() -> String {
    "x".repeat(onloop_core::limits::RECORD_REWRITE_BYTES + 1024)
}

/// The ledger of a run as it lies on disk, read without the program's own store.
struct OnDisk {
    ledger: PathBuf,
    copy: PathBuf,
}

impl OnDisk {
    /// The files of the only run of a project.
    fn of(project: &Workspace) -> OnDisk {
        let ids = project.kept_ids();
        let [id] = ids.as_slice() else { panic!("one run was expected: {ids:?}") };
        let copy = project.path(&format!(".hotl/state/{id}.json"));
        OnDisk { ledger: project.kept(id, "ledger.jsonl"), copy }
    }

    /// The record that the ledger makes. One that is damaged is a failure at any moment.
    #[track_caller]
    fn snapshot(&self) -> Value {
        let bytes = std::fs::read(&self.ledger).expect("the ledger is there");
        let ledger = documents::ledger::read(&bytes, None).unwrap_or_else(|error| {
            panic!("{}: {error}\n{}", self.ledger.display(), String::from_utf8_lossy(&bytes))
        });
        serde_json::from_slice(&documents::run::write(&ledger.run)).expect("a record is JSON")
    }

    /// What happened how often: event names, with their step and, where it has one, the reason
    /// of a block or the decision at a gate.
    #[track_caller]
    fn tally(&self) -> BTreeMap<String, usize> {
        let snapshot = self.snapshot();
        let mut tally = BTreeMap::new();
        for event in snapshot["events"].as_array().expect("a record has events") {
            let text = event["text"].as_str().expect("an event has a text");
            *tally.entry(key(event, text)).or_insert(0) += 1;
        }
        tally
    }

    /// The number of changes so far.
    #[track_caller]
    fn revision(&self) -> u64 {
        self.snapshot()["revision"].as_u64().expect("a record has a revision")
    }

    /// The files as they are now, for [`OnDisk::restore`].
    fn save(&self) -> (Vec<u8>, Vec<u8>) {
        let read = |path: &Path| std::fs::read(path).expect("the file is there");
        (read(&self.ledger), read(&self.copy))
    }

    /// Makes the files what they were; nothing remembers what has been written since.
    fn restore(&self, (ledger, copy): &(Vec<u8>, Vec<u8>)) {
        std::fs::write(&self.ledger, ledger).unwrap();
        std::fs::write(&self.copy, copy).unwrap();
        let _ = std::fs::remove_file(self.ledger.with_file_name("head.json"));
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
