//! `onloop auto begin` and `onloop auto resume`: one child at a time, for hosts that start
//! the children themselves.

use std::fmt;

use super::args::{AutoResumeArgs, BeginArgs};
use super::child::log_path;
use super::drive::{AutoHalt, advance, take};
use super::run::run_id;
use super::workspace::{HealthCommands, Speech, Workspace};
use onloop_auto::child::ChildOutcome;
use onloop_auto::prompts::{self, TaskForm};
use onloop_auto::record::{
    Assignment, Auto, AutoEnding, AutoEvent, AutoNext, Dispatch, LockWritten,
};
use onloop_auto::{RUNTIME_FOLDER, STATE_PATH};
use onloop_documents::auto::{AutoDocument, HostLine, InvalidState, to_line};
use onloop_effect::{Durability, Exit, Expect, Failure, Io, OptionalExt};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Longest wait for another process that is at the same run.
const GUARD_WAIT_MS: u64 = 2000;

/// Begins a run and goes up to its first child.
pub async fn begin(io: Io, args: BeginArgs) -> Exit {
    let profile = match args.rules.profile() {
        Ok(profile) => profile,
        Err(invalid) => return refuse(&io, Exit::Usage, &invalid).await,
    };
    let auto = Auto::begin(Assignment {
        run: run_id(io.start()),
        argument: args.argument,
        profile,
        options: args.rules.options(),
        can_dispatch: !args.no_subagents,
    });
    let workspace = Workspace::new(&io, args.rules.health(), Speech::Held(String::new()));
    go_on(&io, workspace, auto).await
}

/// Takes a child's answer and goes up to the next child or the end.
pub async fn resume(io: Io, args: AutoResumeArgs) -> Exit {
    let workspace = Workspace::new(&io, HealthCommands::default(), Speech::Held(String::new()));
    let mut workspace = workspace.waiting_for_guard(GUARD_WAIT_MS);
    if let Err(failure) = workspace.hold_guard().await {
        return refuse(&io, Exit::Refused, &failure).await;
    }
    let auto = match load(&io).await {
        Ok(auto) => auto,
        Err(error) => return refuse(&io, error.exit(), &error).await,
    };
    let AutoNext::Dispatch(dispatch) = auto.next() else {
        let error = ResumeError::NotWaiting;
        return refuse(&io, error.exit(), &error).await;
    };
    let outcome = match outcome(&io, &args, &auto.assignment().run, dispatch).await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return remind(&io, workspace, &auto.assignment().run, dispatch).await,
        Err(error) => return refuse(&io, error.exit(), &error).await,
    };
    let event = AutoEvent::ChildFinished { cycle: dispatch.cycle, outcome };
    let auto = take(&mut workspace, &auto, event).await;
    go_on(&io, workspace, auto).await
}

/// Why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
enum ResumeError {
    #[error("found no run that waits for a child; begin one with `onloop auto begin`")]
    NothingStored,
    /// The stored run cannot be read.
    #[error(transparent)]
    Unreadable(Failure),
    #[error("`{STATE_PATH}`: {0}")]
    Invalid(InvalidState),
    /// The stored run does not wait for a child.
    #[error("the run in `{STATE_PATH}` does not wait for a child")]
    NotWaiting,
    #[error("found `{0}`, expected `threw`, `timeout`, `cancelled` or `unavailable`")]
    UnknownFailure(String),
    /// The file belongs to another child; this one's answer is expected in the file named here.
    #[error("found the answer of another child, expected `{0}`")]
    OtherChild(String),
    #[error("cannot read the answer: {0}")]
    UnreadableAnswer(Failure),
}

impl ResumeError {
    fn exit(&self) -> Exit {
        match self {
            ResumeError::NothingStored
            | ResumeError::UnknownFailure(_)
            | ResumeError::OtherChild(_)
            | ResumeError::UnreadableAnswer(_) => Exit::Usage,
            ResumeError::Unreadable(_) | ResumeError::Invalid(_) | ResumeError::NotWaiting => {
                Exit::Refused
            }
        }
    }
}

/// Advances, stores, and only then speaks of a dispatch.
async fn go_on(io: &Io, mut workspace: Workspace, mut auto: Auto) -> Exit {
    let run = auto.assignment().run.clone();
    loop {
        let (waiting, dispatch) = match advance(&mut workspace, auto).await {
            AutoHalt::Child(waiting, dispatch) => (waiting, dispatch),
            AutoHalt::Over(ending) => {
                workspace.remark_on(ending).await;
                forget(io, &run).await;
                io.result(to_line(&HostLine::stop(ending))).await;
                return ending.exit();
            }
        };
        let stored = store(io, &waiting, &dispatch).await;
        workspace.speak().await;
        match stored {
            Ok(()) => {
                io.result(dispatch_line(io, &run, &dispatch)).await;
                return Exit::Done;
            }
            // Nobody could resume what is not stored.
            Err(failure) => {
                let message = format!("cannot store the run: {failure}");
                io.note(format!("error: {}", text::one_line(&message))).await;
                auto = take(&mut workspace, &waiting, AutoEvent::Aborted).await;
            }
        }
    }
}

/// Renews the lock and prints the dispatch of the child again that the run waits for.
async fn remind(io: &Io, mut workspace: Workspace, run: &str, dispatch: &Dispatch) -> Exit {
    match workspace.refresh_lock(run).await {
        LockWritten::Ours => {
            io.result(dispatch_line(io, run, dispatch)).await;
            Exit::Done
        }
        LockWritten::Lost => {
            let message = "another run has taken the lock; this one ends with its child's answer";
            refuse(io, AutoEnding::LockHeld.exit(), &message).await
        }
        LockWritten::Failed(why) => refuse(io, Exit::Refused, &why).await,
    }
}

/// How the child came back; `None` where the command line does not say that it has.
async fn outcome(
    io: &Io,
    args: &AutoResumeArgs,
    run: &str,
    dispatch: &Dispatch,
) -> Result<Option<ChildOutcome>, ResumeError> {
    if let Some(word) = &args.failed {
        return match word.as_str() {
            "threw" => Ok(Some(ChildOutcome::Failed("the host says so".to_owned()))),
            "timeout" => Ok(Some(ChildOutcome::TimedOut)),
            "cancelled" => Ok(Some(ChildOutcome::Cancelled)),
            "unavailable" => Ok(Some(ChildOutcome::Unavailable)),
            other => Err(ResumeError::UnknownFailure(other.to_owned())),
        };
    }
    let Some(path) = &args.result_file else { return Ok(None) };
    let expected = result_path(run, dispatch);
    if is_result_path(path) && !path.ends_with(&expected) {
        return Err(ResumeError::OtherChild(expected));
    }
    match io.read(path, limits::AUTO_FILE_BYTES).await {
        Ok((bytes, _)) => {
            Ok(Some(ChildOutcome::Answered(String::from_utf8_lossy(&bytes).into_owned())))
        }
        Err(failure) => Err(ResumeError::UnreadableAnswer(failure)),
    }
}

async fn load(io: &Io) -> Result<Auto, ResumeError> {
    let read = io.read(STATE_PATH, limits::AUTO_FILE_BYTES).await.optional();
    let (bytes, _) = read.map_err(ResumeError::Unreadable)?.ok_or(ResumeError::NothingStored)?;
    AutoDocument::read(&bytes).map_err(ResumeError::Invalid)
}

async fn store(io: &Io, auto: &Auto, dispatch: &Dispatch) -> Result<(), Failure> {
    let run = &auto.assignment().run;
    let prompt = prompts::dispatch(dispatch.target, &dispatch.argument, TaskForm::Prose);
    let prompt_path = log_path(run, dispatch, "prompt.md");
    io.write(&prompt_path, io.redacted(&prompt).into_bytes(), Expect::Any, Durability::Relaxed)
        .await?;
    // The file is there before its name is told, so that a host may simply fill it.
    io.write(&result_path(run, dispatch), Vec::new(), Expect::Any, Durability::Relaxed).await?;
    let state = to_line(&AutoDocument::new(auto)).into_bytes();
    io.write(STATE_PATH, state, Expect::Any, Durability::Durable).await?;
    Ok(())
}

/// Removes the stored run, if it is this one.
async fn forget(io: &Io, run: &str) {
    let is_ours = load(io).await.is_ok_and(|stored| stored.assignment().run == run);
    if is_ours && let Err(failure) = io.remove(STATE_PATH).await {
        io.note(format!("warning: cannot remove `{STATE_PATH}`: {failure}")).await;
    }
}

fn dispatch_line(io: &Io, run: &str, dispatch: &Dispatch) -> String {
    to_line(&HostLine::dispatch(dispatch, io.told_path(&result_path(run, dispatch))))
}

fn result_path(run: &str, dispatch: &Dispatch) -> String {
    log_path(run, dispatch, "result.md")
}

/// Whether a path looks like one that [`result_path`] made.
fn is_result_path(path: &str) -> bool {
    path.contains(&format!("{RUNTIME_FOLDER}/logs/")) && path.ends_with(".result.md")
}

async fn refuse(io: &Io, exit: Exit, error: &impl fmt::Display) -> Exit {
    io.note(format!("error: {}", text::one_line(&error.to_string()))).await;
    exit
}
