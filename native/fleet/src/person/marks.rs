//! The fleet's runs that this machine knows.

use std::path::Path;
use std::time::Duration;

use onloop_core::documents::fleet_run::{self, FleetRun};
use onloop_core::documents::ledger;
use onloop_core::run::is_run_id;

use crate::calls::Calls;
use crate::clone::{self, REMOTE};
use crate::engine::{EngineError, Rest};
use crate::submit;

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
        let Some(root) = root else { return };
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

/// Learns of the runs of the fleet that a command line names and this machine has not heard of: they were
/// handed over elsewhere.
pub(super) fn learn(argv: &[String], runs: &str, server: &str, calls: &dyn Calls) {
    let words = argv.iter().skip(2).map(|word| word.split_once('=').map_or(&**word, |(_, id)| id));
    for id in words.filter(|word| is_run_id(word) && !Path::new(runs).join(word).exists()) {
        let found = match calls.lines(id, 0, Duration::ZERO) {
            Ok(found) => found,
            // Whoever needs it says so.
            Err(EngineError::Unreachable { .. }) => return,
            Err(_) => continue,
        };
        if matches!(found.view.rest, Rest::Home { .. }) {
            continue;
        }
        let here = std::env::current_dir().unwrap_or_default();
        let root = clone::checkout_of(&here, &found.view.repository);
        let run = FleetRun {
            server: server.to_owned(),
            root: root.map(|root| root.to_string_lossy().into_owned()),
            remote: REMOTE.to_owned(),
        };
        // Why it cannot be remembered has been said; the verb says that it does not know the run.
        let _ = submit::remember(id, run);
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
