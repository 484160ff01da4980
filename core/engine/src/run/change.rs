//! Changing a record, durably.

use crate::error::{CommandError, ErrorKind};
use crate::notify;
use crate::run::forks;
use crate::run::instruction::{driver_beside, instruction};
use crate::run::private_git;
use crate::run::telemetry;
use crate::state::store::{Store, StoreError};
use onloop_documents::summary::step_summary;
use onloop_effect::Io;
use onloop_run::{Decider, Event, Run, RunStatus};

/// Applies one event and makes it durable. An error says how the run stands and what comes next.
pub async fn change(io: &Io, store: &mut Store, event: Event) -> Result<(), CommandError> {
    change_by(io, store, event, None).await
}

/// As [`change`], of something that `by` decided.
pub async fn change_by(
    io: &Io,
    store: &mut Store,
    event: Event,
    by: Option<Decider>,
) -> Result<(), CommandError> {
    let before = stopped_as(store.run());
    let error: CommandError = match store.apply_by(event, by) {
        Err(refusal) => refusal.into(),
        Ok(()) => match store.commit().await {
            Ok(()) => {
                if store.run().is_over() {
                    private_git::remove(io, store).await;
                    Box::pin(forks::stop(io, store.run())).await;
                }
                notify::deliver(io, store).await;
                let now = stopped_as(store.run());
                if now.is_some() && now != before {
                    telemetry::export(io, store).await;
                }
                return Ok(());
            }
            // Another process was faster.
            Err(StoreError::Overtaken(refusal)) => {
                let error = not_now_of(io, store, refusal.into()).await;
                return Err(error.of_kind(ErrorKind::Refused));
            }
            Err(StoreError::Failed(failure)) if failure.is_conflict() => {
                let error = not_now_of(io, store, failure.into()).await;
                return Err(error.of_kind(ErrorKind::Refused));
            }
            Err(error) => error.into(),
        },
    };
    Err(not_now_of(io, store, error).await)
}

/// As [`not_now`], of a run that another process may drive.
async fn not_now_of(io: &Io, store: &Store, error: CommandError) -> CommandError {
    let run = store.run();
    match driver_beside(io, store.paths(), run).await {
        Some(driver) if !run.is_over() => {
            let (pid, id) = (driver.process.pid, &run.id);
            with_status(run, error).fix_by(
                format!("wait for process {pid}, which drives it"),
                format!("onloop watch {id}"),
            )
        }
        _ => not_now(run, error),
    }
}

/// The state of a run that has stopped; `None`: it continues.
fn stopped_as(run: &Run) -> Option<RunStatus> {
    (run.attention().is_some() || run.is_over()).then_some(run.status)
}

/// Refuses work for a run that does not run, before any of it is done.
///
/// # Errors
///
/// The run is paused, blocked or over; the error says what comes next.
pub fn demand_running(run: &Run, what: &str) -> Result<(), CommandError> {
    if run.status == RunStatus::Running {
        return Ok(());
    }
    let status = run.status.as_str();
    let error = format!("the run is `{status}`, and {what} only while the run is `running`");
    Err(not_now(run, CommandError::failed(error)))
}

/// `error` with how the run stands and what comes next, for an agent that drives it step by step.
/// Commands that only a person may run are not named.
pub fn not_now(run: &Run, error: impl Into<CommandError>) -> CommandError {
    let (id, error) = (&run.id, with_status(run, error.into()));
    if run.is_over() {
        return error.fix_by("see what it did", format!("onloop report {id}"));
    }
    let next = instruction(run);
    match (next.command(), next.needs_person) {
        (Some(command), _) => error.fix_by("do what comes next", command),
        (None, true) => error.fix_by(
            "wait for the decision of a person, who has these choices",
            format!("onloop next --run-id {id}"),
        ),
        (None, false) => error,
    }
}

/// `error` with how the run stands.
fn with_status(run: &Run, error: CommandError) -> CommandError {
    let (id, status, now) = (&run.id, run.status.as_str(), run.status_summary().now);
    error.of_kind(ErrorKind::Failed).because(
        match run.status == RunStatus::Abandoned || now == status {
            true => format!("run {id} is {status}"),
            false => format!("run {id} is {status}: {now}"),
        },
    )
}

/// Says what was done to a step: with `line`, or with how it and its run stand now, as JSON.
pub async fn say_step(io: &Io, run: &Run, step: u32, line: &str, as_json: bool) {
    let document = step_summary(run, step).filter(|_| as_json);
    let said = document.and_then(|document| serde_json::to_string_pretty(&document).ok());
    io.result(said.unwrap_or_else(|| line.to_owned()) + "\n").await;
}
