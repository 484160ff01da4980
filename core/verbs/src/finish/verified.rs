//! What is merged or published is what was verified: the files of the last verified checkpoint,
//! and nothing else.

use super::plan::listed;
use super::scene::{Scene, TargetBranch};
use super::{FinishError, refuse};
use onloop_effect::{Failure, FailureKind, GitRequest, Io, KeptWork};
use onloop_engine::keep::{left_out_line, look};
use onloop_engine::store::Store;
use onloop_run::preflight::foreign_paths;
use onloop_run::{Checkpoint, CheckpointKind, Run};
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
    scene: &Scene,
    commits: CommitWhen,
    message: Option<&str>,
) -> Result<String, FinishError> {
    let run = store.run();
    let Some(tip) = scene.commit.clone() else {
        return refuse(format!("Execution branch does not exist: {}", scene.branch));
    };
    let Some(verified) = run.verified_checkpoint() else {
        let what = "No checkpoint says which files were verified.";
        return refuse(format!("{what}\n{}", verify_again(run)));
    };
    let is_there = demand_branch(io, run, scene).await?;
    if is_there {
        demand_same_files(io, store, verified).await?;
    }
    let changed = io.git_changed_paths(&scene.home, &tip, &verified.commit).await?;
    let theirs = theirs(run, &changed);
    if theirs.is_empty() {
        return Ok(tip);
    }
    let root = &run.place.execution_root;
    if !is_there {
        let what = format!(
            "{} has other files than checkpoint {}, which was verified:",
            scene.branch,
            verified.moment.name()
        );
        return refuse(format!("{}\n{}", listed(&what, &theirs), verify_again(run)));
    }
    if !scene.owns_branch {
        let what = format!(
            "Verified work in {root} is not committed, and {} was not made for this run; commit it \
             there:",
            scene.branch
        );
        return refuse(listed(&what, &theirs));
    }
    match commits {
        CommitWhen::Never => {
            let what = format!("Verified work in {root} is not committed (--commit never):");
            refuse(listed(&what, &theirs))
        }
        CommitWhen::End => commit(io, store, scene, tip, verified, Message::Whole(message)).await,
        CommitWhen::Step => {
            let mut tip = tip;
            for checkpoint in steps_ahead(io, store, scene, &tip).await? {
                let message = Message::Step(checkpoint, message);
                tip = commit(io, store, scene, tip, checkpoint, message).await?;
            }
            commit(io, store, scene, tip, verified, Message::Whole(message)).await
        }
    }
}

/// The verified checkpoints that the branch does not have yet, oldest first, where it has exactly
/// what one of them or the beginning has. Else none: whoever has committed there has
/// committed parts of steps, and a commit of an earlier state would take them back.
async fn steps_ahead<'s>(
    io: &Io,
    store: &'s Store,
    scene: &Scene,
    tip: &str,
) -> Result<Vec<&'s Checkpoint>, FinishError> {
    let run = store.run();
    let moments = run.checkpoints.iter().filter(|checkpoint| match checkpoint.moment.kind() {
        CheckpointKind::Begun | CheckpointKind::Verified => true,
        CheckpointKind::Started | CheckpointKind::Acted | CheckpointKind::Undone => false,
    });
    let mut ahead = Vec::new();
    for checkpoint in moments.rev() {
        let changed = io.git_changed_paths(&scene.home, tip, &checkpoint.commit).await?;
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
    scene: &Scene,
    tip: String,
    checkpoint: &Checkpoint,
    message: Message<'_>,
) -> Result<String, FinishError> {
    let run = store.run();
    let changed = io.git_changed_paths(&scene.home, &tip, &checkpoint.commit).await?;
    let theirs = theirs(run, &changed);
    if theirs.is_empty() {
        return Ok(tip);
    }
    let request = GitRequest::CommitKept {
        cwd: run.place.execution_root.clone(),
        index: store.paths().index(),
        branch: scene.branch.clone(),
        head: tip,
        kept: checkpoint.commit.clone(),
        without: changed.iter().filter(|path| !theirs.contains(path)).cloned().collect(),
        message: message.text(store),
    };
    match io.git_commit_kept(request).await? {
        Some(commit) => Ok(commit),
        None => refuse("git made no commit".to_owned()),
    }
}

/// Whether the run's branch is checked out where the run works; `false`: its checkout is gone, or
/// it is one that others use and that has gone on.
async fn demand_branch(io: &Io, run: &Run, scene: &Scene) -> Result<bool, FinishError> {
    let own = run.place.worktree_path.is_some();
    if own && scene.worktree.is_none() {
        return Ok(false);
    }
    let root = &run.place.execution_root;
    let here = io.git_survey(root, &scene.branch).await?.repository;
    let found = match here {
        None => return Ok(false),
        Some(here) if here.branch.as_ref() == Some(&scene.branch) => return Ok(true),
        Some(_) if !own => return Ok(false),
        Some(here) => here.branch.map_or_else(
            || here.head.map_or("no commit".to_owned(), |head| format!("commit {head}")),
            |branch| format!("branch {branch}"),
        ),
    };
    let (branch, word) = (&scene.branch, text::shell_word(&scene.branch));
    let (folder, again) = (text::shell_word(root), verify_again(run));
    refuse(format!(
        "HEAD in {root} is at {found}, not on {branch}; what was committed there would not be \
         handed on.\nPut {branch} where HEAD is:\n  git -C {folder} switch -C {word}\n{again}"
    ))
}

/// Compares what is in the checkout now with what was verified.
async fn demand_same_files(
    io: &Io,
    store: &Store,
    verified: &Checkpoint,
) -> Result<(), FinishError> {
    let run = store.run();
    let root = &run.place.execution_root;
    let seen = look(io, store).await.map_err(unknown_files)?;
    let KeptWork { commit, tree, left_out, .. } = seen;
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(left_out_line).collect();
        let what =
            format!("Files in {root} that no checkpoint keeps, so that nobody verified them:");
        return refuse(listed(&what, &names));
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
    let what = format!("Files in {root} are not as they were verified (checkpoint {name}):");
    refuse(format!(
        "{}\n{}\nOr take them back:\n  onloop undo {id} {name}",
        listed(&what, &changed),
        verify_again(run)
    ))
}

/// Refuses to go on with a merge that a crash interrupted where somebody has changed files of the
/// worktree since: it is about to be removed.
pub(super) async fn demand_untouched(
    io: &Io,
    store: &Store,
    scene: &Scene,
) -> Result<(), FinishError> {
    let Some(worktree) = &scene.worktree else { return Ok(()) };
    match store.run().verified_checkpoint() {
        Some(verified) => demand_same_files(io, store, verified).await,
        None if worktree.dirty.is_empty() => Ok(()),
        None => {
            let what =
                format!("Uncommitted files in the worktree {} would be lost:", worktree.path);
            refuse(listed(&what, &worktree.dirty))
        }
    }
}

/// Why nothing is pushed: git would run a hook that came with the run.
pub(super) async fn other_hook(
    io: &Io,
    store: &Store,
    scene: &Scene,
    remote: &str,
) -> Result<Option<String>, FinishError> {
    let run = store.run();
    let root = &run.place.execution_root;
    // Without the checkout there is no configuration of it, and nobody to ask.
    let tells = run.trusted_programs().is_some_and(|programs| programs.contains('+'));
    if !tells || io.stat(root).await.is_err() {
        return Ok(None);
    }
    let seen = look(io, store).await.map_err(unknown_files)?;
    Ok(run.has_other_push_hook(&seen.programs).then(|| {
        let (remote, branch) = (text::shell_word(remote), text::shell_word(&scene.branch));
        format!(
            "the hook `pre-push` is another than when the run began, and a push would run it; look \
             at it, then push yourself, and record that:\ngit -C {} push {remote} {branch}\nonloop \
             finish {} publish --remote {remote}",
            text::shell_word(&scene.home),
            run.id
        )
    }))
}

fn unknown_files(failure: Failure) -> FinishError {
    match failure.kind {
        FailureKind::Interrupted => failure.into(),
        _ => FinishError::Refused(format!(
            "Whether the files are those that were verified is not known.\n  {}",
            text::printable(&failure.message).trim_end().replace('\n', "\n  ")
        )),
    }
}

/// Why the target cannot take the branch in as it was verified: it has gone on without it, and
/// both together were never looked at.
pub(super) async fn moved_target(
    io: &Io,
    run: &Run,
    scene: &Scene,
    target: &TargetBranch,
) -> Result<Option<String>, FinishError> {
    let Some(tip) = &target.commit else { return Ok(None) };
    let base = io.git_merge_base(&scene.home, tip, &scene.branch).await?;
    if base.as_ref() == Some(tip) {
        return Ok(None);
    }
    let (name, branch) = (&target.name, &scene.branch);
    let Some(base) = &base else {
        return Ok(Some(format!(
            "{name} and {branch} have no commit in common here. In a shallow clone this brings the \
             rest:\n  git fetch --unshallow"
        )));
    };
    let files = io.git_changed_paths(&scene.home, base, tip).await?;
    let what = format!("{name} has commits that {branch} does not have; both were never verified:");
    let (folder, word) = (text::shell_word(&run.place.execution_root), text::shell_word(name));
    Ok(Some(format!(
        "{}\nTake them in:\n  git -C {folder} merge {word}\n{}",
        listed(&what, &files),
        verify_again(run)
    )))
}

fn verify_again(run: &Run) -> String {
    format!("Verify again, then finish:\n  onloop finalize --run-id {}", run.id)
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
                subject(&run.terms.intent) + &list + "\n"
            }
            Message::Step(checkpoint, words) => {
                let step = checkpoint.moment.step().and_then(|number| run.step(number));
                let head = step.map(|record| named(&record.step)).unwrap_or_default();
                let body = words.map_or_else(|| text::one_line(&run.terms.intent) + "\n", given);
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
