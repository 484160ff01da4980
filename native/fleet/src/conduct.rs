//! Working on one run: the same program as anywhere, on the run's journal, in a clone of its repository.

mod place;
mod task;
mod words;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use onloop::host::OsHost;
use onloop::host::git::OsGit;
use onloop_core::documents::ledger;
use onloop_core::effect::{Exit, Failure, Program};
use onloop_core::run::Run;
use onloop_core::verb::settle;
use onloop_core::workflow::duration;
use onloop_core::{cli, limits};

pub use task::Task;

use crate::calls::{Calls, patiently};
use crate::clone::{self, REMOTE};
use crate::engine::{Lease, Release, Rest};
use crate::journal::{Mirror, Writer, on_journal};
use crate::patient::{PatientGit, Trouble};
use crate::travel::{Courier, Luggage, Traveller};
use crate::{leash, rest};
use place::Hitch;

/// How long a driver tries to say how a run stands. What it cannot say is found out when its lease ends.
const RELEASE_PATIENCE: Duration = Duration::from_secs(10);

/// How long what works for a run may take before the engine is told that it does, which takes about as long as a
/// quick check. Where this driver is killed sooner, Linux ends what it has started.
const QUICK_MS: u64 = 15;

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
    let goes_on = place.begun.is_some();
    let workflow = task.assignment.submission.workflow.clone();
    let courier = match courier(&lease, place.cwd_text(), workflow, place.begun, &trouble) {
        Ok(courier) => courier,
        Err(failure) => return refuse_or_later(&failure, &trouble),
    };
    let (id, epoch, repos) = (lease.run_id.clone(), lease.epoch, task.repos.clone());
    let writer = Writer::Driver { lease, courier: Some(courier.clone()) };
    let (runs, argv, program) = (task.runs.clone(), place.argv, task.program.clone());
    let for_host = Arc::clone(&calls);
    let exit = onloop::main_on(
        |mut start| {
            start.argv = argv;
            start.program = program;
            start.quick_ms = QUICK_MS;
            Program::new(start, async move |io| {
                if goes_on {
                    if let Err(error) = settle(&io, &id, REMOTE).await {
                        return error.report(&io).await;
                    }
                    if let Err(error) = clone::settled(&repos, &id, epoch) {
                        return refuse(&error.to_string());
                    }
                }
                cli::main(io).await
            })
        },
        |_, host| {
            let git = Box::new(PatientGit::new(host.git, trouble.clone()));
            let host = OsHost { git, ..host };
            on_journal(host, &runs, for_host, writer)
        },
    );
    let settled = courier.settle();
    // What ended in another way is looked at by the worker, which knows what it asked for.
    if matches!(exit, Exit::Done | Exit::Failed | Exit::Paused) {
        if let Err(failure) = settled {
            return refuse_or_later(&failure, &trouble);
        }
        release(task, calls.as_ref());
        return exit;
    }
    match exit {
        Exit::Refused if trouble.is_met() => Exit::Custom(LATER),
        exit => exit,
    }
}

/// Whoever brings the work of the run from the clone at `cwd`.
fn courier(
    lease: &Lease,
    cwd: String,
    workflow: String,
    begun: Option<Box<Run>>,
    trouble: &Trouble,
) -> Result<Courier, Failure> {
    let (lease, trouble) = (lease.clone(), trouble.clone());
    Courier::hire(move || {
        let git = Box::new(PatientGit::new(Box::new(OsGit::new()), trouble));
        let base = match &begun {
            Some(_) => None,
            None => crate::git::git(Path::new(&cwd), &["rev-parse", "HEAD^{commit}"]).ok(),
        };
        let (cwd, workflow) = (cwd.as_str(), workflow.as_str());
        let traveller = Traveller { cwd, remote: REMOTE, lease, workflow, base };
        let mut luggage = Luggage::take(git, traveller)?;
        if let Some(run) = begun {
            luggage.recall(&run.checkpoints);
            if let Some(branch) = run.place.branch.clone() {
                luggage.bring_branch(branch);
            }
        }
        Ok(luggage)
    })
}

fn refuse_or_later(failure: &Failure, trouble: &Trouble) -> Exit {
    if trouble.is_met() { later(&failure.message) } else { refuse(&failure.message) }
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
