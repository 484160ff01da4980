//! What is merged or published is what was verified: the files of the last verified checkpoint,
//! and nothing else.

use super::context::{FinishContext, TargetBranch};
use super::inside;
use super::plan::{listed, missing_branch};
use onloop_effect::{Failure, FailureKind, GitRequest, Io, KeptWork};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_engine::git::checkout::{self, Operation};
use onloop_engine::run::checkpoint::{left_out_line, snapshot_work};
use onloop_engine::state::store::Store;
use onloop_run::preflight::foreign_paths;
use onloop_run::{Checkpoint, CheckpointKind, Disposition, Run};
use onloop_syntax::text;
use onloop_workflow::{CommitWhen, Step};

/// Makes sure that the branch of the run has what was verified, and returns its commit. Work that
/// is not committed is committed.
///
/// # Errors
///
/// When something else than what was verified would be handed on; nothing was changed.
pub(super) async fn settle(
    io: &Io,
    store: &Store,
    context: &FinishContext,
    (commits, disposition): (CommitWhen, Disposition),
    message: Option<&str>,
) -> Result<String, CommandError> {
    let run = store.run();
    let Some(tip) = context.commit.clone() else {
        return Err(missing_branch(run, context));
    };
    let Some(verified) = run.verified_checkpoint() else {
        let what = "no checkpoint says which files were verified";
        // What prevented a checkpoint then may prevent one now.
        let error = match snapshot_work(io, store).await {
            Ok(_) => CommandError::failed(what),
            Err(failure) if failure.is_interrupted() => return Err(failure.into()),
            Err(failure) => CommandError::from(failure).context(what).of_kind(ErrorKind::Failed),
        };
        return Err(verify_again(run, error));
    };
    let is_there = demand_branch(io, run, context).await?;
    if is_there {
        demand_no_operation(io, &run.place.execution_root).await?;
        demand_same_files(io, store, verified).await?;
    }
    inside::demand_none(io, store, context, (&verified.commit, disposition)).await?;
    let changed = io.git_changed_paths(&context.home, &tip, &verified.commit).await?;
    let theirs = theirs(run, &changed);
    if theirs.is_empty() {
        return Ok(tip);
    }
    let root = &run.place.execution_root;
    if !is_there {
        let what = format!(
            "`{}` has other files than checkpoint {}, which was verified",
            context.branch,
            verified.moment.name()
        );
        return Err(verify_again(run, listed(&what, &theirs)));
    }
    if !context.owns_branch {
        let what = format!(
            "verified work in `{root}` is not committed, and `{}` was not made for this run",
            context.branch
        );
        return Err(listed(&what, &theirs).fix("commit it there"));
    }
    match commits {
        CommitWhen::Never => {
            let what = format!("verified work in `{root}` is not committed (--commit never)");
            let folder = text::shell_word(root);
            Err(listed(&what, &theirs)
                .fix_by(
                    "commit it yourself",
                    format!("git -C {folder} add --all && git -C {folder} commit"),
                )
                .fix_by(
                    "or let onloop commit it",
                    format!("onloop finish {} {} --commit end", run.id, disposition.imperative()),
                ))
        }
        CommitWhen::End => commit(io, store, context, tip, verified, Message::Whole(message)).await,
        CommitWhen::Step => {
            let mut tip = tip;
            for checkpoint in steps_ahead(io, store, context, &tip).await? {
                let message = Message::Step(checkpoint, message);
                tip = commit(io, store, context, tip, checkpoint, message).await?;
            }
            commit(io, store, context, tip, verified, Message::Whole(message)).await
        }
    }
}

/// Puts the worktree of a run back that was deleted by hand, with the files of the verified checkpoint,
/// if the branch does not have them all. Returns whether that was needed.
///
/// # Errors
///
/// Git cannot create the worktree or restore the files.
pub(super) async fn put_back_worktree(
    io: &Io,
    store: &Store,
    context: &FinishContext,
) -> Result<bool, CommandError> {
    let run = store.run();
    let (Some(path), None, Some(tip)) =
        (&run.place.worktree_path, &context.worktree, &context.commit)
    else {
        return Ok(false);
    };
    let Some(verified) = run.verified_checkpoint() else { return Ok(false) };
    let changed = io.git_changed_paths(&context.home, tip, &verified.commit).await?;
    if theirs(run, &changed).is_empty() {
        return Ok(false);
    }
    let created = GitRequest::CreateWorktree {
        cwd: context.home.clone(),
        path: path.clone(),
        branch: context.branch.clone(),
        create_at: None,
    };
    let put_back = async {
        io.git(created).await?;
        // The run's index has to agree with the new files first.
        snapshot_work(io, store).await?;
        let restored = GitRequest::Restore {
            cwd: path.clone(),
            index: store.paths().index(),
            commit: verified.commit.clone(),
            paths: Vec::new(),
            programs: run.trusted_programs().map(str::to_owned),
        };
        io.git(restored).await
    };
    let what = format!("the worktree `{path}` is gone and could not be put back");
    put_back.await.map_err(|failure| {
        let is_taken = failure.kind == FailureKind::Exists;
        let (error, word) = (CommandError::from(failure).context(what), text::shell_word(path));
        match is_taken {
            true => error
                .fix_by("move away what is there", format!("mv {word} {word}.moved"))
                .fix("then run the same command again"),
            false => error,
        }
    })?;
    io.note(format!("note: the worktree {path} was gone; it was put back as it was verified"))
        .await;
    Ok(true)
}

/// The verified checkpoints that the branch does not have yet, oldest first, where it has exactly
/// what one of them or the beginning has. Else none: the person who has committed there has
/// committed parts of steps, and a commit of an earlier state would take them back.
async fn steps_ahead<'s>(
    io: &Io,
    store: &'s Store,
    context: &FinishContext,
    tip: &str,
) -> Result<Vec<&'s Checkpoint>, CommandError> {
    let run = store.run();
    let moments = run.checkpoints.iter().filter(|checkpoint| match checkpoint.moment.kind() {
        CheckpointKind::Begun | CheckpointKind::Verified => true,
        CheckpointKind::Started | CheckpointKind::Acted | CheckpointKind::Undone => false,
    });
    let mut ahead = Vec::new();
    for checkpoint in moments.rev() {
        let changed = io.git_changed_paths(&context.home, tip, &checkpoint.commit).await?;
        if theirs(run, &changed).is_empty() {
            ahead.reverse();
            return Ok(ahead);
        }
        ahead.push(checkpoint);
    }
    Ok(Vec::new())
}

/// Commits the files of a checkpoint; where the branch has them already, nothing.
async fn commit(
    io: &Io,
    store: &Store,
    context: &FinishContext,
    tip: String,
    checkpoint: &Checkpoint,
    message: Message<'_>,
) -> Result<String, CommandError> {
    let run = store.run();
    let changed = io.git_changed_paths(&context.home, &tip, &checkpoint.commit).await?;
    let theirs = theirs(run, &changed);
    if theirs.is_empty() {
        return Ok(tip);
    }
    let request = GitRequest::CommitKept {
        cwd: run.place.execution_root.clone(),
        index: store.paths().index(),
        branch: context.branch.clone(),
        head: tip,
        kept: checkpoint.commit.clone(),
        without: changed.iter().filter(|path| !theirs.contains(path)).cloned().collect(),
        message: message.text(store),
    };
    match io.git_commit_kept(request).await? {
        Some(commit) => Ok(commit),
        None => Err(CommandError::failed("git made no commit")),
    }
}

/// Whether the run's branch is checked out where the run works; `false`: its checkout is gone, or
/// it is one that others use and that has gone on.
async fn demand_branch(io: &Io, run: &Run, context: &FinishContext) -> Result<bool, CommandError> {
    let own = run.place.worktree_path.is_some();
    if own && context.worktree.is_none() {
        return Ok(false);
    }
    let root = &run.place.execution_root;
    let here = io.git_survey(root, &context.branch).await?.repository;
    let found = match here {
        None => return Ok(false),
        Some(here) if here.branch.as_ref() == Some(&context.branch) => return Ok(true),
        Some(_) if !own => return Ok(false),
        Some(here) => here.branch.map_or_else(
            || here.head.map_or("no commit".to_owned(), |head| format!("commit {head}")),
            |branch| format!("branch {branch}"),
        ),
    };
    let (branch, word) = (&context.branch, text::shell_word(&context.branch));
    let folder = text::shell_word(root);
    let error = CommandError::failed(format!("HEAD in `{root}` is at {found}, not on `{branch}`"))
        .because("what was committed there would not be handed on")
        .fix_by(
            format!("put `{branch}` where HEAD is"),
            format!("git -C {folder} switch -C {word}"),
        );
    Err(verify_again(run, error))
}

/// Refuses while git has a merge or the like open in `root`: its conflicts may stand in the files, and
/// a commit of them would end it.
async fn demand_no_operation(io: &Io, root: &str) -> Result<(), CommandError> {
    let checkout = checkout::find(io, root).await;
    let Some(checkout) = checkout else { return Ok(()) };
    match checkout.operation(io).await {
        Some(operation) => Err(in_progress(root, operation)),
        None => Ok(()),
    }
}

/// Why nothing is done in a checkout in which git has begun something.
pub(super) fn in_progress(root: &str, operation: Operation) -> CommandError {
    let (command, folder) = (operation.command, text::shell_word(root));
    CommandError::failed(format!("a `git {command}` is in progress in `{root}`"))
        .fix_by(
            "resolve its conflicts, add the files, and end it",
            format!("git -C {folder} {command} --continue"),
        )
        .fix_by("or undo it", format!("git -C {folder} {command} --abort"))
        .fix("then run the same command again")
}

/// Compares what is in the checkout now with what was verified.
async fn demand_same_files(
    io: &Io,
    store: &Store,
    verified: &Checkpoint,
) -> Result<(), CommandError> {
    let run = store.run();
    let root = &run.place.execution_root;
    let seen = snapshot_work(io, store).await.map_err(unknown_files)?;
    let KeptWork { commit, tree, left_out, .. } = seen;
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(left_out_line).collect();
        let what = format!("files in `{root}` are in no checkpoint and were not verified");
        let error = listed(&what, &names)
            .fix("move them away, or name them in `.gitignore`: they are not handed on then");
        return Err(verify_again(run, error));
    }
    if tree == verified.tree {
        return Ok(());
    }
    let changed = io.git_changed_paths(root, &verified.commit, &commit).await?;
    let changed = theirs(run, &changed);
    if changed.is_empty() {
        return Ok(());
    }
    let (id, name) = (&run.id, verified.moment.name());
    let what = format!("files in `{root}` are not as they were verified (checkpoint {name})");
    Err(verify_again(run, listed(&what, &changed))
        .fix_by("or take them back", format!("onloop undo {id} {name}")))
}

/// Refuses to continue a merge that a crash interrupted where somebody has changed files of the
/// worktree since: it is about to be removed.
pub(super) async fn demand_untouched(
    io: &Io,
    store: &Store,
    context: &FinishContext,
) -> Result<(), CommandError> {
    let Some(worktree) = &context.worktree else { return Ok(()) };
    match store.run().verified_checkpoint() {
        Some(verified) => demand_same_files(io, store, verified).await,
        None if worktree.dirty.is_empty() => Ok(()),
        None => {
            let what =
                format!("uncommitted files in the worktree `{}` would be lost", worktree.path);
            Err(listed(&what, &worktree.dirty))
        }
    }
}

/// Why nothing is pushed: git would run a hook that came with the run.
pub(super) async fn other_hook(
    io: &Io,
    store: &Store,
    context: &FinishContext,
    remote: &str,
) -> Result<Option<CommandError>, CommandError> {
    let run = store.run();
    let root = &run.place.execution_root;
    // Without the checkout there is no configuration of it, and no one to ask.
    let tells = run.trusted_programs().is_some_and(|programs| programs.contains('+'));
    if !tells || io.stat(root).await.is_err() {
        return Ok(None);
    }
    let seen = snapshot_work(io, store).await.map_err(unknown_files)?;
    Ok(run.has_other_push_hook(&seen.programs).then(|| {
        let (remote, branch) = (text::shell_word(remote), text::shell_word(&context.branch));
        let folder = text::shell_word(&context.home);
        let what = "the hook `pre-push` was changed since the run began, and a push would run it";
        CommandError::failed(what)
            .fix_by(
                "look at the hook, then push yourself",
                format!("git -C {folder} push {remote} {branch}"),
            )
            .fix_by(
                "and record that",
                format!("onloop finish {} publish --remote {remote}", run.id),
            )
    }))
}

fn unknown_files(failure: Failure) -> CommandError {
    let error = CommandError::from(failure);
    match error.kind() {
        ErrorKind::Interrupted => error,
        _ => error.context("it is not known whether the files are those that were verified"),
    }
}

/// Why the target cannot take the branch in as it was verified: it has gone on without it, and
/// both together were never looked at.
pub(super) async fn moved_target(
    io: &Io,
    run: &Run,
    context: &FinishContext,
    (target, commit): (&TargetBranch, &String),
) -> Result<Option<CommandError>, CommandError> {
    let Some(tip) = &target.commit else { return Ok(None) };
    let base = io.git_merge_base(&context.home, tip, &context.branch).await?;
    // The target may have the work already: an earlier merge ended unseen.
    if base.as_ref() == Some(tip) || base.as_ref() == Some(commit) {
        return Ok(None);
    }
    let (name, branch) = (&target.name, &context.branch);
    let Some(base) = &base else {
        let what = format!("`{name}` and `{branch}` have no commit in common here");
        return Ok(Some(
            CommandError::failed(what)
                .fix_by("in a shallow clone, fetch the rest", "git fetch --unshallow"),
        ));
    };
    let files = io.git_changed_paths(&context.home, base, tip).await?;
    let what =
        format!("`{name}` has commits that `{branch}` does not have; both were never verified");
    let (folder, word) = (text::shell_word(&run.place.execution_root), text::shell_word(name));
    let error =
        listed(&what, &files).fix_by("take them in", format!("git -C {folder} merge {word}"));
    Ok(Some(verify_again(run, error)))
}

fn verify_again(run: &Run, error: CommandError) -> CommandError {
    error.fix_by("verify again, then finish", format!("onloop finalize --run-id {}", run.id))
}

/// Those of the paths that are the work, and not ours.
fn theirs(run: &Run, changed: &[String]) -> Vec<String> {
    let inside = format!("{}/", run.place.execution_root);
    let workflow = run.place.workflow_path.strip_prefix(&inside).unwrap_or_default();
    foreign_paths(changed, workflow).into_iter().map(str::to_owned).collect()
}

/// What a commit says; what somebody gave counts.
enum Message<'a> {
    /// Of everything that was verified and is not committed.
    Whole(Option<&'a str>),
    /// Of what one step has done.
    Step(&'a Checkpoint, Option<&'a str>),
}

impl Message<'_> {
    /// The subject, what was done, and how to find the record.
    fn text(&self, store: &Store) -> String {
        let run = store.run();
        let given = |given: &str| text::printable(given).trim().to_owned() + "\n";
        let mut message = match self {
            Message::Whole(Some(words)) => given(words),
            Message::Whole(None) => {
                let steps = run.steps.iter().map(|record| named(&record.step));
                let list: String = steps.map(|step| format!("\n- {step}")).collect();
                subject(&run.settings.intent) + &list + "\n"
            }
            Message::Step(checkpoint, words) => {
                let step = checkpoint.moment.step().and_then(|number| run.step(number));
                let head = step.map(|record| named(&record.step)).unwrap_or_default();
                let body = words.map_or_else(|| text::one_line(&run.settings.intent) + "\n", given);
                subject(&head) + "\n" + &body
            }
        };
        let (id, digest) = (&run.id, store.head_sha256());
        message += &format!("\nOnloop-Run: {id}\nOnloop-Ledger: {digest}\n");
        message
    }
}

fn subject(words: &str) -> String {
    const SUBJECT_CHARS: usize = 72;
    text::ellipsis(&text::one_line(words), SUBJECT_CHARS) + "\n"
}

fn named(step: &Step) -> String {
    format!("Step {}: {}", step.number, text::one_line(&step.name))
}
