//! Git as a program.

use std::collections::BTreeSet;

use onloop_core::effect::{Command, ProcessSpec};

use super::{SimRepository, Tree, tree_id};
use crate::SimProcess;

/// The tree without files.
const NO_FILES: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl SimRepository {
    /// # Panics
    ///
    /// When this command of git is not simulated.
    pub(super) fn program(&mut self, spec: &ProcessSpec) -> SimProcess {
        let Command::Argv(words) = &spec.command else { panic!("git is not run by a shell") };
        let mut words = words[1..].iter().map(String::as_str);
        let verb = loop {
            match words.next().expect("git is told what to do") {
                "-c" => drop(words.next()),
                option if option.starts_with("--") => {}
                verb => break verb,
            }
        };
        let words: Vec<&str> = words.collect();
        match (verb, words.as_slice()) {
            ("version", []) => SimProcess::exit(0, "git version 2.45.1\n"),
            ("hash-object", ["-t", "tree", "--stdin"]) => {
                SimProcess::exit(0, &format!("{NO_FILES}\n"))
            }
            ("merge-tree", [.., ours, theirs]) => self.merge_tree(ours, theirs),
            ("commit-tree", [tree, "-p", ours, "-p", theirs, "-m", _]) => {
                let trees = 0..self.trees.len();
                let tree = trees.into_iter().find(|at| tree_id(*at) == *tree).expect("a tree");
                let files = self.trees[tree].clone();
                let commit = self.commit(files, vec![(*ours).to_owned(), (*theirs).to_owned()]);
                SimProcess::exit(0, &format!("{commit}\n"))
            }
            ("diff-tree", ["-r", "-z", form, "--no-renames", from, to]) => {
                self.diff_tree(*form == "--raw", from, to)
            }
            ("for-each-ref", ["--format=%(refname:lstrip=3)", folder]) => {
                let names = self.refs.keys().filter_map(|name| name.strip_prefix(folder));
                // The names after `refs/heads/onloop`.
                SimProcess::exit(0, &names.map(|name| format!("{name}\n")).collect::<String>())
            }
            ("update-ref", [name, commit]) => {
                self.refs.insert((*name).to_owned(), (*commit).to_owned());
                SimProcess::exit(0, "")
            }
            (verb, words) => panic!("the simulated git does not know {verb} {words:?}"),
        }
    }

    /// The files that differ, with their modes or without.
    fn diff_tree(&self, with_modes: bool, from: &str, to: &str) -> SimProcess {
        let files = |commit: &str| self.files(commit).expect("callers name commits").clone();
        let (from, to) = (files(from), files(to));
        let paths: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        let changed = paths.into_iter().filter(|path| from.get(*path) != to.get(*path));
        let modes = if with_modes { ":100644 100644 0 0 M\0" } else { "" };
        let said: String = changed.map(|path| format!("{modes}{path}\0")).collect();
        SimProcess::exit(0, &said)
    }

    /// Merges file by file: one that both have changed is a conflict, unless both did the same.
    fn merge_tree(&mut self, ours: &str, theirs: &str) -> SimProcess {
        let [ours, theirs] = [ours, theirs].map(|name| self.refs[name].clone());
        let (ours, theirs) = (&*ours, &*theirs);
        let base = self.merge_base(ours, theirs);
        let files = |commit: &str| self.files(commit).expect("callers name commits").clone();
        let (base, ours, theirs) = (files(&base), files(ours), files(theirs));
        let (mut merged, mut conflicts) = (Tree::new(), Vec::new());
        let paths: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for path in paths {
            let (was, our, their) = (base.get(path), ours.get(path), theirs.get(path));
            let file = if our == their || their == was {
                our.cloned()
            } else if our == was {
                their.cloned()
            } else {
                conflicts.push(path.clone());
                let side = |side: Option<&Vec<u8>>| side.cloned().unwrap_or_default();
                let marks: [&[u8]; 3] = [b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n"];
                Some([marks[0], &side(our), marks[1], &side(their), marks[2]].concat())
            };
            merged.extend(file.map(|bytes| (path.clone(), bytes)));
        }
        let tree = tree_id(self.tree(merged));
        let said: String =
            [tree].iter().chain(&conflicts).map(|word| format!("{word}\0")).collect();
        SimProcess::exit(i32::from(!conflicts.is_empty()), &said)
    }

    /// The newest common ancestor, which no other one has as its ancestor.
    fn merge_base(&self, ours: &str, theirs: &str) -> String {
        let (ours, theirs) = (self.history(ours), self.history(theirs));
        let common = ours.intersection(&theirs).last();
        common.expect("all commits come from the first").clone()
    }

    /// A commit and its ancestors. Their ids are in the order in which they were made.
    fn history(&self, commit: &str) -> BTreeSet<String> {
        let mut history = BTreeSet::new();
        let mut open = vec![commit.to_owned()];
        while let Some(commit) = open.pop() {
            if history.insert(commit.clone()) {
                let commit = self.commits.get(&commit).expect("a commit has its parents");
                open.extend(commit.parents.iter().cloned());
            }
        }
        history
    }
}
