//! Carrying out a placement: act by act, and back again when one of them fails.

use crate::error::CommandError;
use crate::git::submodules;
use crate::state::recover::rescue_records;
use crate::state::store::StateHome;
use crate::state::store::refuse_links;
use onloop_effect::{BranchName, Repository};
use onloop_effect::{Durability, Expect, Failure, FailureKind, GitRequest, Io};
use onloop_run::preflight::{PlacementWish, RepositoryChange};
use onloop_syntax::limits;
use onloop_syntax::text;

/// An act that failed. What could not be undone, or must be undone by the person, is in `left`.
fn failed(doing: &str, failure: Failure, left: Vec<String>) -> CommandError {
    let error = CommandError::from(failure).context(format!("could not {}", text::one_line(doing)));
    error.listing(left.iter().map(|line| text::one_line(line)))
}

/// Why a placement was not carried out.
pub(super) struct ActError {
    pub(super) error: CommandError,
    /// Whether the folder for the worktree cannot be written.
    pub(super) no_room: bool,
}

impl From<CommandError> for ActError {
    fn from(error: CommandError) -> ActError {
        ActError { error, no_room: false }
    }
}

/// How to take one act back.
enum Undo {
    RemoveWorktree(String),
    DeleteBranch(BranchName),
    SwitchBack(String),
    /// Only the person may: it is their work.
    Message(String),
}

/// Performs `acts` in order. When one fails, those before it are undone in reverse order.
pub(super) async fn perform(
    io: &Io,
    repository: &Repository,
    wish: &PlacementWish,
    acts: &[RepositoryChange],
) -> Result<(), ActError> {
    let workflow = &wish.workflow;
    let mut undo = Vec::new();
    let unread = |failure| failed(&format!("read `{workflow}`"), failure, Vec::new());
    let content = content(io, workflow, acts).await.map_err(unread)?;
    let sets_up_submodules = wish.sets_up_submodules;
    let workflow = Workflow { path: workflow, content, sets_up_submodules };
    for act in acts {
        if let Err(failure) = perform_one(io, repository, &workflow, act, &mut undo).await {
            let left = take_back(io, repository, undo).await;
            let no_room = failure.kind == FailureKind::Denied
                && matches!(act, RepositoryChange::CreateWorktree { .. });
            let error = failed(&describe(act), failure, left);
            let error = match act {
                RepositoryChange::Stash(_) => error.fix(
                    "commit the changes; git stashes nothing of submodules and repositories inside",
                ),
                _ => error,
            };
            return Err(ActError { error, no_room });
        }
    }
    Ok(())
}

/// The workflow file as it was before the first act: switching branches may take it away.
struct Workflow<'a> {
    path: &'a str,
    content: Vec<u8>,
    sets_up_submodules: bool,
}

async fn content(io: &Io, workflow: &str, acts: &[RepositoryChange]) -> Result<Vec<u8>, Failure> {
    if !acts.iter().any(|act| matches!(act, RepositoryChange::CopyWorkflow { .. })) {
        return Ok(Vec::new());
    }
    Ok(io.read(workflow, limits::WORKFLOW_BYTES as u64).await?.0)
}

async fn perform_one(
    io: &Io,
    repository: &Repository,
    workflow: &Workflow<'_>,
    act: &RepositoryChange,
    undo: &mut Vec<Undo>,
) -> Result<(), Failure> {
    let cwd = repository.root.clone();
    match act {
        RepositoryChange::Stash(paths) => {
            let message = format!("onloop: before {}", text::one_line(workflow.path));
            io.git(GitRequest::Stash { cwd, message, paths: paths.clone() }).await?;
            let files = text::counted(paths.len() as u64, "file");
            let line = format!("{files} stashed; `git stash pop` brings them back");
            io.note(format!("note: {line}")).await;
            undo.push(Undo::Message(line));
            Ok(())
        }
        RepositoryChange::RescueRecords { from, to } => rescue_records(io, from, to, None).await,
        RepositoryChange::RemoveWorktree(path) => {
            io.git(GitRequest::RemoveWorktree { cwd, path: path.clone() }).await?;
            undo.push(Undo::Message(format!("the worktree `{path}` was removed")));
            Ok(())
        }
        RepositoryChange::DeleteBranch { branch, commit } => {
            io.git(GitRequest::DeleteBranch { cwd, branch: branch.to_string() }).await?;
            let word = text::shell_word(branch.as_str());
            let line = format!("branch deleted; `git branch {word} {commit}` brings it back");
            io.note(format!("note: {line}")).await;
            undo.push(Undo::Message(line));
            Ok(())
        }
        RepositoryChange::CreateWorktree { path, branch, create_at } => {
            let request = GitRequest::CreateWorktree {
                cwd,
                path: path.clone(),
                branch: branch.to_string(),
                create_at: create_at.clone(),
            };
            one_at_a_time(io, &repository.main_root, request).await?;
            if create_at.is_some() {
                undo.push(Undo::DeleteBranch(branch.clone()));
            }
            undo.push(Undo::RemoveWorktree(path.clone()));
            fill_submodules(io, path, workflow.sets_up_submodules).await
        }
        RepositoryChange::Switch { branch, create } => {
            io.git(GitRequest::Switch { cwd, branch: branch.to_string(), create: *create }).await?;
            if *create {
                undo.push(Undo::DeleteBranch(branch.clone()));
            }
            undo.push(match (&repository.branch, &repository.head) {
                (Some(source), _) => Undo::SwitchBack(source.clone()),
                (None, Some(commit)) => Undo::Message(format!(
                    "`{branch}` is checked out now; `git switch --detach {commit}` goes back"
                )),
                (None, None) => Undo::Message(format!("`{branch}` is checked out now")),
            });
            Ok(())
        }
        RepositoryChange::CopyWorkflow { root, relative } => {
            copy_workflow(io, &workflow.content, root, relative).await
        }
    }
}

/// Fills the submodules of a new worktree, and says which ones stay empty unless the workflow fills
/// them.
async fn fill_submodules(io: &Io, worktree: &str, are_set_up: bool) -> Result<(), Failure> {
    for empty in submodules::fill(io, worktree).await? {
        if are_set_up {
            continue;
        }
        let (path, why) = (text::one_line(&empty.path), text::one_line(&empty.why));
        let line = format!("warning: submodule `{path}` is empty in the worktree: {why}");
        io.note_wrapped(&line, 9).await;
        let word = text::shell_word(&empty.path);
        io.note(format!(
            "  fix: fill it with a line of `setup:`:\n    - git submodule update --init -- {word}"
        ))
        .await;
    }
    Ok(())
}

/// Creates worktrees of a repository one after the other: git reads the records of all of them and fails
/// if another is half written.
async fn one_at_a_time(io: &Io, main_root: &str, request: GitRequest) -> Result<(), Failure> {
    let Ok(home) = StateHome::of(io) else { return io.git(request).await.map(drop) };
    let lock = home.worktree_lock(main_root);
    // After a long wait git is asked anyway; the host repeats what meets a half-written record.
    let locked = match io.lock(&lock, limits::GIT_ACT_TIMEOUT_MS).await {
        Err(failure) if failure.is_interrupted() => return Err(failure),
        locked => locked.is_ok(),
    };
    let created = io.git(request).await;
    if locked {
        // A lock that stays ends with this process.
        let _ = io.unlock(&lock).await;
    }
    created.map(drop)
}

async fn take_back(io: &Io, repository: &Repository, undo: Vec<Undo>) -> Vec<String> {
    let mut left = Vec::new();
    for step in undo.into_iter().rev() {
        let cwd = repository.root.clone();
        let (request, what) = match step {
            Undo::Message(line) => {
                left.push(line);
                continue;
            }
            Undo::RemoveWorktree(path) => {
                let what = format!("the worktree `{path}` is left behind");
                (GitRequest::RemoveWorktree { cwd, path }, what)
            }
            Undo::DeleteBranch(branch) => {
                let what = format!("the branch `{branch}` is left behind");
                (GitRequest::DeleteBranch { cwd, branch: branch.to_string() }, what)
            }
            Undo::SwitchBack(branch) => {
                let what = format!("`{branch}` is not checked out again");
                (GitRequest::Switch { cwd, branch, create: false }, what)
            }
        };
        if let Err(failure) = io.git(request).await {
            left.push(format!("{what}: {failure}"));
        }
    }
    left
}

pub(super) fn describe(act: &RepositoryChange) -> String {
    match act {
        RepositoryChange::Stash(paths) => {
            format!("stash {}", text::counted(paths.len() as u64, "file"))
        }
        RepositoryChange::RescueRecords { from, .. } => {
            format!("copy the run records out of `{from}`")
        }
        RepositoryChange::RemoveWorktree(path) => format!("remove the worktree `{path}`"),
        RepositoryChange::DeleteBranch { branch, .. } => format!("delete the branch `{branch}`"),
        RepositoryChange::CreateWorktree { path, branch, .. } => {
            format!("create the worktree `{path}` on branch `{branch}`")
        }
        RepositoryChange::Switch { branch, .. } => format!("switch to branch `{branch}`"),
        RepositoryChange::CopyWorkflow { relative, .. } => {
            format!("copy the workflow file `{relative}`")
        }
    }
}

/// Writes the workflow file that was asked for into `root`, where another commit may have an
/// older version of it, or none.
async fn copy_workflow(io: &Io, content: &[u8], root: &str, relative: &str) -> Result<(), Failure> {
    let target = format!("{root}/{relative}");
    refuse_links(io, root, relative.rsplit_once('/').map_or("", |(folder, _)| folder)).await?;
    match io.read(&target, limits::WORKFLOW_BYTES as u64).await {
        Ok((present, _)) if present == content => return Ok(()),
        // Whatever else is there, the write replaces it or says why it cannot.
        Ok(_) | Err(_) => {}
    }
    io.write(&target, content.to_vec(), Expect::Any, Durability::Durable).await?;
    Ok(())
}
