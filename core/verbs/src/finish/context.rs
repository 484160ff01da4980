//! Where the work of a run is: facts, gathered before anything is done with it.

use onloop_effect::{Io, OptionalExt, Repository};
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout::{self, Operation, without_worktrees};
use onloop_engine::lookup::runs::own_ids;
use onloop_engine::state::store::{Store, StoreError};
use onloop_run::Run;
use onloop_run::preflight::foreign_paths;

/// Where the work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FinishContext {
    /// The run's branch.
    pub(super) branch: String,
    /// The commit it is at; `None`: it is not there.
    pub(super) commit: Option<String>,
    /// The main checkout; `None`: the repository is bare.
    pub(super) main: Option<MainCheckout>,
    /// Where the run was started in a checkout that git does not take for one any more.
    pub(super) lost_main: Option<String>,
    /// A folder of the repository that stays when the worktree goes.
    pub(super) home: String,
    /// The run's own worktree, if it is there.
    pub(super) worktree: Option<Worktree>,
    /// Whether preflight made the branch for this run.
    pub(super) owns_branch: bool,
    /// Where the branch is checked out.
    pub(super) checked_out_at: Option<String>,
    /// The commit that the run began at where HEAD was on no branch.
    pub(super) began_detached: Option<String>,
}

/// The main checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MainCheckout {
    /// Its top folder.
    pub(super) root: String,
    /// Its branch; `None`: detached HEAD.
    pub(super) branch: Option<String>,
    /// Its uncommitted files that are not ours.
    pub(super) dirty: Vec<String>,
    /// What git has begun there and not ended.
    pub(super) operation: Option<Operation>,
}

/// A run's own worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Worktree {
    /// Its top folder.
    pub(super) path: String,
    /// Its uncommitted files that are not ours.
    pub(super) dirty: Vec<String>,
    /// Other runs that have not ended and work there.
    pub(super) others: Vec<String>,
}

/// A branch that can take the work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetBranch {
    /// Its name.
    pub(super) name: String,
    /// Whether it exists.
    pub(super) exists: bool,
    /// The commit that it is at.
    pub(super) commit: Option<String>,
    /// Where it is checked out.
    pub(super) checked_out_at: Option<String>,
}

/// The folder in which runs of the same repository find each other.
pub(super) async fn home(io: &Io, run: &Run) -> Result<String, CommandError> {
    let branch = run.place.branch.as_deref().unwrap_or_default();
    let Some(here) = seen_from(io, run, branch).await? else {
        return Ok(run.place.execution_root.clone());
    };
    match main_checkout(io, run, &here, branch).await? {
        Some(main) => Ok(main.root),
        None => Ok(here.root),
    }
}

/// The repository, from where the run works or, if that worktree is gone, from where it was started.
async fn seen_from(io: &Io, run: &Run, branch: &str) -> Result<Option<Repository>, CommandError> {
    let place = &run.place;
    for root in place.roots() {
        if io.stat(root).await.optional()?.is_none() {
            continue;
        }
        let Some(here) = io.git_survey(root, branch).await?.repository else { continue };
        // A folder that is left of a worktree may be inside another repository.
        if here.linked || place.worktree_path.as_deref() != Some(root) {
            return Ok(Some(here));
        }
    }
    Ok(None)
}

/// The main checkout. Git does not know where it is if its git folder is elsewhere; then the record
/// says where the run was started.
async fn main_checkout(
    io: &Io,
    run: &Run,
    here: &Repository,
    branch: &str,
) -> Result<Option<Repository>, CommandError> {
    if !here.linked {
        return Ok(Some(here.clone()));
    }
    let main = io.git_survey(&here.main_root, branch).await?.repository;
    let Some(started_in) = run.place.repo_root.as_ref().filter(|_| main.is_none()) else {
        return Ok(main);
    };
    let started_in = io.git_survey(started_in, branch).await?.repository;
    Ok(started_in.filter(|found| !found.linked))
}

impl FinishContext {
    /// Looks around; `None`: the run has no branch in a repository.
    pub(super) async fn survey(io: &Io, run: &Run) -> Result<Option<FinishContext>, CommandError> {
        let Some(branch) = run.place.branch.clone() else { return Ok(None) };
        let Some(here) = seen_from(io, run, &branch).await? else { return Ok(None) };
        let main = main_checkout(io, run, &here, &branch).await?;
        let worktree = own_worktree(io, run, &here, &branch).await?;
        let lost_main = match (&main, &run.place.repo_root) {
            (None, Some(root)) => {
                let seen = io.git_survey(root, &branch).await?.repository;
                seen.is_none().then(|| root.clone())
            }
            (Some(_), _) | (None, None) => None,
        };
        let source = run.place.source_branch.as_ref();
        let home = main.as_ref().map_or(here.root, |main| main.root.clone());
        let main = match main {
            Some(main) => Some(look_at_main(io, run, main, here.target_commit.as_ref()).await?),
            None => None,
        };
        Ok(Some(FinishContext {
            owns_branch: run.owns_branch(),
            commit: here.target_commit,
            checked_out_at: here.target_checked_out_at,
            began_detached: source.is_none().then(|| run.place.source_head.clone()).flatten(),
            main,
            lost_main,
            home,
            worktree,
            branch,
        }))
    }

    /// The branch that takes the work in: the one that is named, else the first that exists
    /// of where the run came from, `main` and `master`.
    pub(super) async fn target(
        &self,
        io: &Io,
        run: &Run,
        named: Option<&str>,
    ) -> Result<Option<TargetBranch>, CommandError> {
        let likely = [run.place.source_branch.as_deref(), Some("main"), Some("master")];
        let candidates: Vec<&str> = match named {
            Some(name) => vec![name],
            None => likely.into_iter().flatten().filter(|name| *name != self.branch).collect(),
        };
        for name in candidates {
            let Some(here) = io.git_survey(&self.home, name).await?.repository else { continue };
            let exists = here.target_commit.is_some();
            // No option says that a branch without the run's beginning is to have it.
            if let (None, Some(head)) = (named, &self.began_detached)
                && io.git_merge_base(&self.home, head, name).await?.as_ref() != Some(head)
            {
                continue;
            }
            if exists || named.is_some() {
                let checked_out_at = here.target_checked_out_at;
                let (name, commit) = (name.to_owned(), here.target_commit);
                return Ok(Some(TargetBranch { name, exists, commit, checked_out_at }));
            }
        }
        Ok(None)
    }

    /// Whether the run's branch is checked out in the main checkout.
    pub(super) fn is_shared(&self) -> bool {
        let branch = self.main.as_ref().and_then(|main| main.branch.as_ref());
        branch == Some(&self.branch)
    }
}

async fn look_at_main(
    io: &Io,
    run: &Run,
    main: Repository,
    tip: Option<&String>,
) -> Result<MainCheckout, CommandError> {
    let mut dirty = foreign(run, &main);
    without_worktrees(io, &main.root, &mut dirty).await?;
    // The workflow is in the way only where the branch changes it.
    let workflow = workflow_in(run, &main).filter(|path| main.dirty.iter().any(|d| d == path));
    if let (Some(workflow), Some(head), Some(tip)) = (workflow, &main.head, tip)
        && io.git_changed_paths(&main.root, head, tip).await?.iter().any(|path| path == workflow)
    {
        dirty.push(workflow.to_owned());
    }
    let operation = match checkout::find(io, &main.root).await {
        Some(checkout) => checkout.operation(io).await,
        None => None,
    };
    Ok(MainCheckout { root: main.root, branch: main.branch, dirty, operation })
}

async fn own_worktree(
    io: &Io,
    run: &Run,
    here: &Repository,
    branch: &str,
) -> Result<Option<Worktree>, CommandError> {
    let Some(recorded) = &run.place.worktree_path else { return Ok(None) };
    let recorded = io.canonical(recorded).await.unwrap_or_else(|_| recorded.clone());
    let known = io.git_worktrees(&here.root).await?;
    let path = if known.iter().any(|entry| entry.path == recorded && recorded != here.main_root) {
        recorded
    } else if here.linked {
        // The repository has been moved since.
        here.root.clone()
    } else {
        return Ok(None);
    };
    let there = io.git_survey(&path, branch).await?.repository;
    let mut others = Vec::new();
    for id in own_ids(io, &path).await.into_iter().filter(|id| *id != run.id) {
        // What cannot be read may be a running run.
        let over = match Store::open(io, &id).await {
            Ok(store) => store.run().is_over() || store.run().place.execution_root != path,
            Err(StoreError::Missing) => true,
            Err(_) => false,
        };
        if !over {
            others.push(id);
        }
    }
    let dirty = there.as_ref().map(|there| foreign(run, there)).unwrap_or_default();
    Ok(Some(Worktree { path, dirty, others }))
}

fn foreign(run: &Run, checkout: &Repository) -> Vec<String> {
    let dirty = foreign_paths(&checkout.dirty, workflow_in(run, checkout).unwrap_or_default());
    dirty.into_iter().map(str::to_owned).collect()
}

/// The workflow file of the run, relative to a checkout that has it.
fn workflow_in<'r>(run: &'r Run, checkout: &Repository) -> Option<&'r str> {
    let files = [Some(&run.place.workflow_path), run.place.source_workflow_path.as_ref()];
    let below = |path: &'r String| path.strip_prefix(&checkout.root)?.strip_prefix('/');
    files.into_iter().flatten().find_map(below)
}
