//! The repository around the work of a life: commits of all files, and linked worktrees.

use std::collections::BTreeMap;

use onloop_core::documents::ledger::sha256;
use onloop_core::effect::{
    Failure, FailureKind, GitRequest, GitSurvey, KeptWork, Outcome, Repository as Checkout,
    WorktreeEntry,
};

use crate::{Disk, SimHost};

/// The main checkout.
const ROOT: &str = "/demo";

/// The files of a commit, by their paths relative to the top folder.
type Tree = BTreeMap<String, Vec<u8>>;

/// A repository that knows what runs without a branch of their own ask for.
#[derive(Default)]
struct Repository {
    /// Commits, by their ids.
    commits: BTreeMap<String, Tree>,
    /// Branches of linked worktrees, by their folders.
    worktrees: BTreeMap<String, String>,
}

/// Makes `/demo` the main checkout of a repository.
pub(super) fn set_up(host: &mut SimHost) {
    let mut repository = Repository::default();
    let head = repository.commit(&host.disk, ROOT);
    host.on_git(move |disk, request| repository.answer(disk, request, &head));
}

impl Repository {
    fn answer(
        &mut self,
        disk: &mut Disk,
        request: &GitRequest,
        head: &str,
    ) -> Result<Outcome, Failure> {
        let missing = || Failure::new(FailureKind::NotFound, "git knows nothing of that name");
        match request {
            GitRequest::Survey { cwd, .. } => {
                let repository = self.root(cwd).map(|root| checkout(root, head));
                Ok(Outcome::Survey(GitSurvey { repository }))
            }
            GitRequest::Worktrees { .. } => {
                let linked = self.worktrees.iter().map(|(path, branch)| (&**path, &**branch));
                let all = [(ROOT, "main")].into_iter().chain(linked);
                let entry = |(path, branch): (&str, &str)| WorktreeEntry {
                    path: path.to_owned(),
                    branch: Some(branch.to_owned()),
                };
                Ok(Outcome::Worktrees { worktrees: all.map(entry).collect() })
            }
            GitRequest::Head { .. } => Ok(Outcome::Commit { commit: Some(head.to_owned()) }),
            GitRequest::Checkpoint { cwd, .. } => {
                let root = self.root(cwd).ok_or_else(missing)?.to_owned();
                let commit = self.commit(disk, &root);
                let (tree, programs, left_out) = (commit.clone(), sha256(b""), Vec::new());
                Ok(Outcome::Checkpoint(KeptWork { commit, tree, programs, left_out }))
            }
            GitRequest::ForgetCheckpoint { .. } => Ok(Outcome::Done),
            GitRequest::ChangedPaths { from, to, .. } => {
                let (Some(from), Some(to)) = (self.commits.get(from), self.commits.get(to)) else {
                    return Err(missing());
                };
                let paths = from.keys().chain(to.keys().filter(|path| !from.contains_key(*path)));
                let changed = paths.filter(|path| from.get(*path) != to.get(*path));
                Ok(Outcome::Names { names: changed.cloned().collect() })
            }
            // Nothing that a life claims is read from it.
            GitRequest::Diff { .. } => Ok(Outcome::Diff { bytes: Vec::new().into() }),
            GitRequest::CreateWorktree { path, branch, create_at: Some(commit), .. } => {
                if self.worktrees.contains_key(path) {
                    return Err(Failure::new(FailureKind::Exists, "it is a worktree already"));
                }
                for (name, bytes) in self.commits.get(commit).ok_or_else(missing)? {
                    disk.put(&format!("{path}/{name}"), bytes);
                }
                self.worktrees.insert(path.clone(), branch.clone());
                Ok(Outcome::Done)
            }
            GitRequest::RemoveWorktree { path, .. } => {
                self.worktrees.remove(path).ok_or_else(missing)?;
                disk.remove(path)?;
                Ok(Outcome::Done)
            }
            GitRequest::DeleteBranch { .. } => Ok(Outcome::Done),
            other => panic!("no life asks git for {other:?}"),
        }
    }

    /// The top folder of the checkout that contains `folder`.
    fn root<'r>(&'r self, folder: &str) -> Option<&'r str> {
        let roots = self.worktrees.keys().map(String::as_str).chain([ROOT]);
        let contains = |root: &&str| {
            folder.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        roots.into_iter().find(contains)
    }

    /// Commits the files below `root`, without those of onloop.
    fn commit(&mut self, disk: &Disk, root: &str) -> String {
        let files = disk.files(root).into_iter().filter_map(|path| {
            let name = path.strip_prefix(root)?.strip_prefix('/')?.to_owned();
            let bytes = disk.get(&path).filter(|_| !name.starts_with(".hotl/"))?.to_vec();
            Some((name, bytes))
        });
        let tree: Tree = files.collect();
        let id = sha256(format!("{tree:?}").as_bytes())[..40].to_owned();
        self.commits.insert(id.clone(), tree);
        id
    }
}

fn checkout(root: &str, head: &str) -> Checkout {
    Checkout {
        root: root.to_owned(),
        main_root: ROOT.to_owned(),
        linked: root != ROOT,
        branch: Some("main".to_owned()),
        head: Some(head.to_owned()),
        dirty: Vec::new(),
        target_commit: None,
        target_checked_out_at: None,
        target_blocked_by: None,
    }
}
