//! Keeping the work at the moments that matter, as commits that no branch shows.

use crate::error::CommandError;
use crate::state::store::{Store, StoreError};
use onloop_effect::{Failure, GitRequest, Io, KeptWork, LeftOut, LeftOutReason};
use onloop_run::{Checkpoint, CheckpointMoment, Event, Run, StepStatus};
use onloop_syntax::limits;
use onloop_syntax::text;

/// How a checkpoint came out.
#[derive(Debug)]
pub enum Keeping {
    /// It is there; durable in the record after the next commit of the store.
    Kept,
    /// The work is in no repository, so that there are no checkpoints.
    NoRepository,
    /// There is none, for this reason.
    Missed(String),
    /// The person pressed Ctrl-C.
    Interrupted,
}

/// Keeps the work and records that. A failure is recorded and said, and stops nothing.
pub async fn keep(io: &Io, store: &mut Store, moment: CheckpointMoment) -> Keeping {
    let run = store.run();
    if run.place.repo_root.is_none() {
        return Keeping::NoRepository;
    }
    let kept = match io.git_checkpoint(request(io, store, moment)).await {
        Ok(kept) => kept,
        Err(failure) if failure.is_not_found() && run.checkpoints.is_empty() => {
            return Keeping::NoRepository;
        }
        Err(failure) if failure.is_interrupted() => return Keeping::Interrupted,
        Err(failure) => return missed(store, moment, &failure),
    };
    let before = run.last_checkpoint().map(|last| last.left_out.clone()).unwrap_or_default();
    let checkpoint = Checkpoint::of(moment, kept);
    if checkpoint.left_out != before {
        store.note(incomplete(&checkpoint));
    }
    match store.apply(Event::CheckpointTaken(checkpoint)) {
        Ok(()) => Keeping::Kept,
        Err(refusal) => Keeping::Missed(refusal.to_string()),
    }
}

/// What is in the checkout now, kept under a name of its own and not recorded: for comparing it
/// with what was verified.
///
/// # Errors
///
/// Those of [`GitRequest::Checkpoint`].
pub async fn look(io: &Io, store: &Store) -> Result<KeptWork, Failure> {
    io.git_checkpoint(named_request(io, store, SEEN, "seen")).await
}

/// What [`look`] keeps is called.
const SEEN: &str = "finish";

/// Lets git forget what [`look`] has kept, where a checkpoint has the same files.
pub async fn forget(io: &Io, store: &Store, commit: String) {
    let run = store.run();
    let (cwd, name) = (run.place.execution_root.clone(), format!("{}/{SEEN}", run.id));
    // What cannot be taken away is only in nobody's way.
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

fn missed(store: &mut Store, moment: CheckpointMoment, failure: &Failure) -> Keeping {
    let reason = text::ellipsis(&text::one_line(&failure.message), 500);
    store.note(format!("warning: checkpoint {} was not taken: {reason}", moment.name()));
    match store.apply(Event::CheckpointMissed { moment, reason: reason.clone() }) {
        Ok(()) => Keeping::Missed(reason),
        Err(refusal) => Keeping::Missed(refusal.to_string()),
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

/// Keeps what a run begins with, where that has not been kept yet.
pub async fn keep_beginning(io: &Io, store: &mut Store) -> Keeping {
    match store.run().checkpoints.is_empty() {
        true => keep(io, store, CheckpointMoment::Begun).await,
        false => Keeping::Kept,
    }
}

/// Keeps what the agent of the present attempt has left, before anything is checked.
pub async fn keep_acted(io: &Io, store: &mut Store, step: u32) -> Keeping {
    let attempt = attempts(store.run(), step);
    keep(io, store, CheckpointMoment::Acted { step, attempt }).await
}

/// Keeps what the checks of a step have found to be good, once the record and what it changes in
/// the checkout are durable. A step that is not done has nothing to keep.
///
/// # Errors
///
/// Those of the store.
pub async fn keep_verified(io: &Io, store: &mut Store, step: u32) -> Result<Keeping, StoreError> {
    let record = store.run().step(step);
    let done = record.is_some_and(|record| record.status == StepStatus::Done);
    if store.run().place.repo_root.is_none() || !done {
        return Ok(Keeping::NoRepository);
    }
    // The box of the step is ticked in the checkout.
    store.commit().await?;
    let attempt = attempts(store.run(), step);
    Ok(keep(io, store, CheckpointMoment::Verified { step, attempt }).await)
}

/// Keeps what the whole run is judged by, before it ends.
///
/// # Errors
///
/// Those of the store.
pub async fn keep_whole(io: &Io, store: &mut Store) -> Result<Keeping, StoreError> {
    let last = store.run().steps.len() as u32;
    keep_verified(io, store, last).await
}

/// The same where an agent drives the run step by step.
pub async fn keep_between<K>(io: &Io, store: &mut Store, keeping: K) -> Result<(), CommandError>
where
    K: AsyncFnOnce(&Io, &mut Store) -> Result<Keeping, StoreError>,
{
    let kept = keeping(io, store).await;
    let committed = match kept {
        Ok(Keeping::Interrupted) => return Err(CommandError::interrupted()),
        Ok(Keeping::Kept | Keeping::NoRepository | Keeping::Missed(_)) => store.commit().await,
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
