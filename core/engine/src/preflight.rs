//! Preflight as a program: gather facts, decide, ask, act, and undo what failed half-way.

mod act;

use crate::error::CommandError;
use crate::git::ancestors::Ancestors;
use crate::git::checkout::{self, without_worktrees};
use crate::git::submodules;
use crate::run::start::again_with;
use crate::state::store::StateHome;
use crate::terminal::ask::is_attended;
use onloop_effect::{BranchName, Failure, FailureKind, FileKind, Io, OptionalExt, Repository};
use onloop_run::preflight::{
    ExecutionRoot, IsolationMode, OnExisting, Placement, PlacementAnswer, PlacementDecision,
    PlacementQuestion, PlacementRefusal, PlacementWish, PreflightFlags, Prepared, RefusalCode,
    RepositoryFacts, TargetFolder, decide,
};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::{Plan, Risk};

/// Finds and prepares the place where `plan` will be executed.
///
/// `workflow_path` is the workflow file, absolute or relative to the folder that onloop was
/// called in. On a terminal a person is asked what file and flags leave open.
///
/// # Errors
///
/// The place cannot be prepared; neither branch nor worktree of ours is left behind.
pub async fn preflight(
    io: &Io,
    plan: &Plan,
    workflow_path: &str,
    flags: &PreflightFlags,
) -> Result<Prepared, CommandError> {
    let (workflow, cwd) = locate(io, workflow_path).await?;
    if flags.mode == Some(IsolationMode::None) {
        return in_place(io, plan, cwd, workflow).await;
    }
    let wish = wish(io, plan, flags, workflow);
    let mut wish = wish.map_err(|refusal| refused(io, &refusal))?;
    let mut base = Base::Beside;
    // Every answer settles what its question asked, so that no question comes twice.
    loop {
        let found = look_for_a_name(io, &cwd, &mut wish, base).await;
        let facts = found.map_err(unseen("the repository"))?;
        match decide(&facts, &wish) {
            PlacementDecision::Proceed(placement) => {
                let repository = facts.survey.repository;
                match carry_out(io, repository.as_ref(), &wish, &placement).await {
                    Ok(()) => return Ok(prepared(io, cwd, repository, wish, placement).await),
                    Err(failed) if failed.no_room && base == Base::Beside => {
                        base = Base::StateHome;
                    }
                    Err(failed) => return Err(failed.error),
                }
            }
            PlacementDecision::Ask(question) => {
                let question = with_submodules(io, &facts, question).await?;
                settle(io, &mut wish, question).await?;
            }
            PlacementDecision::Refuse(refusal) => return Err(refused(io, &refusal)),
        }
    }
}

/// What [`preflight`] would do.
pub(crate) enum Foreseen {
    /// Prepare this place.
    Prepared {
        /// What would be known of it then.
        prepared: Prepared,
        /// What would be done for it, as verb phrases in their order.
        changes: Vec<String>,
        /// What would be said besides.
        notes: Vec<String>,
    },
    /// Ask a person; without a terminal, refuse.
    Asked(PlacementQuestion),
    /// Change nothing.
    Refused(PlacementRefusal),
}

/// What [`preflight`] would do, without doing it or asking anybody.
///
/// # Errors
///
/// It cannot be looked at.
pub(crate) async fn foresee(
    io: &Io,
    plan: &Plan,
    workflow_path: &str,
    flags: &PreflightFlags,
) -> Result<Foreseen, CommandError> {
    let (workflow, cwd) = locate(io, workflow_path).await?;
    if flags.mode == Some(IsolationMode::None) {
        let prepared = in_place(io, plan, cwd, workflow).await?;
        return Ok(Foreseen::Prepared { prepared, changes: Vec::new(), notes: Vec::new() });
    }
    let mut wish = match wish(io, plan, flags, workflow) {
        Ok(wish) => wish,
        Err(refusal) => return Ok(Foreseen::Refused(refusal)),
    };
    let found = look_for_a_name(io, &cwd, &mut wish, Base::Beside).await;
    let facts = found.map_err(unseen("the repository"))?;
    Ok(match decide(&facts, &wish) {
        PlacementDecision::Proceed(placement) => {
            let changes = placement.acts.iter().map(act::describe).collect();
            let notes = placement.notes.clone();
            let repository = facts.survey.repository;
            let prepared = prepared(io, cwd, repository, wish, placement).await;
            Foreseen::Prepared { prepared, changes, notes }
        }
        PlacementDecision::Ask(question) => {
            Foreseen::Asked(with_submodules(io, &facts, question).await?)
        }
        PlacementDecision::Refuse(refusal) => Foreseen::Refused(refusal),
    })
}

fn wish(
    io: &Io,
    plan: &Plan,
    flags: &PreflightFlags,
    workflow: String,
) -> Result<PlacementWish, PlacementRefusal> {
    let mut wish = PlacementWish::new(plan, flags, workflow)?;
    wish.attended = is_attended(io);
    Ok(wish)
}

/// The workflow file and the current folder, with symbolic links resolved.
async fn locate(io: &Io, workflow_path: &str) -> Result<(String, String), CommandError> {
    let workflow = io.canonical(workflow_path).await.map_err(unseen("the workflow file"))?;
    let cwd = io.canonical(&io.start().cwd).await.map_err(unseen("the current folder"))?;
    Ok((workflow, cwd))
}

/// Where worktrees are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// Beside the main checkout.
    Beside,
    /// In the state home, because the folder around the checkout cannot be written.
    StateHome,
}

/// Gathers the facts for the first derived name that no earlier run of the workflow has.
async fn look_for_a_name(
    io: &Io,
    cwd: &str,
    wish: &mut PlacementWish,
    base: Base,
) -> Result<RepositoryFacts, Failure> {
    loop {
        let facts = gather(io, cwd, wish, base).await?;
        let has_branch = |found: &Repository| found.target_commit.is_some();
        let exists = facts.place != TargetFolder::Free
            || facts.survey.repository.as_ref().is_some_and(has_branch);
        if !exists || !wish.skip_earlier() {
            return Ok(facts);
        }
    }
}

/// The folder for worktrees if it is not beside the main checkout. A folder of another repository is not
/// used, because the worktrees would show up there.
async fn worktrees_elsewhere(
    io: &Io,
    repository: &Repository,
    base: Base,
) -> Result<Option<String>, Failure> {
    let main = repository.main_root.trim_end_matches('/');
    let (parent, name) = main.rsplit_once('/').unwrap_or(("", main));
    let mut is_elsewhere = base == Base::StateHome;
    for folder in Ancestors::from(io, parent) {
        if is_elsewhere {
            break;
        }
        is_elsewhere = io.stat(&format!("{folder}/.git")).await.optional()?.is_some();
    }
    match is_elsewhere {
        true => Ok(Some(StateHome::of(io)?.worktrees(main, name))),
        false => Ok(None),
    }
}

async fn gather(
    io: &Io,
    cwd: &str,
    wish: &PlacementWish,
    base: Base,
) -> Result<RepositoryFacts, Failure> {
    let target = wish.target().as_str();
    let mut survey = io.git_survey(cwd, target).await?;
    let Some(repository) = &mut survey.repository else {
        let folder = wish.workflow.rsplit_once('/').map_or("", |(folder, _)| folder);
        let around = io.git_survey(if folder.is_empty() { "/" } else { folder }, target).await?;
        let elsewhere = around.repository.map(|repository| repository.root);
        let bare = io.git_head(cwd).await?.is_some();
        return Ok(RepositoryFacts { survey, elsewhere, bare, ..RepositoryFacts::default() });
    };
    without_worktrees(io, &repository.root, &mut repository.dirty).await?;
    let facts = RepositoryFacts {
        operation: in_progress(io, repository).await,
        worktrees: worktrees_elsewhere(io, repository, base).await?,
        ..RepositoryFacts::default()
    };
    let path = facts.worktree_path(repository, wish.target());
    let place = match io.stat(&path).await {
        Ok(_) => {
            // Somebody may keep the worktrees elsewhere, behind a symbolic link.
            let real = io.canonical(&path).await?;
            if repository.target_checked_out_at.as_deref() == Some(&*real) {
                repository.target_checked_out_at = Some(path);
            }
            look_at(io, cwd, &real, target).await?
        }
        Err(failure) if failure.kind == FailureKind::NotFound => TargetFolder::Free,
        Err(failure) if failure.kind == FailureKind::Invalid => {
            return Err(below_a_file(io, &path, failure).await);
        }
        Err(failure) => return Err(failure),
    };
    Ok(RepositoryFacts { survey, place, ..facts })
}

/// The command of git that is in progress in the checkout.
async fn in_progress(io: &Io, repository: &Repository) -> Option<&'static str> {
    let checkout = checkout::find(io, &repository.root).await?;
    checkout.operation(io).await.map(|operation| operation.command)
}

/// What is wrong where a file is in the place of a folder around `path`.
async fn below_a_file(io: &Io, path: &str, failure: Failure) -> Failure {
    let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
    for folder in ends.filter(|folder| !folder.is_empty()) {
        if io.stat(folder).await.is_ok_and(|stat| stat.kind == FileKind::File) {
            let word = text::shell_word(folder);
            let what = format!(
                "`{folder}` is a file, and the worktree is made below it; move it away: mv {word} \
                 {word}.old"
            );
            return Failure::new(failure.kind, what);
        }
    }
    failure
}

async fn look_at(io: &Io, cwd: &str, path: &str, target: &str) -> Result<TargetFolder, Failure> {
    let known = io.git_worktrees(cwd).await?;
    let Some(entry) = known.into_iter().find(|entry| entry.path == path) else {
        return Ok(TargetFolder::Occupied);
    };
    let dirty = io.git_survey(path, target).await?.repository.map(|inside| inside.dirty);
    Ok(TargetFolder::Worktree { branch: entry.branch, dirty: dirty.unwrap_or_default() })
}

/// A question about uncommitted files, with what helps where some of them are submodules.
async fn with_submodules(
    io: &Io,
    facts: &RepositoryFacts,
    question: PlacementQuestion,
) -> Result<PlacementQuestion, CommandError> {
    match &facts.survey.repository {
        Some(Repository { root, dirty, .. }) if question.code == RefusalCode::Dirty => {
            let changed = submodules::among(io, root, dirty).await?;
            Ok(question.with_submodules(&changed))
        }
        Some(_) | None => Ok(question),
    }
}

/// Puts `question` to the person and makes the answer part of what is wanted.
async fn settle(
    io: &Io,
    wish: &mut PlacementWish,
    question: PlacementQuestion,
) -> Result<(), CommandError> {
    match ask(io, question).await? {
        PlacementAnswer::Stash => wish.stash = true,
        PlacementAnswer::Stay(branch) => {
            wish.mode = Some(IsolationMode::Branch);
            wish.pinned = Some(branch);
        }
        PlacementAnswer::Worktree => wish.mode = Some(IsolationMode::Worktree),
        PlacementAnswer::CustomBranch => {
            wish.mode = Some(IsolationMode::Worktree);
            wish.pinned = Some(ask_branch(io).await?);
        }
        PlacementAnswer::Reuse => wish.on_existing = Some(OnExisting::Reuse),
        PlacementAnswer::Recreate => wish.on_existing = Some(OnExisting::Recreate),
        PlacementAnswer::Stop => {
            return Err(CommandError::refused("the run was not begun"));
        }
    }
    Ok(())
}

async fn ask(io: &Io, question: PlacementQuestion) -> Result<PlacementAnswer, CommandError> {
    if is_attended(io) {
        for _ in 0..limits::ANSWERS_PER_QUESTION {
            match io.ask(question.to_string()).await {
                Ok(typed) => {
                    if let Some(answer) = question.answer(&typed) {
                        return Ok(answer.clone());
                    }
                    let count = question.choices.len();
                    let typed = text::ellipsis(&text::one_line(&typed), 40);
                    io.note(format!("found `{typed}`, expected a number from 1 to {count}")).await;
                }
                Err(failure) if failure.kind == FailureKind::Interrupted => {
                    return Err(CommandError::interrupted());
                }
                Err(_) => break,
            }
        }
    }
    Err(refused(io, &question.into_refusal()))
}

async fn ask_branch(io: &Io) -> Result<BranchName, CommandError> {
    for _ in 0..limits::ANSWERS_PER_QUESTION {
        match io.ask("Name of the branch: ").await {
            Ok(typed) => match typed.trim().parse::<BranchName>() {
                Ok(branch) => return Ok(branch),
                Err(reason) => io.note(format!("that is not a branch name: it {reason}")).await,
            },
            Err(failure) if failure.kind == FailureKind::Interrupted => {
                return Err(CommandError::interrupted());
            }
            Err(_) => break,
        }
    }
    Err(CommandError::refused("no branch was named").fix("name one with `--branch NAME`"))
}

async fn carry_out(
    io: &Io,
    repository: Option<&Repository>,
    wish: &PlacementWish,
    placement: &Placement,
) -> Result<(), act::ActError> {
    for note in &placement.notes {
        io.note(format!("note: {note}")).await;
    }
    match repository {
        Some(repository) => act::perform(io, repository, wish, &placement.acts).await,
        None => Ok(()),
    }
}

/// What is known of a place for which everything has been done.
async fn prepared(
    io: &Io,
    cwd: String,
    repository: Option<Repository>,
    wish: PlacementWish,
    placement: Placement,
) -> Prepared {
    let branch = placement.branch.map(|branch| branch.to_string());
    let Some(repository) = repository else {
        return untouched(branch, None, cwd, wish.workflow);
    };
    let (execution_root, worktree_path) = match placement.root {
        ExecutionRoot::Cwd => (cwd, None),
        ExecutionRoot::Checkout(root) => (root, None),
        ExecutionRoot::Worktree(path) => {
            let path = io.canonical(&path).await.unwrap_or(path);
            (path.clone(), Some(path))
        }
    };
    // Also true before the first commit, where the workflow may be anywhere.
    let below = wish.workflow.strip_prefix(repository.root.trim_end_matches('/'));
    let workflow_path = match below {
        Some(rest) if rest.starts_with('/') => format!("{execution_root}{rest}"),
        Some(_) | None => wish.workflow.clone(),
    };
    Prepared {
        mode: placement.mode,
        branch,
        repo_root: Some(repository.root),
        execution_root,
        workflow_path,
        source_workflow_path: wish.workflow,
        source_branch: repository.branch,
        source_head: repository.head,
        worktree_path,
    }
}

/// The place of a run that works where it is called. In a repository its files have checkpoints, too.
/// Below high risk it works without git as well.
async fn in_place(
    io: &Io,
    plan: &Plan,
    cwd: String,
    workflow: String,
) -> Result<Prepared, CommandError> {
    let repository = match io.git_survey(&cwd, "").await {
        Ok(survey) => survey.repository,
        Err(failure) if plan.risk != Risk::High && !failure.is_interrupted() => {
            io.note(format!("⚠ No checkpoints and no diff: {failure}")).await;
            None
        }
        Err(failure) => return Err(unseen("the repository")(failure)),
    };
    let Some(here) = repository else { return Ok(untouched(None, None, cwd, workflow)) };
    Ok(Prepared {
        source_branch: here.branch,
        source_head: here.head,
        ..untouched(None, Some(here.root), cwd, workflow)
    })
}

fn untouched(
    branch: Option<String>,
    repo_root: Option<String>,
    execution_root: String,
    workflow: String,
) -> Prepared {
    Prepared {
        mode: IsolationMode::None,
        branch,
        repo_root,
        execution_root,
        workflow_path: workflow.clone(),
        source_workflow_path: workflow,
        source_branch: None,
        source_head: None,
        worktree_path: None,
    }
}

/// What is wrong where `what` cannot be looked at.
fn unseen(what: &str) -> impl Fn(Failure) -> CommandError {
    move |failure| CommandError::from(failure).context(format!("cannot look at {what}"))
}

/// The refusal as an error, whose flags are part of whole command lines where a person typed one.
pub(crate) fn refused(io: &Io, refusal: &PlacementRefusal) -> CommandError {
    let is_typed = io.start().argv.get(1).is_some_and(|verb| ["run", "do"].contains(&&**verb));
    refusal.how.iter().fold(CommandError::refused(&refusal.what), |error, remedy| {
        let line = match is_typed && remedy.line.starts_with("--") {
            true => again_with(io, &remedy.line),
            false => remedy.line.clone(),
        };
        error.fix_by(&remedy.effect, line)
    })
}
