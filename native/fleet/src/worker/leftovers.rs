//! The names that finished runs leave in a repository on this machine. Git keeps each in a file of its own,
//! which every later push reads; servers of repositories see to that themselves.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::git::git;

/// How many finished runs of a repository are packed together.
const RUNS: usize = 32;
/// Most of them that are remembered where packing does not work.
const RUNS_MAX: usize = 1024;

/// Finished runs whose names are not packed yet, by repository.
#[derive(Debug, Default)]
pub(crate) struct Leftovers(Mutex<BTreeMap<String, Vec<String>>>);

impl Leftovers {
    /// Remembers that a run is over. Once there are many, their names move into the one file in which git
    /// keeps those that do not change.
    pub(crate) fn add(&self, repository: &str, run_id: &str) {
        if !Path::new(repository).is_absolute() {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = all.entry(repository.to_owned()).or_default();
        runs.push(run_id.to_owned());
        if !runs.len().is_multiple_of(RUNS) {
            return;
        }
        let taken = std::mem::take(runs);
        // Others are not kept from saying what they have finished.
        drop(all);
        if pack(repository, &taken) || taken.len() >= RUNS_MAX {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(repository.to_owned()).or_default().extend(taken);
    }
}

/// Whether it worked. Those of runs that go on stay where they are: whoever pushes them would find them
/// locked. A git older than 2.43 does not know how, and one that packs at the same time is in the way.
fn pack(repository: &str, runs: &[String]) -> bool {
    let patterns: Vec<String> = runs
        .iter()
        .flat_map(|run| ["--include".to_owned(), format!("refs/onloop/{run}/*")])
        .collect();
    let mut words = vec!["--git-dir=.", "pack-refs"];
    words.extend(patterns.iter().map(String::as_str));
    // It may be a checkout.
    let folder = Path::new(repository).join(".git");
    let folder = if folder.is_dir() { folder } else { Path::new(repository).to_owned() };
    git(&folder, &words).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_finished_runs_are_packed_and_others_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_string_lossy().into_owned();
        let run = |words: &[&str]| git(folder.path(), words).expect("git");
        run(&["init", "--quiet", "--bare"]);
        let tree = run(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let commit = run(&[&who[..], &["commit-tree", "-m", "Begin", &tree]].concat());
        let name = |run_id: &str| format!("refs/onloop/{run_id}/1-1");
        let leftovers = Leftovers::default();
        run(&["update-ref", &name("open"), &commit]);
        for over in 0..RUNS {
            let id = format!("over-{over}");
            run(&["update-ref", &name(&id), &commit]);
            leftovers.add(&path, &id);
            leftovers.add("git@example.org:shop", &id);
            assert_eq!(folder.path().join(name(&id)).exists(), over + 1 < RUNS);
        }
        assert!(folder.path().join(name("open")).exists());
        let named = run(&["for-each-ref", "--format=%(objectname)", "refs/onloop"]);
        assert_eq!(named.lines().count(), RUNS + 1);
        assert!(named.lines().all(|there| there == commit));
    }
}
