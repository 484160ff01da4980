//! The decision, as a function of what was found and what is wanted.

#[cfg(test)]
mod table;

use super::artefacts::{foreign_paths, unsaved_paths};
use super::facts::{RepositoryFacts, TargetFolder};
use super::refusal::{PlacementQuestion, PlacementRefusal, RefusalCode, Reusable};
use super::wish::{IsolationMode, OnExisting, PlacementWish};
use onloop_effect::{BranchName, Repository};
use onloop_syntax::text;
use onloop_workflow::Isolation;

/// What should happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementDecision {
    /// Do this, then begin the run.
    Proceed(Placement),
    /// A person decides. Without a person, see [`PlacementQuestion::into_refusal`].
    Ask(PlacementQuestion),
    /// Change nothing.
    Refuse(PlacementRefusal),
}

/// Where the run will work and what has to be done for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// How the work is kept apart.
    pub mode: IsolationMode,
    /// The branch it is on, or would be on if there were a history.
    pub branch: Option<BranchName>,
    /// The folder it happens in.
    pub root: ExecutionRoot,
    /// What has to be done, in this order.
    pub acts: Vec<RepositoryChange>,
    /// What people should know although nothing is wrong.
    pub notes: Vec<String>,
}

/// The folder that a run happens in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionRoot {
    /// The folder that onloop was called in.
    Cwd,
    /// The top folder of the current checkout.
    Checkout(String),
    /// A linked worktree.
    Worktree(String),
}

/// One change to the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryChange {
    /// Put files that are not ours away. Paths are relative to the checkout.
    Stash(Vec<String>),
    /// Copy the run records out of a worktree that is about to go.
    RescueRecords {
        /// The worktree.
        from: String,
        /// The checkout that keeps them.
        to: String,
    },
    /// Remove a worktree and its folder.
    RemoveWorktree(String),
    /// Delete a branch.
    DeleteBranch {
        /// The branch.
        branch: BranchName,
        /// Its commit, so that people can bring it back.
        commit: String,
    },
    /// Make a worktree.
    CreateWorktree {
        /// Its folder.
        path: String,
        /// Its branch.
        branch: BranchName,
        /// The commit to create the branch at; `None`: it exists.
        create_at: Option<String>,
    },
    /// Check a branch out here.
    Switch {
        /// The branch.
        branch: BranchName,
        /// Whether it is created at HEAD first.
        create: bool,
    },
    /// Make sure that the workflow file in `root` is the one that was asked for.
    CopyWorkflow {
        /// Top folder of a checkout.
        root: String,
        /// The workflow file, relative to it.
        relative: String,
    },
}

/// The way out of a decision that is not to proceed.
enum Stop {
    Ask(PlacementQuestion),
    Refuse(PlacementRefusal),
}

impl From<PlacementRefusal> for Stop {
    fn from(refusal: PlacementRefusal) -> Stop {
        Stop::Refuse(refusal)
    }
}

/// Decides where a run may work. The first rule that applies decides; their order is that of
/// the table in `docs/preflight.md`.
pub fn decide(facts: &RepositoryFacts, wish: &PlacementWish) -> PlacementDecision {
    match place_run(facts, wish) {
        Ok(placement) => PlacementDecision::Proceed(placement),
        Err(Stop::Ask(question)) => PlacementDecision::Ask(question),
        Err(Stop::Refuse(refusal)) => PlacementDecision::Refuse(refusal),
    }
}

/// Where the worktree for `branch` is: beside the main checkout, so that no tool that walks
/// the repository finds every file twice.
pub fn worktree_path(repository: &Repository, branch: &BranchName) -> String {
    let main_root = repository.main_root.trim_end_matches('/');
    let (parent, name) = main_root.rsplit_once('/').unwrap_or(("", main_root));
    format!("{parent}/.hotl-worktrees/{name}/{}", branch.folder())
}

impl RepositoryFacts {
    /// Where the worktree for `branch` is.
    pub fn worktree_path(&self, repository: &Repository, branch: &BranchName) -> String {
        match &self.worktrees {
            Some(folder) => format!("{folder}/{}", branch.folder()),
            None => worktree_path(repository, branch),
        }
    }
}

fn place_run(facts: &RepositoryFacts, wish: &PlacementWish) -> Result<Placement, Stop> {
    let without_git = |branch: Option<BranchName>, root, note: Option<&str>| Placement {
        mode: IsolationMode::None,
        branch,
        root,
        acts: Vec::new(),
        notes: note.into_iter().map(str::to_owned).collect(),
    };
    let pinned = match wish.mode {
        Some(IsolationMode::None) => return Ok(without_git(None, ExecutionRoot::Cwd, None)),
        Some(IsolationMode::Worktree) => Some(Isolation::Worktree),
        Some(IsolationMode::Branch) => Some(Isolation::Branch),
        Some(IsolationMode::Host) => Some(Isolation::Host),
        None => None,
    };
    let Some(repository) = &facts.survey.repository else {
        if let Some(root) = &facts.elsewhere {
            return Err(PlacementRefusal::workflow_elsewhere(&wish.workflow, root).into());
        }
        if facts.bare {
            return Err(PlacementRefusal::no_checkout().into());
        }
        if wish.explicit {
            return Err(PlacementRefusal::no_repository().into());
        }
        let note = "no git repository here: the work happens in place, without isolation";
        let label = Some(wish.target().clone());
        return Ok(without_git(label, ExecutionRoot::Cwd, Some(note)));
    };
    let Some(head) = &repository.head else {
        if wish.explicit {
            return Err(PlacementRefusal::no_commit().into());
        }
        let root = ExecutionRoot::Checkout(repository.root.clone());
        let note = "no commit yet: the work happens in place, without isolation";
        return Ok(without_git(None, root, Some(note)));
    };
    let relative = relative_workflow(repository, wish)?;
    let mut acts = stash(facts.operation, repository, wish, relative)?;
    let isolation = match pinned {
        Some(isolation) => isolation,
        None => default_isolation(repository, wish)?,
    };
    let here = ExecutionRoot::Checkout(repository.root.clone());
    let (branch, root) = match isolation {
        Isolation::Host => (host(repository, wish)?, here),
        Isolation::Branch => {
            if let Some(command) = facts.operation {
                return Err(PlacementRefusal::in_progress(command, &repository.root).into());
            }
            demand_unblocked(repository, wish)?;
            acts.extend(branch_in_place(repository, head, wish, relative)?);
            (wish.target().clone(), here)
        }
        Isolation::Worktree => {
            demand_unblocked(repository, wish)?;
            let path = facts.worktree_path(repository, wish.target());
            acts.extend(worktree(facts, repository, head, wish, &path)?);
            acts.push(RepositoryChange::CopyWorkflow {
                root: path.clone(),
                relative: relative.to_owned(),
            });
            (wish.target().clone(), ExecutionRoot::Worktree(path))
        }
    };
    let notes = match isolation {
        Isolation::Host => Vec::new(),
        Isolation::Branch => wish.numbered_name().into_iter().collect(),
        Isolation::Worktree => {
            let beside = pinned.is_none().then(|| beside(repository, wish)).flatten();
            let left_behind = left_behind(repository, wish, relative);
            beside.into_iter().chain(wish.numbered_name()).chain(left_behind).collect()
        }
    };
    let (mode, branch) = (IsolationMode::from(isolation), Some(branch));
    Ok(Placement { mode, branch, root, acts, notes })
}

/// Refuses a branch that git could not create.
fn demand_unblocked(repository: &Repository, wish: &PlacementWish) -> Result<(), Stop> {
    match &repository.target_blocked_by {
        Some(other) => Err(PlacementRefusal::branch_blocked(wish.target(), other).into()),
        None => Ok(()),
    }
}

/// The isolation when none is pinned. A tool that put us into a linked worktree on a branch
/// has already isolated the work. Elsewhere it is a worktree, unless a feature branch is
/// checked out and a person can say whether the work belongs to it.
fn default_isolation(repository: &Repository, wish: &PlacementWish) -> Result<Isolation, Stop> {
    match (&repository.branch, &wish.pinned) {
        (Some(_), None) if repository.linked => Ok(Isolation::Host),
        (Some(branch), None) => {
            let current = branch_name(branch)?;
            if current.is_protected() || !wish.attended {
                return Ok(Isolation::Worktree);
            }
            Err(Stop::Ask(PlacementQuestion::feature_branch(&current, &wish.derived)))
        }
        (_, Some(_)) | (None, None) => Ok(Isolation::Worktree),
    }
}

/// Which feature branch a worktree leaves alone, where no person could say whether to work on it.
fn beside(repository: &Repository, wish: &PlacementWish) -> Option<String> {
    let current: BranchName = repository.branch.as_ref()?.parse().ok()?;
    (wish.pinned.is_none() && !current.is_protected()).then(|| {
        let word = text::shell_word(current.as_str());
        format!("`{current}` stays as it is (`--mode branch --branch {word}` works on it)")
    })
}

/// What people expect to find in a new worktree and will not.
fn left_behind(repository: &Repository, wish: &PlacementWish, workflow: &str) -> Option<String> {
    let foreign = foreign_paths(&repository.dirty, workflow);
    if wish.stash || wish.changes_settled || foreign.is_empty() {
        return None;
    }
    let files = text::counted(foreign.len() as u64, "uncommitted file");
    Some(format!("{files} left out of the worktree, which starts from the commit"))
}

fn relative_workflow<'a>(
    repository: &Repository,
    wish: &'a PlacementWish,
) -> Result<&'a str, Stop> {
    let root = repository.root.trim_end_matches('/');
    let below = wish.workflow.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    match below {
        Some(relative) if !relative.is_empty() => Ok(relative),
        Some(_) | None => {
            Err(PlacementRefusal::workflow_outside(&wish.workflow, &repository.root).into())
        }
    }
}

fn stash(
    operation: Option<&str>,
    repository: &Repository,
    wish: &PlacementWish,
    workflow: &str,
) -> Result<Vec<RepositoryChange>, Stop> {
    let foreign = foreign_paths(&repository.dirty, workflow);
    if foreign.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(command) = operation.filter(|_| wish.stash || !wish.dirty_allowed) {
        return Err(PlacementRefusal::in_progress(command, &repository.root).into());
    }
    if wish.stash {
        Ok(vec![RepositoryChange::Stash(foreign.into_iter().map(str::to_owned).collect())])
    } else if wish.dirty_allowed {
        Ok(Vec::new())
    } else {
        Err(Stop::Ask(PlacementQuestion::dirty(&foreign)))
    }
}

fn host(repository: &Repository, wish: &PlacementWish) -> Result<BranchName, Stop> {
    let Some(current) = &repository.branch else {
        return Err(PlacementRefusal::host_detached().into());
    };
    let current = branch_name(current)?;
    if current.is_protected() {
        return Err(PlacementRefusal::protected(&current).into());
    }
    match &wish.pinned {
        Some(pinned) if *pinned != current => {
            Err(PlacementRefusal::host_branch_differs(pinned, &current).into())
        }
        Some(_) | None => Ok(current),
    }
}

fn branch_in_place(
    repository: &Repository,
    head: &str,
    wish: &PlacementWish,
    relative: &str,
) -> Result<Vec<RepositoryChange>, Stop> {
    let target = wish.target();
    if target.is_protected() {
        return Err(PlacementRefusal::protected(target).into());
    }
    if repository.branch.as_deref() == Some(target.as_str()) {
        return Ok(Vec::new());
    }
    let create = RepositoryChange::Switch { branch: target.clone(), create: true };
    let Some(commit) = &repository.target_commit else {
        return Ok(vec![create]);
    };
    if let Some(at) = &repository.target_checked_out_at {
        return Err(PlacementRefusal::checked_out_elsewhere(target, at).into());
    }
    let code = RefusalCode::BranchExists;
    match existing(code, branch_exists(target, commit, head), commit == head, wish)? {
        Existing::Reuse => Ok(vec![
            RepositoryChange::Switch { branch: target.clone(), create: false },
            RepositoryChange::CopyWorkflow {
                root: repository.root.clone(),
                relative: relative.to_owned(),
            },
        ]),
        Existing::Recreate => Ok(vec![delete(target, commit), create]),
    }
}

fn worktree(
    facts: &RepositoryFacts,
    repository: &Repository,
    head: &str,
    wish: &PlacementWish,
    path: &str,
) -> Result<Vec<RepositoryChange>, Stop> {
    let target = wish.target();
    if target.is_protected() {
        return Err(PlacementRefusal::protected(target).into());
    }
    if repository.branch.as_deref() == Some(target.as_str()) {
        return Err(PlacementRefusal::already_here(target).into());
    }
    if let Some(at) = repository.target_checked_out_at.as_ref().filter(|at| *at != path) {
        return Err(PlacementRefusal::checked_out_elsewhere(target, at).into());
    }
    let create = |create_at: Option<&str>| RepositoryChange::CreateWorktree {
        path: path.to_owned(),
        branch: target.clone(),
        create_at: create_at.map(str::to_owned),
    };
    match (&facts.place, &repository.target_commit) {
        (TargetFolder::Free, None) => Ok(vec![create(Some(head))]),
        (TargetFolder::Free, Some(commit)) => {
            let code = RefusalCode::BranchExists;
            match existing(code, branch_exists(target, commit, head), commit == head, wish)? {
                Existing::Reuse => Ok(vec![create(None)]),
                Existing::Recreate => Ok(vec![delete(target, commit), create(Some(head))]),
            }
        }
        (TargetFolder::Worktree { branch: Some(branch), dirty }, Some(commit))
            if branch == target.as_str() =>
        {
            let shown = text::one_line(path);
            let what = format!("`{target}` already has a worktree at `{shown}`");
            match existing(RefusalCode::WorktreeExists, what, commit == head, wish)? {
                Existing::Reuse => Ok(Vec::new()),
                Existing::Recreate => {
                    let relative = relative_workflow(repository, wish)?;
                    let lost = unsaved_paths(dirty, relative);
                    if !lost.is_empty() {
                        let is_ours = wish.has_earlier();
                        return Err(PlacementRefusal::worktree_dirty(path, &lost, is_ours).into());
                    }
                    let (from, to) = (path.to_owned(), repository.root.clone());
                    Ok(vec![
                        RepositoryChange::RescueRecords { from, to },
                        RepositoryChange::RemoveWorktree(path.to_owned()),
                        delete(target, commit),
                        create(Some(head)),
                    ])
                }
            }
        }
        (TargetFolder::Worktree { branch, .. }, Some(_) | None) => {
            let by = match branch {
                Some(branch) => format!("the worktree of branch `{branch}`"),
                None => "a worktree without a branch".to_owned(),
            };
            let remove = format!("git worktree remove {}", text::shell_word(path));
            Err(PlacementRefusal::folder_taken(path, &by, remove).into())
        }
        (TargetFolder::Occupied, Some(_) | None) => {
            let by = "something that is not a worktree of this repository";
            let word = text::shell_word(path);
            Err(PlacementRefusal::folder_taken(path, by, format!("mv {word} {word}.old")).into())
        }
    }
}

/// What a person or a flag decided about something that exists.
enum Existing {
    Reuse,
    Recreate,
}

fn existing(
    code: RefusalCode,
    what: String,
    same_commit: bool,
    wish: &PlacementWish,
) -> Result<Existing, Stop> {
    let reusable = if same_commit { Reusable::Offered } else { Reusable::OnRequest };
    let question = || PlacementQuestion::existing(code, what, reusable, wish.target());
    match wish.on_existing {
        Some(OnExisting::Reuse) => Ok(Existing::Reuse),
        Some(OnExisting::Recreate) => Ok(Existing::Recreate),
        Some(OnExisting::Stop) => Err(question().into_refusal().into()),
        None => Err(Stop::Ask(question())),
    }
}

fn branch_exists(branch: &BranchName, commit: &str, head: &str) -> String {
    let short = |commit: &str| text::prefix(commit, 12).to_owned();
    if commit == head {
        format!("branch `{branch}` already exists, at the same commit as this checkout")
    } else {
        let (commit, head) = (short(commit), short(head));
        format!("branch `{branch}` already exists at {commit}; this checkout is at {head}")
    }
}

fn delete(branch: &BranchName, commit: &str) -> RepositoryChange {
    RepositoryChange::DeleteBranch { branch: branch.clone(), commit: commit.to_owned() }
}

/// A checked-out branch under a name that we would not pass on.
fn branch_name(name: &str) -> Result<BranchName, Stop> {
    name.parse().map_err(|reason| PlacementRefusal::invalid_branch(name, &reason).into())
}
