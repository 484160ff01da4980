//! `onloop auto begin` and `onloop auto resume`: one child at a time, for hosts that start
//! the children themselves.

use super::args::{BeginArgs, ResumeArgs};
use super::child::stem;
use super::drive::{Halt, advance, refresh_lock, take};
use super::run::run_id;
use super::workspace::{HealthCommands, Speech, Workspace};
use crate::auto::child::ChildOutcome;
use crate::auto::prompts::{self, TaskForm};
use crate::auto::record::{Assignment, Auto, Dispatch, Ending, Event, LockWritten, Next};
use crate::auto::{RUNTIME_FOLDER, STATE_PATH};
use crate::documents::auto::{AutoDocument, HostLine, to_line};
use crate::effect::{Durability, Exit, Expect, Failure, FailureKind, Io};
use crate::limits;
use crate::text;

/// Longest wait for another process that is at the same run.
const PATIENCE_MS: u64 = 2000;

/// Begins a run and goes up to its first child.
pub async fn begin(io: Io, args: BeginArgs) -> Exit {
    let profile = match args.rules.profile() {
        Ok(profile) => profile,
        Err(message) => return refuse(&io, Exit::Usage, &message).await,
    };
    let auto = Auto::begin(Assignment {
        run: run_id(io.start()),
        argument: args.argument,
        profile,
        options: args.rules.options(),
        can_dispatch: !args.no_subagents,
    });
    let world = Workspace::new(&io, args.rules.health(), Speech::Held(String::new()));
    go_on(&io, world, auto).await
}

/// Takes a child's answer and goes up to the next child or the end.
pub async fn resume(io: Io, args: ResumeArgs) -> Exit {
    let speech = Speech::Held(String::new());
    let mut world =
        Workspace::new(&io, HealthCommands::default(), speech).with_patience(PATIENCE_MS);
    if let Err(failure) = world.hold_guard().await {
        return refuse(&io, Exit::Refused, &failure.message).await;
    }
    let auto = match load(&io).await {
        Ok(auto) => auto,
        Err((exit, message)) => return refuse(&io, exit, &message).await,
    };
    let Next::Dispatch(dispatch) = auto.next() else {
        let message = format!("found a run in `{STATE_PATH}` that waits for no child");
        return refuse(&io, Exit::Refused, &message).await;
    };
    let outcome = match outcome(&io, &args, &auto.assignment().run, dispatch).await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return remind(&io, world, &auto.assignment().run, dispatch).await,
        Err(message) => return refuse(&io, Exit::Usage, &message).await,
    };
    let event = Event::ChildFinished { cycle: dispatch.cycle, outcome };
    let auto = take(&mut world, &auto, event).await;
    go_on(&io, world, auto).await
}

/// Advances, stores, and only then speaks of a dispatch.
async fn go_on(io: &Io, mut world: Workspace, mut auto: Auto) -> Exit {
    let run = auto.assignment().run.clone();
    loop {
        let (waiting, dispatch) = match advance(&mut world, auto).await {
            Halt::Child(waiting, dispatch) => (waiting, dispatch),
            Halt::Over(ending) => {
                forget(io, &run).await;
                io.result(to_line(&HostLine::stop(ending))).await;
                return ending.exit();
            }
        };
        let stored = store(io, &waiting, &dispatch).await;
        world.speak().await;
        match stored {
            Ok(()) => {
                io.result(dispatch_line(&run, &dispatch)).await;
                return Exit::Done;
            }
            // Nobody could resume what is not stored.
            Err(failure) => {
                let message = format!("cannot store the run: {failure}");
                io.note(format!("error: {}", text::one_line(&message))).await;
                auto = take(&mut world, &waiting, Event::Aborted).await;
            }
        }
    }
}

/// Renews the lock and names the child again that is waited for.
async fn remind(io: &Io, mut world: Workspace, run: &str, dispatch: &Dispatch) -> Exit {
    match refresh_lock(&mut world, run).await {
        LockWritten::Ours => {
            io.result(dispatch_line(run, dispatch)).await;
            Exit::Done
        }
        LockWritten::Lost => {
            let message = "another run has taken the lock; this one ends with its child's answer";
            refuse(io, Ending::LockHeld.exit(), message).await
        }
        LockWritten::Failed(why) => refuse(io, Exit::Refused, &why).await,
    }
}

/// How the child came back; `None`: nobody says that it has.
async fn outcome(
    io: &Io,
    args: &ResumeArgs,
    run: &str,
    dispatch: &Dispatch,
) -> Result<Option<ChildOutcome>, String> {
    if let Some(word) = &args.failed {
        return match word.as_str() {
            "threw" => Ok(Some(ChildOutcome::Failed("the host says so".to_owned()))),
            "timeout" => Ok(Some(ChildOutcome::TimedOut)),
            "cancelled" => Ok(Some(ChildOutcome::Cancelled)),
            "unavailable" => Ok(Some(ChildOutcome::Unavailable)),
            other => Err(format!(
                "found `{other}`, expected `threw`, `timeout`, `cancelled` or `unavailable`"
            )),
        };
    }
    let Some(path) = &args.result_file else { return Ok(None) };
    let expected = result_path(run, dispatch);
    if is_result_path(path) && !path.ends_with(&expected) {
        return Err(format!("found the answer of another child, expected `{expected}`"));
    }
    match io.read(path, limits::AUTO_FILE_BYTES).await {
        Ok((bytes, _)) => {
            Ok(Some(ChildOutcome::Answered(String::from_utf8_lossy(&bytes).into_owned())))
        }
        Err(failure) => Err(format!("cannot read the answer: {failure}")),
    }
}

async fn load(io: &Io) -> Result<Auto, (Exit, String)> {
    let bytes = match io.read(STATE_PATH, limits::AUTO_FILE_BYTES).await {
        Ok((bytes, _)) => bytes,
        Err(failure) if failure.kind == FailureKind::NotFound => {
            let message = "found no run that waits for a child; begin one with `onloop auto begin`";
            return Err((Exit::Usage, message.to_owned()));
        }
        Err(failure) => return Err((Exit::Refused, failure.message)),
    };
    AutoDocument::read(&bytes).map_err(|why| (Exit::Refused, format!("`{STATE_PATH}`: {why}")))
}

async fn store(io: &Io, auto: &Auto, dispatch: &Dispatch) -> Result<(), Failure> {
    let run = &auto.assignment().run;
    let prompt =
        prompts::dispatch(dispatch.target, &dispatch.argument, TaskForm::Prose).into_bytes();
    io.write(&prompt_path(run, dispatch), prompt, Expect::Any, Durability::Relaxed).await?;
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

fn dispatch_line(run: &str, dispatch: &Dispatch) -> String {
    to_line(&HostLine::dispatch(dispatch, result_path(run, dispatch)))
}

fn result_path(run: &str, dispatch: &Dispatch) -> String {
    format!("{RUNTIME_FOLDER}/logs/{run}/{}.result.md", stem(dispatch))
}

fn prompt_path(run: &str, dispatch: &Dispatch) -> String {
    format!("{RUNTIME_FOLDER}/logs/{run}/{}.prompt.md", stem(dispatch))
}

/// Whether a path looks like one that [`result_path`] made.
fn is_result_path(path: &str) -> bool {
    path.contains(&format!("{RUNTIME_FOLDER}/logs/")) && path.ends_with(".result.md")
}

async fn refuse(io: &Io, exit: Exit, message: &str) -> Exit {
    io.note(format!("error: {}", text::one_line(message))).await;
    exit
}
