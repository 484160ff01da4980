//! A git repository in memory, whose checkouts are folders of a simulated disk. What git does happens as
//! a whole or not at all, and lasts.

mod programs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use onloop_core::effect::{
    Failure, FailureKind, GitRequest, GitSurvey, KeptWork, Outcome, ProcessStatus, Repository,
    WorktreeEntry,
};

use crate::{Disk, SimHost, SimProcess};

/// The files of a commit, by their paths.
type Tree = BTreeMap<String, Vec<u8>>;

/// A repository.
#[derive(Debug)]
pub struct SimRepository {
    main: String,
    commits: BTreeMap<String, Commit>,
    trees: Vec<Tree>,
    refs: BTreeMap<String, String>,
    /// The branch of each checkout, by its top folder.
    checkouts: BTreeMap<String, String>,
    /// The files of the last checkpoint with an index file, by its path.
    indexes: BTreeMap<String, Tree>,
    /// After how many of its commands another process kills git, once.
    killed_after: Option<u32>,
}

#[derive(Debug)]
struct Commit {
    tree: usize,
    parents: Vec<String>,
}

impl SimRepository {
    /// Another process kills git after so many of its commands, once; `None`: none does.
    pub fn kill_after(&mut self, commands: Option<u32>) {
        self.killed_after = commands;
    }

    fn is_killed(&mut self) -> bool {
        let is_killed = self.killed_after == Some(0);
        self.killed_after = self.killed_after.and_then(|left| left.checked_sub(1));
        is_killed
    }

    /// Puts the folder `main` of a machine under version control: its files are the first commit of the
    /// branch `main`, and git is scripted.
    pub fn around(host: &mut SimHost, main: &str) -> Rc<RefCell<SimRepository>> {
        let mut repository = SimRepository {
            main: main.to_owned(),
            commits: BTreeMap::new(),
            trees: Vec::new(),
            refs: BTreeMap::new(),
            checkouts: BTreeMap::from([(main.to_owned(), "main".to_owned())]),
            indexes: BTreeMap::new(),
            killed_after: None,
        };
        let files = files_of(&host.disk, main);
        let first = repository.commit(files, Vec::new());
        repository.refs.insert("refs/heads/main".to_owned(), first);
        host.disk.put(&format!("{main}/.git/HEAD"), "ref: refs/heads/main\n");
        let repository = Rc::new(RefCell::new(repository));
        let git = Rc::clone(&repository);
        host.on_git(move |disk, request| {
            let mut git = git.borrow_mut();
            match git.is_killed() {
                true => Err(Failure::new(FailureKind::Unknown, "git was ended by a signal")),
                false => git.answer(disk, request),
            }
        });
        let program = Rc::clone(&repository);
        host.on("git -c core.hooksPath=", move |_, spec| {
            let mut git = program.borrow_mut();
            match git.is_killed() {
                true => {
                    SimProcess { status: ProcessStatus::Signalled(9), ..SimProcess::exit(0, "") }
                }
                false => git.program(spec),
            }
        });
        repository
    }

    /// The top folders of its linked worktrees.
    pub fn worktrees(&self) -> Vec<&str> {
        let linked = self.checkouts.keys().filter(|path| **path != self.main);
        linked.map(String::as_str).collect()
    }

    /// Its branches.
    pub fn branches(&self) -> Vec<&str> {
        self.refs.keys().filter_map(|name| name.strip_prefix("refs/heads/")).collect()
    }

    fn answer(&mut self, disk: &mut Disk, request: &GitRequest) -> Result<Outcome, Failure> {
        match request {
            GitRequest::Survey { cwd, branch } => {
                Ok(Outcome::Survey(self.survey(disk, cwd, branch)))
            }
            GitRequest::Worktrees { .. } => {
                let entry = |(path, branch): (&String, &String)| WorktreeEntry {
                    path: path.clone(),
                    branch: Some(branch.clone()),
                };
                let mut worktrees: Vec<WorktreeEntry> = self.checkouts.iter().map(entry).collect();
                worktrees.sort_by_key(|entry| entry.path != self.main);
                Ok(Outcome::Worktrees { worktrees })
            }
            GitRequest::Head { cwd } => {
                let (_, commit) = self.checkout(cwd)?;
                Ok(Outcome::Commit { commit: Some(commit) })
            }
            GitRequest::CreateWorktree { cwd: _, path, branch, create_at } => {
                self.create_worktree(disk, path, branch, create_at.as_deref())
            }
            GitRequest::RemoveWorktree { cwd: _, path } => {
                self.checkouts.remove(path).ok_or_else(|| not_found("no such worktree"))?;
                // A person may have removed the folder.
                let _ = disk.remove(path);
                Ok(Outcome::Done)
            }
            GitRequest::DeleteBranch { cwd: _, branch } => {
                if self.checkouts.values().any(|checked_out| checked_out == branch) {
                    return Err(Failure::new(FailureKind::Conflict, "it is checked out"));
                }
                let removed = self.refs.remove(&format!("refs/heads/{branch}"));
                removed.map(|_| Outcome::Done).ok_or_else(|| not_found("no such branch"))
            }
            GitRequest::Checkpoint { cwd, index, name, parent, .. } => {
                let (root, head) = self.checkout(cwd)?;
                let files = files_of(disk, &root);
                self.indexes.insert(index.clone(), files.clone());
                let commit = self.commit(files, vec![parent.clone().unwrap_or(head)]);
                self.refs.insert(format!("refs/onloop/{name}"), commit.clone());
                let tree = tree_id(self.commits[&commit].tree);
                let (programs, left_out) = ("none".to_owned(), Vec::new());
                Ok(Outcome::Checkpoint(KeptWork { commit, tree, programs, left_out }))
            }
            GitRequest::Restore { cwd, index, commit, paths, .. } => {
                self.restore(disk, cwd, index, commit, paths)
            }
            GitRequest::ChangedPaths { from, to, .. } => {
                Ok(Outcome::Names { names: self.changed(from, to)? })
            }
            GitRequest::Diff { from, to, paths, .. } => {
                let mut changed = self.changed(from, to)?;
                changed.retain(|path| paths.is_empty() || paths.contains(path));
                let lines: String = changed.iter().map(|path| format!("1\t1\t{path}\n")).collect();
                Ok(Outcome::Diff { bytes: lines.into_bytes().into() })
            }
            GitRequest::Checkpoints { .. } => Ok(Outcome::Checkpoints { checkpoints: Vec::new() }),
            GitRequest::ForgetCheckpoint { name, commit, .. } => {
                let name = format!("refs/onloop/{name}");
                match self.refs.get(&name) {
                    None => Err(not_found("no such checkpoint")),
                    Some(found) if found != commit => {
                        Err(Failure::new(FailureKind::Conflict, "that is another commit"))
                    }
                    Some(_) => {
                        self.refs.remove(&name);
                        Ok(Outcome::Done)
                    }
                }
            }
            other => panic!("the simulated repository does not know {other:?}"),
        }
    }

    /// The top folder of the checkout around a folder, and the commit that is checked out.
    fn checkout(&self, cwd: &str) -> Result<(String, String), Failure> {
        let is_in = |root: &str| cwd == root || cwd.starts_with(&format!("{root}/"));
        let found = self.checkouts.iter().find(|(root, _)| is_in(root));
        let (root, branch) = found.ok_or_else(|| not_found("that is no repository"))?;
        Ok((root.clone(), self.refs[&format!("refs/heads/{branch}")].clone()))
    }

    fn survey(&self, disk: &Disk, cwd: &str, target: &str) -> GitSurvey {
        let Ok((root, head)) = self.checkout(cwd) else { return GitSurvey::default() };
        let dirty = differences(&self.trees[self.commits[&head].tree], &files_of(disk, &root));
        let checked_out_at = self.checkouts.iter().find(|(_, branch)| *branch == target);
        GitSurvey {
            repository: Some(Repository {
                main_root: self.main.clone(),
                linked: root != self.main,
                branch: self.checkouts.get(&root).cloned(),
                head: Some(head),
                dirty,
                target_commit: self.refs.get(&format!("refs/heads/{target}")).cloned(),
                target_checked_out_at: checked_out_at.map(|(path, _)| path.clone()),
                target_blocked_by: None,
                root,
            }),
        }
    }

    fn create_worktree(
        &mut self,
        disk: &mut Disk,
        path: &str,
        branch: &str,
        create_at: Option<&str>,
    ) -> Result<Outcome, Failure> {
        let exists = |what: &str| Err(Failure::new(FailureKind::Exists, what));
        let name = format!("refs/heads/{branch}");
        if !disk.files(path).is_empty() || self.checkouts.contains_key(path) {
            return exists("the folder exists");
        }
        if self.checkouts.values().any(|checked_out| checked_out == branch) {
            return exists("the branch is checked out");
        }
        let commit = match (create_at, self.refs.get(&name)) {
            (Some(_), Some(_)) => return exists("the branch exists"),
            (None, None) => return Err(not_found("no such branch")),
            (Some(commit), None) => commit.to_owned(),
            (None, Some(commit)) => commit.clone(),
        };
        let files = self.files(&commit)?.clone();
        disk.put(&format!("{path}/.git"), format!("gitdir: {}/.git/worktrees/w\n", self.main));
        for (file, bytes) in files {
            disk.put(&format!("{path}/{file}"), bytes);
        }
        self.refs.insert(name, commit);
        self.checkouts.insert(path.to_owned(), branch.to_owned());
        Ok(Outcome::Done)
    }

    fn restore(
        &mut self,
        disk: &mut Disk,
        cwd: &str,
        index: &str,
        commit: &str,
        paths: &[String],
    ) -> Result<Outcome, Failure> {
        let (root, _) = self.checkout(cwd)?;
        let is_wanted = |path: &String| paths.is_empty() || paths.contains(path);
        let mut wanted = self.files(commit)?.clone();
        let mut known = self.indexes.get(index).cloned().unwrap_or_default();
        wanted.retain(|path, _| is_wanted(path));
        let blocks = |(path, bytes): (&String, &Vec<u8>)| {
            let found = disk.get(&format!("{root}/{path}"));
            !known.contains_key(path) && found.is_some_and(|found| found != bytes.as_slice())
        };
        if let Some((path, _)) = wanted.iter().find(|entry| blocks(*entry)) {
            return Err(Failure::new(FailureKind::Conflict, format!("`{path}` is in the way")));
        }
        for path in known.keys().filter(|path| is_wanted(path) && !wanted.contains_key(*path)) {
            // The agent may have removed it.
            let _ = disk.remove(&format!("{root}/{path}"));
        }
        known.retain(|path, _| !is_wanted(path));
        for (path, bytes) in wanted {
            disk.put(&format!("{root}/{path}"), &bytes);
            known.insert(path, bytes);
        }
        self.indexes.insert(index.to_owned(), known);
        Ok(Outcome::Done)
    }

    fn changed(&self, from: &str, to: &str) -> Result<Vec<String>, Failure> {
        Ok(differences(self.files(from)?, self.files(to)?))
    }

    fn files(&self, commit: &str) -> Result<&Tree, Failure> {
        let commit = self.commits.get(commit).ok_or_else(|| not_found("no such commit"))?;
        Ok(&self.trees[commit.tree])
    }

    fn commit(&mut self, files: Tree, parents: Vec<String>) -> String {
        let tree = self.tree(files);
        let id = format!("c{:039x}", self.commits.len());
        self.commits.insert(id.clone(), Commit { tree, parents });
        id
    }

    fn tree(&mut self, files: Tree) -> usize {
        let found = self.trees.iter().position(|tree| *tree == files);
        found.unwrap_or_else(|| {
            self.trees.push(files);
            self.trees.len() - 1
        })
    }
}

fn tree_id(tree: usize) -> String {
    format!("d{tree:039x}")
}

fn not_found(what: &str) -> Failure {
    Failure::new(FailureKind::NotFound, what)
}

/// What git takes from a checkout.
fn files_of(disk: &Disk, root: &str) -> Tree {
    let relative = |path: String| {
        let file = path.strip_prefix(&format!("{root}/"))?.to_owned();
        let is_own = [".hotl/", ".git/"].iter().any(|own| file.starts_with(own)) || file == ".git";
        (!is_own).then(|| (file, disk.get(&path).unwrap_or_default().to_vec()))
    };
    disk.files(root).into_iter().filter_map(relative).collect()
}

fn differences(from: &Tree, to: &Tree) -> Vec<String> {
    let mut paths: Vec<String> = from.keys().chain(to.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| from.get(path) != to.get(path));
    paths
}
