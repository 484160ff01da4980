//! Keeping the work at the moments that matter, as commits that no branch shows.

use crate::error::CommandError;
use crate::state::store::{Store, StoreError};
use onloop_effect::{Failure, GitRequest, Io, KeptWork, LeftOut, LeftOutReason};
use onloop_run::{Checkpoint, CheckpointMoment, Event, Run, StepStatus};
use onloop_syntax::limits;
use onloop_syntax::text;

/// The outcome of taking a checkpoint.
#[derive(Debug)]
pub enum CheckpointOutcome {
    /// It exists; durable in the record after the next commit of the store.
    Taken,
    /// The work is in no repository, so that there are no checkpoints.
    NoRepository,
    /// There is none, for this reason.
    Missed(String),
    /// The person pressed Ctrl-C.
    Interrupted,
}

/// Takes a checkpoint of the work and records it. A failure is recorded and printed; the run continues.
pub async fn take_checkpoint(
    io: &Io,
    store: &mut Store,
    moment: CheckpointMoment,
) -> CheckpointOutcome {
    let run = store.run();
    if run.place.repo_root.is_none() {
        return CheckpointOutcome::NoRepository;
    }
    let kept = match io.git_checkpoint(request(io, store, moment)).await {
        Ok(kept) => kept,
        Err(failure) if failure.is_not_found() && run.checkpoints.is_empty() => {
            return CheckpointOutcome::NoRepository;
        }
        Err(failure) if failure.is_interrupted() => return CheckpointOutcome::Interrupted,
        Err(failure) => return missed(store, moment, &failure),
    };
    let before = run.last_checkpoint().map(|last| last.left_out.clone()).unwrap_or_default();
    let checkpoint = Checkpoint::of(moment, kept);
    if checkpoint.left_out != before {
        store.note(incomplete(&checkpoint));
    }
    match store.apply(Event::CheckpointTaken(checkpoint)) {
        Ok(()) => CheckpointOutcome::Taken,
        Err(refusal) => CheckpointOutcome::Missed(refusal.to_string()),
    }
}

/// What is in the checkout now, kept under a name of its own and not recorded: for comparing it
/// with what was verified.
///
/// # Errors
///
/// Those of [`GitRequest::Checkpoint`].
pub async fn snapshot_work(io: &Io, store: &Store) -> Result<KeptWork, Failure> {
    io.git_checkpoint(named_request(io, store, SEEN, "seen")).await
}

/// What [`snapshot_work`] keeps is called.
const SEEN: &str = "finish";

/// Lets git forget what [`snapshot_work`] has kept, where a checkpoint has the same files.
pub async fn forget_snapshot(io: &Io, store: &Store, commit: String) {
    let run = store.run();
    let (cwd, name) = (run.place.execution_root.clone(), format!("{}/{SEEN}", run.id));
    // A snapshot that cannot be removed does no harm.
    let _ = io.git(GitRequest::ForgetCheckpoint { cwd, name, commit }).await;
}

fn request(io: &Io, store: &Store, moment: CheckpointMoment) -> GitRequest {
    named_request(io, store, &moment.name(), moment.kind().as_str())
}

fn named_request(io: &Io, store: &Store, name: &str, kind: &str) -> GitRequest {
    let run = store.run();
    let id = &run.id;
    GitRequest::Checkpoint {
        cwd: run.place.execution_root.clone(),
        index: store.paths().index(),
        name: format!("{id}/{name}"),
        parent: run.last_checkpoint().map(|last| last.commit.clone()),
        message: format!("Checkpoint {name} of {id} ({kind})\n"),
        at: io.now(),
        limit_bytes: limits::CHECKPOINT_FILE_BYTES,
        programs: run.trusted_programs().map(str::to_owned),
    }
}

fn missed(store: &mut Store, moment: CheckpointMoment, failure: &Failure) -> CheckpointOutcome {
    let reason = text::ellipsis(&text::one_line(&failure.message), 500);
    store.note(format!("warning: checkpoint {} was not taken: {reason}", moment.name()));
    match store.apply(Event::CheckpointMissed { moment, reason: reason.clone() }) {
        Ok(()) => CheckpointOutcome::Missed(reason),
        Err(refusal) => CheckpointOutcome::Missed(refusal.to_string()),
    }
}

/// Says which files a checkpoint does not have.
fn incomplete(checkpoint: &Checkpoint) -> String {
    let name = checkpoint.moment.name();
    if checkpoint.complete {
        return format!("Checkpoint {name} is complete again.");
    }
    let mut lines = format!("warning: checkpoint {name} is not complete; left out:");
    for left in &checkpoint.left_out {
        lines += &format!("\n  {}", left_out_line(left));
    }
    let more = checkpoint.left_out_count.saturating_sub(checkpoint.left_out.len() as u64);
    if more > 0 {
        lines += &format!("\n  … and {more} more");
    }
    lines
}

/// A file that is left out, and why.
pub fn left_out_line(LeftOut { path, why }: &LeftOut) -> String {
    let why = match why {
        LeftOutReason::TooLarge => {
            format!("larger than {} MiB; ignore it, or use Git LFS", MIB_KEPT)
        }
        LeftOutReason::Unreadable => "it cannot be read".to_owned(),
        LeftOutReason::NoCommit => "a repository without a commit".to_owned(),
    };
    format!("{} ({why})", text::one_line(path))
}

const MIB_KEPT: u64 = limits::CHECKPOINT_FILE_BYTES / (1024 * 1024);

/// Takes the checkpoint of the beginning of a run, where there is none yet.
pub async fn checkpoint_start(io: &Io, store: &mut Store) -> CheckpointOutcome {
    match store.run().checkpoints.is_empty() {
        true => take_checkpoint(io, store, CheckpointMoment::Begun).await,
        false => CheckpointOutcome::Taken,
    }
}

/// Takes the checkpoint after the turn of the present attempt, before any check runs.
pub async fn checkpoint_turn(io: &Io, store: &mut Store, step: u32) -> CheckpointOutcome {
    let attempt = attempts(store.run(), step);
    take_checkpoint(io, store, CheckpointMoment::Acted { step, attempt }).await
}

/// Takes the checkpoint of a verified step, once the record and what it changes in
/// the checkout are durable. A step that is not done has nothing to keep.
///
/// # Errors
///
/// Those of the store.
pub async fn checkpoint_verified(
    io: &Io,
    store: &mut Store,
    step: u32,
) -> Result<CheckpointOutcome, StoreError> {
    let record = store.run().step(step);
    let done = record.is_some_and(|record| record.status == StepStatus::Done);
    if store.run().place.repo_root.is_none() || !done {
        return Ok(CheckpointOutcome::NoRepository);
    }
    // The box of the step is ticked in the checkout.
    store.commit().await?;
    let attempt = attempts(store.run(), step);
    Ok(take_checkpoint(io, store, CheckpointMoment::Verified { step, attempt }).await)
}

/// Takes the checkpoints of verified steps of which a process has left none that ended after their
/// verification. None is taken while a step is under way in the worktree.
///
/// # Errors
///
/// Those of the store.
pub(super) async fn checkpoint_left_out(
    io: &Io,
    store: &mut Store,
) -> Result<CheckpointOutcome, StoreError> {
    for step in store.run().done_without_checkpoint() {
        if store.run().is_changing_its_worktree() {
            return Ok(CheckpointOutcome::Missed("a step is under way".to_owned()));
        }
        match checkpoint_verified(io, store, step).await? {
            CheckpointOutcome::Taken => {}
            outcome => return Ok(outcome),
        }
    }
    Ok(CheckpointOutcome::Taken)
}

/// Takes the checkpoint that the whole run is judged by, before it ends.
///
/// # Errors
///
/// Those of the store.
pub async fn checkpoint_end(io: &Io, store: &mut Store) -> Result<CheckpointOutcome, StoreError> {
    let last = store.run().last_step();
    checkpoint_verified(io, store, last).await
}

/// Takes a checkpoint and commits the store, where an agent drives the run step by step.
pub async fn checkpoint_and_commit<K>(
    io: &Io,
    store: &mut Store,
    keeping: K,
) -> Result<(), CommandError>
where
    K: AsyncFnOnce(&Io, &mut Store) -> Result<CheckpointOutcome, StoreError>,
{
    let kept = keeping(io, store).await;
    let committed = match kept {
        Ok(CheckpointOutcome::Interrupted) => return Err(CommandError::interrupted()),
        Ok(
            CheckpointOutcome::Taken
            | CheckpointOutcome::NoRepository
            | CheckpointOutcome::Missed(_),
        ) => store.commit().await,
        Err(error) => Err(error),
    };
    Ok(committed?)
}

fn attempts(run: &Run, step: u32) -> u32 {
    run.step(step).map_or(0, |record| record.attempts)
}

/// Which checkpoints there are, where `name` is none of them.
pub fn unknown_checkpoint(run: &Run, name: &str) -> CommandError {
    let id = &run.id;
    if run.checkpoints.is_empty() {
        return CommandError::refused(format!("run `{id}` has no checkpoints"))
            .because("it works outside a git repository, or began before its first checkpoint");
    }
    let names: Vec<String> = run.checkpoints.iter().map(|c| c.moment.name()).collect();
    let what = format!("run `{id}` has no checkpoint `{}`", text::one_line(name));
    CommandError::usage(what).fix(format!("name one of {}", names.join(", ")))
}
