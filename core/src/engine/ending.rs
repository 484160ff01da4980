//! What a person reads when a run stops: what happened, where the report is, how to go on.

use crate::documents;
use crate::effect::{Exit, FailureKind, Io};
use crate::engine::ask;
use crate::engine::conduct::{Conduct, Stop};
use crate::engine::store::{Store, StoreError};
use crate::preflight::Mode;
use crate::run::{Next, Question, Run, RunStatus, exceeded, render_summary};

/// Says how the run stands and returns the exit code for it.
pub(crate) async fn tell(io: &Io, store: &Store, how: &Conduct, stop: Stop) -> Exit {
    match stop {
        Stop::Failed(error) => tell_failure(io, store, how, &error).await,
        Stop::Interrupted => {
            io.note(format!(
                "Interrupted; the record is saved.\n{}",
                go_on(store.run(), &how.again)
            ))
            .await;
            tell_report(io, store).await;
            Exit::Interrupted
        }
        Stop::AtRest => tell_rest(io, store, how).await,
    }
}

async fn tell_failure(io: &Io, store: &Store, how: &Conduct, error: &StoreError) -> Exit {
    let resume = resume_command(store.run(), &how.again);
    let advice = match error {
        StoreError::Failed(failure) => match failure.kind {
            FailureKind::Full => "make room on the disk, then continue",
            FailureKind::Denied => "make `.hotl/` writable, then continue",
            FailureKind::NotFound
            | FailureKind::Exists
            | FailureKind::Conflict
            | FailureKind::TooLarge
            | FailureKind::Invalid
            | FailureKind::Busy
            | FailureKind::Closed
            | FailureKind::Interrupted
            | FailureKind::Unsupported
            | FailureKind::Other => "continue when that is mended",
        },
        StoreError::Missing | StoreError::Unreadable(_) | StoreError::Overtaken(_) => {
            "look at the run, then continue"
        }
    };
    io.note(format!(
        "error: the run could not go on: {error}\n  Nothing recorded is lost; {advice}:\n    \
         {resume}"
    ))
    .await;
    Exit::Refused
}

async fn tell_rest(io: &Io, store: &Store, how: &Conduct) -> Exit {
    let run = store.run();
    let exit = match &run.status {
        RunStatus::Completed | RunStatus::ReadyToFinish => Exit::Done,
        RunStatus::Paused | RunStatus::Running => Exit::Paused,
        RunStatus::Blocked | RunStatus::Abandoned => Exit::Failed,
    };
    if how.json {
        let summary = serde_json::to_string_pretty(&documents::summary::summary(run));
        io.result(summary.expect("a summary has only string keys") + "\n").await;
    } else {
        io.note("").await;
        io.result(render_summary(run, how.platform)).await;
    }
    let state = match run.next() {
        Next::Blocked(blocker) if blocker.rejected => format!("\nRejected: {}", blocker.reason),
        Next::Blocked(blocker) => {
            // Reasons that are sentences of their own name the step themselves.
            let step = format!("Step {}", blocker.step);
            match blocker.reason.starts_with(&step) {
                true => format!("\nBlocked: {}", blocker.reason),
                false => format!("\nBlocked: {step}: {}", blocker.reason),
            }
        }
        Next::Finished => format!("\nRun {}", run.status.as_str()),
        Next::Ask(question) => format!("\nPaused: {}", ask::reason(run, &question)),
        // Nothing in the plan holds it up; whoever paused it said why.
        _ => match run.events.iter().rfind(|entry| entry.event == "run_paused") {
            Some(entry) => format!("\n{}", entry.text),
            None => "\nPaused".to_owned(),
        },
    };
    io.note(format!("{state} ({})", run.id)).await;
    if exit != Exit::Done {
        io.note(go_on(run, &how.again)).await;
    }
    if exit == Exit::Done {
        tell_place(io, run).await;
    }
    tell_report(io, store).await;
    exit
}

async fn tell_report(io: &Io, store: &Store) {
    io.note(format!("Report: {}", store.paths().report())).await;
}

/// Where the finished work is.
async fn tell_place(io: &Io, run: &Run) {
    let Some(branch) = &run.place.branch else { return };
    if run.place.executor_mode == Mode::None.as_str() {
        return;
    }
    match &run.place.worktree_path {
        Some(path) => io.note(format!("Work: branch {branch} in {path}")).await,
        None => io.note(format!("Work: branch {branch} in {}", run.place.execution_root)).await,
    }
}

/// The exact commands that take the run further; `again` are the options with which it is
/// conducted as it was (see [`crate::verb::run::ConductArgs::options`]).
pub(crate) fn go_on(run: &Run, again: &str) -> String {
    let id = &run.id;
    let resume = resume_command(run, again);
    match run.next() {
        Next::Ask(Question::Gate { step }) => gate_commands(id, step, &resume),
        Next::Ask(Question::Review { step, prompt }) if prompt.is_empty() => {
            gate_commands(id, step, &resume)
        }
        Next::Ask(Question::Review { step, prompt }) => {
            format!(
                "To review: {prompt}
{}",
                gate_commands(id, step, &resume)
            )
        }
        Next::Ask(Question::Verdict { .. }) => format!(
            "Mend what the review found, then review again:\n  {resume}\n\
             Or accept the verdict and go on:\n  {resume} --accept-review"
        ),
        Next::Ask(Question::Budget { .. }) => format!(
            "{}\nRaise it and continue, for example:\n  {resume} --raise {}",
            ask::budget_words(run),
            exceeded(run).first().map_or("max_total_attempts=100".to_owned(), |exceeded| {
                format!("{}=unlimited", exceeded.name)
            })
        ),
        Next::Ask(Question::Interrupted { step }) => format!(
            "Step {step} was interrupted. Do it again:\n  {resume} --interrupted redo\n\
             Or, after looking at it, take it as done:\n  {resume} --interrupted done"
        ),
        Next::Blocked(blocker) if blocker.rejected => format!(
            "Change your mind and go on:\n  onloop gate {} approved --run-id {id} && {resume}",
            blocker.step
        ),
        Next::Blocked(_) => {
            format!("Mend the cause, then go on (verifies first, then tries anew):\n  {resume}")
        }
        Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Finished => format!("Continue:\n  {resume}"),
    }
}

fn resume_command(run: &Run, again: &str) -> String {
    format!("onloop resume {}{again}", run.id)
}

fn gate_commands(id: &str, step: u32, resume: &str) -> String {
    format!(
        "Approve and continue:\n  onloop gate {step} approved --run-id {id} && {resume}\n\
         Reject:\n  onloop gate {step} rejected --run-id {id}"
    )
}
