//! Follows runs of the fleet that a person watches: it updates their local copies until the process ends.

use std::collections::BTreeSet;
use std::path::Path;

use onloop::host::{Changes, Interrupts, OsChanges, Root};
use onloop_core::effect::ProcessIdentity;

use super::tracked::{TrackedRun, tracked_runs};
use super::{LOOK_MS, PAUSE, log_tail, pull};
use crate::client::Client;

/// Longest time without a look at which runs there are; the system tells of new ones.
const NOTICE_MS: u64 = 60_000;

/// Follows runs.
#[derive(Clone)]
pub(super) struct Follower {
    /// The folder of all runs.
    pub(super) runs: String,
    /// The fleet's server.
    pub(super) client: Client,
    /// This process, for the locks of copies.
    pub(super) process: ProcessIdentity,
}

impl Follower {
    /// Keeps the copy of one run up to date, and hears its agent.
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

    /// Does the same for runs that are handed over from now on, besides those that are `known`.
    pub(super) fn notice(&self, mut known: BTreeSet<String>) {
        let watching = self.clone();
        std::thread::spawn(move || {
            let Ok(interrupts) = Interrupts::new() else { return };
            let mut changes = OsChanges::new(Root::new("/"), &interrupts);
            // Without a watch of the file system there is nothing to wait for.
            while changes.changes(&watching.folders(), NOTICE_MS).is_ok() {
                for mark in tracked_runs(&watching.runs) {
                    if known.insert(mark.run_id.clone()) {
                        watching.begin(mark);
                    }
                }
            }
        });
    }

    /// Where something new shows: among the runs, or where their folder will be, and in a folder of one that
    /// has no record yet, which may be about to become tracked.
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
