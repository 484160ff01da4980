//! The fleet's runs that this machine knows.

use std::path::Path;

use onloop_core::documents::fleet_run::{self, FleetRun};
use onloop_core::documents::ledger;

use crate::git::git;

/// A run of a fleet.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Its id.
    pub(crate) run_id: String,
    /// Where it is.
    pub(crate) run: FleetRun,
}

impl Mark {
    /// Brings the commits of its checkpoints to the checkout that it was submitted from, where that works:
    /// they are for comparing.
    pub(crate) fn fetch(&self) {
        let Mark { run_id, run: FleetRun { root, remote, .. } } = self;
        let names = format!("+refs/onloop/{run_id}/*:refs/onloop/{run_id}/fetched/{remote}/*");
        let _ = git(Path::new(root), &["fetch", "--quiet", "--no-tags", remote, &names]);
    }

    /// Whether its copy here says that it is over, so that nothing comes any more.
    pub(crate) fn is_over(&self, runs: &str) -> bool {
        let path = Path::new(runs).join(&self.run_id).join("ledger.jsonl");
        let read = std::fs::read(path).ok().and_then(|bytes| ledger::read(&bytes, None).ok());
        read.is_some_and(|ledger| ledger.run.is_over())
    }
}

/// Every one of them.
pub(crate) fn marked(runs: &str) -> Vec<Mark> {
    let Ok(entries) = std::fs::read_dir(runs) else { return Vec::new() };
    let mark = |entry: std::fs::DirEntry| {
        let bytes = std::fs::read(entry.path().join("fleet.json")).ok()?;
        let run = fleet_run::read(&bytes)?;
        Some(Mark { run_id: entry.file_name().into_string().ok()?, run })
    };
    entries.flatten().filter_map(mark).collect()
}
