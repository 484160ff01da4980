//! Working on one run: the same program as anywhere, on the run's journal, in a clone of its repository.

mod place;
mod task;
mod words;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use onloop::host::git::OsGit;
use onloop::host::{Git, OsHost};
use onloop_core::documents::ledger;
use onloop_core::effect::{Exit, Program};
use onloop_core::verb::settle;
use onloop_core::workflow::duration;
use onloop_core::{cli, limits};

pub use task::Task;

use crate::calls::{Calls, patiently};
use crate::clone::REMOTE;
use crate::engine::{Release, Rest};
use crate::journal::{Mirror, Writer, on_journal};
use crate::patient::{PatientGit, Trouble};
use crate::travel::Luggage;
use crate::{leash, rest};
use place::Hitch;

/// How long a driver tries to say how a run stands. What it cannot say is found out when its lease ends.
const RELEASE_PATIENCE: Duration = Duration::from_secs(10);

/// How a driver ends that could not go on for what is nobody's decision: the run is tried again later.
pub(crate) const LATER: u8 = 75;

/// Works on the run of the task in this file until it is at rest, and says how it stands; the exit code is
/// that of `onloop run`.
pub fn conduct(file: &Path) -> ExitCode {
    let exit = match Task::read(file) {
        Ok(task) => {
            leash::end_with_guard(task.assignment.lease.lasts_ms);
            work(&task)
        }
        Err(why) => {
            eprintln!("error: {}: {why}", file.display());
            Exit::Refused
        }
    };
    ExitCode::from(exit.code())
}

fn work(task: &Task) -> Exit {
    let calls: Arc<dyn Calls> = match task.calls() {
        Ok(calls) => calls,
        Err(why) => return refuse(&why),
    };
    let place = match place::prepare(task, calls.as_ref()) {
        Ok(place) => place,
        Err(Hitch::Refused(why)) => return refuse(&why),
        Err(Hitch::Later(why)) => return later(&why),
    };
    if let Err(error) = std::env::set_current_dir(&place.cwd) {
        return refuse(&format!("`{}`: {error}", place.cwd.display()));
    }
    let lease = task.assignment.lease.clone();
    let trouble = Trouble::default();
    let patient = |git| -> Box<dyn Git> { Box::new(PatientGit::new(git, trouble.clone())) };
    let git = patient(Box::new(OsGit::new()));
    let base = match &place.begun {
        Some(_) => None,
        None => crate::git::git(&place.cwd, &["rev-parse", "HEAD^{commit}"]).ok(),
    };
    let mut luggage = match Luggage::take(git, &place.cwd_text(), REMOTE, lease.clone(), base) {
        Ok(luggage) => luggage,
        Err(failure) if trouble.is_met() => return later(&failure.message),
        Err(failure) => return refuse(&failure.message),
    };
    let goes_on = place.begun.is_some();
    if let Some(Some(branch)) = place.begun {
        luggage.bring_branch(branch);
    }
    let id = lease.run_id.clone();
    let writer = Writer::Driver { lease, luggage: Some(Box::new(luggage)) };
    let (runs, argv, program) = (task.runs.clone(), place.argv, task.program.clone());
    let for_host = Arc::clone(&calls);
    let exit = onloop::main_on(
        |mut start| {
            start.argv = argv;
            start.program = program;
            Program::new(start, async move |io| {
                if goes_on {
                    match settle(&io, &id, REMOTE).await {
                        Exit::Done => {}
                        exit => return exit,
                    }
                }
                cli::main(io).await
            })
        },
        |_, host| {
            let host = OsHost { git: patient(host.git), ..host };
            on_journal(host, &runs, for_host, writer)
        },
    );
    // What ended in another way is looked at by the worker, which knows what it asked for.
    if matches!(exit, Exit::Done | Exit::Failed | Exit::Paused) {
        release(task, calls.as_ref());
        return exit;
    }
    match exit {
        Exit::Refused if trouble.is_met() => Exit::Custom(LATER),
        exit => exit,
    }
}

fn release(task: &Task, calls: &dyn Calls) {
    let lease = &task.assignment.lease;
    let mirror = Mirror::new(&task.runs, &lease.run_id);
    let read = std::fs::read(mirror.path()).ok().and_then(|bytes| ledger::read(&bytes, None).ok());
    let rest = match read {
        Some(ledger) => rest::of_run(&ledger.run, rest::now(), max_wait_ms(task)),
        None => Rest::Waits { what: "its record cannot be read any more".to_owned() },
    };
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, rest };
    if let Err(error) = patiently(RELEASE_PATIENCE, || calls.release(&release)) {
        eprintln!("warning: the fleet was not told how run {} stands: {error}", lease.run_id);
    }
}

/// How long the submitter wants a provider to be waited for.
fn max_wait_ms(task: &Task) -> u64 {
    let wish = words::value_of(&task.assignment.submission.options, "--max-wait");
    wish.and_then(|wish| duration::parse_ms(&wish)).unwrap_or(limits::MAX_WAIT_MS)
}

fn later(why: &str) -> Exit {
    eprintln!("error: {why}");
    Exit::Custom(LATER)
}

fn refuse(why: &str) -> Exit {
    eprintln!("error: {why}");
    Exit::Refused
}
