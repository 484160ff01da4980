//! Follows runs of the fleet that a person watches: it updates their local copies until the process ends.

use std::collections::BTreeSet;
use std::path::Path;

use onloop::host::{Interrupts, OsChanges, Root};
use onloop_core::effect::ProcessIdentity;

use super::tracked::{TrackedRun, tracked_runs};
use super::{LOOK_MS, PAUSE, log_tail, pull};
use crate::client::Client;

/// Longest time between two searches for new runs; the system reports most of them.
const NOTICE_MS: u64 = 60_000;

/// Follows runs.
#[derive(Clone)]
pub(super) struct Follower {
    /// The folder of all runs.
    pub(super) runs: String,
    /// The fleet's server.
    pub(super) client: Client,
    /// This process, which locks the copies.
    pub(super) process: ProcessIdentity,
}

impl Follower {
    /// Updates the copy of one run and its log until the process ends.
    pub(super) fn begin(&self, mark: TrackedRun) {
        if mark.is_over(&self.runs) {
            return;
        }
        log_tail::follow(&self.runs, mark.clone(), &self.client);
        let watching = self.clone();
        std::thread::spawn(move || {
            let Follower { runs, client, process } = watching;
            while !mark.is_over(&runs) {
                match pull(&runs, &mark, &client, LOOK_MS, &process) {
                    Ok(()) => mark.fetch(),
                    Err(_) => std::thread::sleep(PAUSE),
                }
            }
        });
    }

    /// Also follows runs that are submitted from now on and are not `known`.
    pub(super) fn notice(&self, mut known: BTreeSet<String>) {
        let watching = self.clone();
        std::thread::spawn(move || {
            let Ok(interrupts) = Interrupts::new() else { return };
            let mut changes = OsChanges::new(Root::new("/"), &interrupts);
            // Without a watch of the file system there are no events.
            while changes.changes(&watching.folders(), NOTICE_MS).is_ok() {
                for mark in tracked_runs(&watching.runs) {
                    if known.insert(mark.run_id.clone()) {
                        watching.begin(mark);
                    }
                }
            }
        });
    }

    /// Returns the folders to watch: that of all runs or its parent, and those of runs without a
    /// record, which may become tracked.
    fn folders(&self) -> Vec<String> {
        let above = Path::new(&self.runs).ancestors().find(|folder| folder.is_dir());
        let mut folders = Vec::from_iter(above.map(|folder| folder.to_string_lossy().into_owned()));
        let entries = std::fs::read_dir(&self.runs).into_iter().flatten().flatten();
        let is_bare = |path: &Path| {
            let has = |name: &str| path.join(name).exists();
            path.is_dir() && !has("ledger.jsonl") && !has("fleet.json")
        };
        let bare = entries.map(|entry| entry.path()).filter(|path| is_bare(path));
        folders.extend(bare.map(|path| path.to_string_lossy().into_owned()));
        folders
    }
}
