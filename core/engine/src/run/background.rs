//! Drivers in the background: a decision continues its run, whatever channel it came through.

use crate::error::CommandError;
use crate::run::advice::resume_command;
use crate::run::driver_lock::driver_of;
use crate::run::options::{DriveArgs, demand_complete, missing_variables, remembered_options};
use crate::state::config;
use crate::state::remote_owner::is_fleets;
use crate::state::store::{Paths, Store};
use onloop_agents::Agent;
use onloop_effect::{Failure, Io, LaunchSpec, LockHolder, ProcessIdentity, ProcessRole};
use onloop_run::{Next, Run};
use onloop_sessions::handsoff::config::ContinueWhen;
use onloop_syntax::text;

/// How often a driver that was started is looked for, and for how long.
const LOOK_EVERY_MS: u64 = 50;
const LOOKS: u32 = 60;

/// Most bytes and lines shown of the log of a driver that did not start.
const LOG_BYTES: u64 = 4096;
const LOG_LINES: usize = 12;

/// Continues a run after the decision of a person, and says how. A driver that lives continues it;
/// without one this starts a driver in the background. Where none may be started, it prints the
/// command. An agent continues a run that it drives itself, and a fleet its own runs.
pub async fn continue_run(io: &Io, store: &Store, no_continue: bool) {
    let run = store.run();
    if run.is_driven_by_verbs() || !is_for_driver(run) || is_fleets(io, store.paths()).await {
        return;
    }
    if let Some(LockHolder { process, .. }) = driver_of(io, store.paths()).await {
        io.note(format!("Process {} continues the run.", process.pid)).await;
        return;
    }
    let refusal = match no_continue {
        true => Some(String::new()),
        false => match is_never(io, run).await {
            true => Some(" (`run.continue: never`)".to_owned()),
            false => why_not(io, store.paths(), run).await.map(|why| format!(" ({why})")),
        },
    };
    if let Some(why) = refusal {
        io.note(format!("Continue the run{why}:\n  {}", resume_command(run))).await;
        return;
    }
    start_driver(io, store).await;
}

/// Whether the developer wants no decision to start a driver.
async fn is_never(io: &Io, run: &Run) -> bool {
    // The file beside the checkout: the one in the worktree came with the repository.
    let folder = run.place.repo_root.as_ref().unwrap_or(&run.place.execution_root);
    config::own(io, folder).await.continue_runs == ContinueWhen::Never
}

/// Whether a driver has something to do before a person decides again.
pub(crate) fn is_for_driver(run: &Run) -> bool {
    !run.is_over() && !matches!(run.next(), Next::Ask(_) | Next::Blocked(_) | Next::Finished)
}

/// Refuses a driver in the background where none may be started.
///
/// # Errors
///
/// The reason, and how to drive the run instead.
pub(crate) fn demand_background(io: &Io, drive: &DriveArgs) -> Result<(), CommandError> {
    let Some(why) = refusal(io, drive) else { return Ok(()) };
    let what = format!("the run cannot be driven in the background: {why}");
    Err(CommandError::refused(what).fix("run it without --detach"))
}

/// Why no driver of this run may be started in the background, as a clause.
async fn why_not(io: &Io, paths: &Paths, run: &Run) -> Option<String> {
    let Some(drive) = remembered_options(io, paths).await else {
        return Some("its agent is not known here".to_owned());
    };
    if demand_complete(&drive, &run.id).is_err() {
        return Some("its options contain a secret value".to_owned());
    }
    refusal(io, &drive).map(str::to_owned)
}

/// Why no driver with these options may be started.
fn refusal(io: &Io, drive: &DriveArgs) -> Option<&'static str> {
    let mut agents = drive.agent.agent.iter().flat_map(|names| names.split(','));
    if agents.any(|name| name.trim() == Agent::You.name()) {
        return Some("its agent is `you`, which needs a terminal");
    }
    if io.env("CI").is_some() {
        return Some("`CI` is set");
    }
    io.start().program.is_empty().then_some("this host cannot start onloop")
}

/// Starts a driver for a run where one may be started.
///
/// # Errors
///
/// None may be started.
pub async fn resume_in_background(io: &Io, store: &Store) -> Result<(), CommandError> {
    if let Some(why) = why_not(io, store.paths(), store.run()).await {
        let what = format!("the run cannot be driven in the background: {why}");
        return Err(CommandError::refused(what).fix_by("resume it", resume_command(store.run())));
    }
    start_driver(io, store).await;
    Ok(())
}

/// Starts a driver of a run in the background, waits until it drives, and says where its output is.
pub async fn start_driver(io: &Io, store: &Store) {
    let (id, log) = (&store.run().id, store.paths().driver_log());
    let missing = missing_variables(io, store.paths()).await;
    if let Err(failure) = launch_driver(io, store).await {
        let command = resume_command(store.run());
        let why = text::one_line(&failure.message);
        io.note(format!("warning: no driver was started: {why}\nContinue the run:\n  {command}"))
            .await;
        return;
    }
    // Who interrupts this leaves the driver at work.
    if has_started(io, store).await.unwrap_or(true) {
        io.note("The run continues in the background.").await;
        io.note(format!("Its output:\n  {log}\nStop it:\n  onloop stop {id}")).await;
        if !missing.is_empty() {
            let names = text::wrapped(&missing.join(", "), 76, 2);
            io.note(format!(
                "warning: the process that drove it had variables that are not set here:\n  {names}\n\
                 If its agent needs them, stop it and resume it where they are set."
            ))
            .await;
        }
        return;
    }
    let shown = match io.read_tail(&log, LOG_BYTES).await {
        Ok((bytes, _)) => {
            let output = text::printable(&String::from_utf8_lossy(&bytes));
            text::quoted_end(&output, LOG_LINES, "in the log")
        }
        Err(_) => String::new(),
    };
    io.note(format!("warning: the driver in the background has not started:\n{shown}  {log}"))
        .await;
}

/// Starts a driver for a run in the background.
pub(crate) async fn launch_driver(io: &Io, store: &Store) -> Result<(), Failure> {
    let own = ["resume", &store.run().id, "--background"].map(str::to_owned);
    let argv = io.start().program.iter().cloned().chain(own).collect();
    // Two programs must not write to one trace.
    let env_remove = vec!["ONLOOP_TRACE".to_owned()];
    let (cwd, log) = (io.start().cwd.clone(), Some(store.paths().driver_log()));
    io.launch(LaunchSpec { argv, cwd, env_remove, log, wait_ms: 0 }).await
}

/// Waits until another process drives the run, or has driven it and ended.
///
/// # Errors
///
/// A person interrupted that; told once the process has begun, so that it can be ended.
pub(crate) async fn has_started(io: &Io, store: &Store) -> Result<bool, Failure> {
    let mut interrupted = Ok(());
    for _ in 0..LOOKS {
        let has_driven = store.was_changed_since(store.revision()).await.unwrap_or(false);
        if has_driven || driver_of(io, store.paths()).await.is_some() {
            return interrupted.map(|()| true);
        }
        if let Err(failure) = io.sleep(LOOK_EVERY_MS).await {
            interrupted = Err(failure);
        }
    }
    interrupted.map(|()| false)
}

/// The process on this machine that drives a run, to interrupt it.
///
/// # Errors
///
/// No process drives it here, or its process does other things, too.
pub async fn driver_to_stop(io: &Io, store: &Store) -> Result<ProcessIdentity, CommandError> {
    let id = &store.run().id;
    let Some(LockHolder { process, role, .. }) = driver_of(io, store.paths()).await else {
        return Err(CommandError::refused(format!("no process on this machine drives run `{id}`"))
            .fix_by("see how it stands", format!("onloop status {id}")));
    };
    match role.and_then(ProcessRole::place) {
        None => Ok(process),
        Some(place) => Err(CommandError::refused(format!(
            "run `{id}` is driven by {place} (process {})",
            process.pid
        ))
        .fix("stop it there")),
    }
}
