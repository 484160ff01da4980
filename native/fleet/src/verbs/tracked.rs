//! The fleet's runs that this machine tracks: those with a `fleet.json` beside their ledger.

use std::path::Path;

use onloop_core::documents::fleet_run::{self, FleetRun};
use onloop_core::documents::ledger;
use onloop_core::run::is_run_id;

use crate::client::Client;
use crate::clone::{self, REMOTE};
use crate::engine::{EngineError, QueueState, ReadJournal};
use crate::git::git;
use crate::submit;

/// A run of a fleet.
#[derive(Clone, Debug)]
pub(crate) struct TrackedRun {
    /// Its id.
    pub(crate) run_id: String,
    /// Its fleet and its checkout.
    pub(crate) run: FleetRun,
}

impl TrackedRun {
    /// Fetches the commits of its checkpoints to the checkout that it was submitted from, for
    /// comparisons.
    pub(crate) fn fetch(&self) {
        let TrackedRun { run_id, run: FleetRun { root, remote, .. } } = self;
        let Some(root) = root else { return };
        let names = format!("+refs/onloop/{run_id}/*:refs/onloop/{run_id}/fetched/{remote}/*");
        let _ = git(Path::new(root), &["fetch", "--quiet", "--no-tags", remote, &names]);
    }

    /// Whether its copy is finished, so that the journal does not grow.
    pub(crate) fn is_over(&self, runs: &str) -> bool {
        let path = Path::new(runs).join(&self.run_id).join("ledger.jsonl");
        let read = std::fs::read(path).ok().and_then(|bytes| ledger::read(&bytes, None).ok());
        read.is_some_and(|ledger| ledger.run.is_over())
    }
}

/// Tracks the fleet runs that a command line names and that were submitted on another machine.
pub(super) fn discover(argv: &[String], runs: &str, server: &str, client: &Client) {
    let is_unknown = |id: &&str| is_run_id(id) && !Path::new(runs).join(id).exists();
    for id in named(argv).into_iter().filter(is_unknown) {
        let found = match client.call(&ReadJournal::now(id)) {
            Ok(found) => found,
            // The command that needs the server reports it.
            Err(EngineError::Unreachable { .. }) => return,
            // The word may not be an id; a warning would be wrong then.
            Err(error) => {
                if matches!(error, EngineError::Invalid { .. }) {
                    eprintln!("warning: run {id}: {error}");
                }
                continue;
            }
        };
        if matches!(found.view.state, QueueState::Local { .. }) {
            continue;
        }
        let here = std::env::current_dir().unwrap_or_default();
        let root = clone::checkout_of(&here, &found.view.repository);
        let run = FleetRun {
            server: server.to_owned(),
            root: root.map(|root| root.to_string_lossy().into_owned()),
            remote: REMOTE.to_owned(),
        };
        // The failure has been printed, and the verb reports an unknown run.
        let _ = submit::remember(id, run);
    }
}

/// Returns the words of a command line that may be ids of runs.
fn named(argv: &[String]) -> Vec<&str> {
    // After these verbs come the number of a step and a subcommand.
    let has_other_words = argv.get(1).is_some_and(|verb| verb == "step" || verb == "gate");
    let words: Vec<&str> = argv.iter().skip(2).map(String::as_str).collect();
    let mut named = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_value = at > 0 && words[at - 1] == "--run-id";
        match word.strip_prefix("--run-id=") {
            Some(id) => named.push(id),
            None if is_value || !(has_other_words || word.starts_with('-')) => named.push(word),
            None => {}
        }
    }
    named
}

/// Returns all tracked runs.
pub(crate) fn tracked_runs(runs: &str) -> Vec<TrackedRun> {
    let Ok(entries) = std::fs::read_dir(runs) else { return Vec::new() };
    let mark = |entry: std::fs::DirEntry| {
        let bytes = std::fs::read(entry.path().join("fleet.json")).ok()?;
        let run = fleet_run::read(&bytes)?;
        Some(TrackedRun { run_id: entry.file_name().into_string().ok()?, run })
    };
    entries.flatten().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_the_id_of_a_run_is_asked_about() {
        let table = [
            ("onloop step 1 start", ""),
            ("onloop step 1 verify --run-id a-1", "a-1"),
            ("onloop gate 1 approved --run-id=a-1", "a-1"),
            ("onloop status a-1 --json", "a-1"),
            ("onloop status", ""),
        ];
        for (line, ids) in table {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(named(&argv).join(" "), ids, "{line}");
        }
    }
}
