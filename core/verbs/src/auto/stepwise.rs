//! `onloop auto begin` and `onloop auto resume`: one child at a time, for hosts that start
//! the children themselves.

use super::args::{AutoResumeArgs, BeginArgs};
use super::child::log_path;
use super::drive::{AutoHalt, advance, take};
use super::noted;
use super::run::run_id;
use super::workspace::{HealthCommands, Speech, Workspace};
use onloop_auto::child::ChildOutcome;
use onloop_auto::documents::{AutoDocument, HostLine, InvalidState, to_line};
use onloop_auto::prompts;
use onloop_auto::record::{
    Assignment, Auto, AutoEnding, AutoEvent, AutoNext, Dispatch, LockWritten,
};
use onloop_auto::{RUNTIME_FOLDER, STATE_PATH};
use onloop_effect::{Durability, Exit, Expect, Failure, Io, OptionalExt};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Longest wait for another process that is at the same run.
const GUARD_WAIT_MS: u64 = 2000;

/// Begins a run and goes up to its first child.
pub async fn begin(io: Io, args: BeginArgs) -> Result<Exit, CommandError> {
    let profile = args.rules.profile()?;
    noted::end_killed(&io).await?;
    let auto = Auto::begin(Assignment {
        run: run_id(io.start()),
        argument: args.argument,
        profile,
        options: args.rules.options(),
        can_dispatch: !args.no_subagents,
    });
    let workspace = Workspace::new(&io, args.rules.health(), Speech::Deferred(String::new()));
    Ok(continue_run(&io, workspace, auto).await)
}

/// Takes a child's answer and goes up to the next child or the end.
pub async fn resume(io: Io, args: AutoResumeArgs) -> Result<Exit, CommandError> {
    let workspace = Workspace::new(&io, HealthCommands::default(), Speech::Deferred(String::new()));
    let mut workspace = workspace.waiting_for_guard(GUARD_WAIT_MS);
    workspace.hold_guard().await?;
    let auto = load(&io).await?;
    let AutoNext::Dispatch(dispatch) = auto.next() else {
        return Err(ResumeError::NotWaiting.into());
    };
    let Some(outcome) = outcome(&io, &args, &auto.assignment().run, dispatch).await? else {
        return remind(&io, workspace, &auto.assignment().run, dispatch).await;
    };
    let event = AutoEvent::ChildFinished { cycle: dispatch.cycle, outcome };
    let auto = take(&mut workspace, &auto, event).await;
    Ok(continue_run(&io, workspace, auto).await)
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

impl From<ResumeError> for CommandError {
    fn from(error: ResumeError) -> CommandError {
        let kind = match error {
            ResumeError::NothingStored
            | ResumeError::UnknownFailure(_)
            | ResumeError::OtherChild(_)
            | ResumeError::UnreadableAnswer(_) => ErrorKind::Usage,
            ResumeError::Unreadable(_) | ResumeError::Invalid(_) | ResumeError::NotWaiting => {
                ErrorKind::Refused
            }
        };
        CommandError::new(kind, text::one_line(&error.to_string()))
    }
}

/// Advances, stores, and only then speaks of a dispatch.
async fn continue_run(io: &Io, mut workspace: Workspace, mut auto: Auto) -> Exit {
    let run = auto.assignment().run.clone();
    loop {
        let (waiting, dispatch) = match advance(&mut workspace, auto).await {
            AutoHalt::Child(waiting, dispatch) => (waiting, dispatch),
            AutoHalt::Over(ending) => {
                forget(io, &run).await;
                noted::forget(io, &run).await;
                io.result(to_line(&HostLine::stop(ending))).await;
                return ending.exit();
            }
        };
        let stored = store(io, &waiting, &dispatch).await;
        workspace.speak().await;
        match stored {
            Ok(()) => {
                let result_file = io.caller_path(&result_path(&run, &dispatch));
                noted::note_hosted(io, &run, &dispatch, result_file).await;
                io.result(dispatch_line(io, &run, &dispatch)).await;
                return Exit::Done;
            }
            // What is not stored could not be resumed.
            Err(failure) => {
                CommandError::from(failure).context("cannot store the run").report(io).await;
                auto = take(&mut workspace, &waiting, AutoEvent::Aborted).await;
            }
        }
    }
}

/// Renews the lock and prints the dispatch of the child again that the run waits for.
async fn remind(
    io: &Io,
    mut workspace: Workspace,
    run: &str,
    dispatch: &Dispatch,
) -> Result<Exit, CommandError> {
    match workspace.refresh_lock(run).await {
        LockWritten::Ours => {
            io.result(dispatch_line(io, run, dispatch)).await;
            Ok(Exit::Done)
        }
        LockWritten::Lost => Err(CommandError::new(
            ErrorKind::Custom(AutoEnding::LockHeld.exit().code()),
            "another run has taken the lock; this one ends with its child's answer",
        )),
        LockWritten::Failed(why) => Err(CommandError::refused(why)),
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
    let prompt = prompts::dispatch(dispatch.target, &dispatch.argument);
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
    to_line(&HostLine::dispatch(dispatch, io.caller_path(&result_path(run, dispatch))))
}

fn result_path(run: &str, dispatch: &Dispatch) -> String {
    log_path(run, dispatch, "result.md")
}

/// Whether a path looks like one that [`result_path`] made.
fn is_result_path(path: &str) -> bool {
    path.contains(&format!("{RUNTIME_FOLDER}/logs/")) && path.ends_with(".result.md")
}
