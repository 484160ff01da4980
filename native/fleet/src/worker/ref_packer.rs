//! Packs the refs and objects that finished runs leave in a repository on this machine. Git stores each ref in
//! a file, and many files slow down pushes. Hosted repositories pack them themselves.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::git::{git, tidy};

/// Finished runs of a repository that are packed together.
const RUNS: usize = 32;
/// Most runs that are remembered while packing fails.
const RUNS_MAX: usize = 1024;

/// Finished runs whose names are not packed yet, by repository.
#[derive(Debug, Default)]
pub(crate) struct RefPacker(Mutex<BTreeMap<String, Vec<String>>>);

impl RefPacker {
    /// Adds a finished run. Once there are many, git moves their refs into its file of packed refs.
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
        // Packing takes time, so other runs must not wait for the lock.
        drop(all);
        if pack(repository, &taken) || taken.len() >= RUNS_MAX {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(repository.to_owned()).or_default().extend(taken);
    }
}

/// Packs the refs of these runs; returns whether git could. Other refs are not packed, because packing
/// locks them against pushes. Git before 2.42 cannot do this, and only one git at a time can.
fn pack(repository: &str, runs: &[String]) -> bool {
    let patterns: Vec<String> = runs
        .iter()
        .flat_map(|run| ["--include".to_owned(), format!("refs/onloop/{run}/*")])
        .collect();
    let mut words = vec!["--git-dir=.", "pack-refs"];
    words.extend(patterns.iter().map(String::as_str));
    // The repository may be a checkout.
    let folder = Path::new(repository).join(".git");
    let folder = if folder.is_dir() { folder } else { Path::new(repository).to_owned() };
    let packed = git(&folder, &words).is_ok();
    // Otherwise a push would do it while its caller waits. A failure has no consequences.
    let _ = tidy(&folder);
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bare repository with a commit.
    fn repository() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |words: &[&str]| git(folder.path(), words).expect("git");
        run(&["init", "--quiet", "--bare"]);
        let tree = run(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let commit = run(&[&who[..], &["commit-tree", "-m", "Begin", &tree]].concat());
        (folder, commit)
    }

    #[test]
    fn objects_are_packed_once_there_are_as_many_as_the_repository_says() {
        let shop = repository();
        let folder = shop.0.path();
        for setting in [["gc.auto", "1"], ["gc.autoDetach", "false"]] {
            git(folder, &["config", setting[0], setting[1]]).expect("git");
        }
        // Git estimates the number of objects from those whose id begins with 17.
        let files: Vec<String> = (0..1500).map(|number| format!("hooks/{number}")).collect();
        for file in &files {
            std::fs::write(folder.join(file), file).expect("a file");
        }
        let mut words = vec!["hash-object", "-w", "--"];
        words.extend(files.iter().map(String::as_str));
        git(folder, &words).expect("git");
        let packs = || std::fs::read_dir(folder.join("objects/pack")).expect("packs").count();
        assert_eq!(packs(), 0);
        add(&RefPacker::default(), &shop, &(0..RUNS).collect::<Vec<_>>());
        assert!(packs() > 0);
    }

    /// Adds finished runs with these numbers.
    fn add(packer: &RefPacker, (folder, commit): &(tempfile::TempDir, String), runs: &[usize]) {
        let path = folder.path().to_string_lossy();
        for over in runs {
            let id = format!("over-{over}");
            let name = format!("refs/onloop/{id}/1-1");
            git(folder.path(), &["update-ref", &name, commit]).expect("git");
            packer.add(&path, &id);
        }
    }

    /// Returns the number of runs with loose refs.
    fn loose(folder: &Path) -> usize {
        let runs = std::fs::read_dir(folder.join("refs/onloop")).expect("names");
        runs.filter(|run| run.as_ref().expect("a run").path().join("1-1").exists()).count()
    }

    #[test]
    fn names_of_finished_runs_are_packed_and_others_are_not() {
        let shop = repository();
        let (folder, commit) = (shop.0.path(), &shop.1);
        git(folder, &["update-ref", "refs/onloop/open/1-1", commit]).expect("git");
        let packer = RefPacker::default();
        let runs: Vec<usize> = (0..RUNS).collect();
        add(&packer, &shop, &runs[1..]);
        assert_eq!(loose(folder), RUNS, "with the open one");
        add(&packer, &shop, &runs[..1]);
        assert_eq!(loose(folder), 1, "the open one");
        let named = git(folder, &["for-each-ref", "--format=%(objectname)", "refs/onloop"]);
        let named = named.expect("git");
        assert_eq!(named.lines().filter(|there| there == commit).count(), RUNS + 1);
    }

    #[test]
    fn what_could_not_be_packed_is_packed_with_the_next() {
        let shop = repository();
        let folder = shop.0.path();
        let packer = RefPacker::default();
        let lock = folder.join("packed-refs.lock");
        std::fs::write(&lock, "").expect("a file");
        add(&packer, &shop, &(0..RUNS).collect::<Vec<_>>());
        assert_eq!(loose(folder), RUNS, "another git packs");
        std::fs::remove_file(&lock).expect("it is there");
        add(&packer, &shop, &(RUNS..2 * RUNS).collect::<Vec<_>>());
        assert_eq!(loose(folder), 0);
        // The machine of a remote repository packs it.
        packer.add("git@example.org:shop", "over-0");
        assert!(!packer.0.lock().expect("no panic").contains_key("git@example.org:shop"));
    }
}
