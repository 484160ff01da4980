//! Working on one run: the same program as anywhere, on the run's journal, in a clone of its repository.

mod options;
mod outcome;
mod task;
mod workspace;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use onloop::host::OsHost;
use onloop::host::git::OsGit;
use onloop_core::documents::ledger;
use onloop_core::effect::{Exit, Failure, Program};
use onloop_core::verb::settle;
use onloop_core::workflow::duration;
use onloop_core::{cli, limits};
use tracing::{error, warn};

pub(crate) use outcome::Outcome;
pub use task::Task;

use crate::client::Client;
use crate::clone::{self, REMOTE};
use crate::engine::{QueueState, Release};
use crate::git_retry::{RetryingGit, TransientFailure};
use crate::journal::{Mirror, Writer, on_journal};
use crate::outbox::{Outbox, OutboxSource, Pusher};
use crate::{queue_state, watchdog};
use outcome::{LastNote, NotingTerminal};
use workspace::{PrepareError, Workspace};

/// How long a driver tries to say how a run stands. What it cannot say is found out when its lease ends.
const RELEASE_PATIENCE: Duration = Duration::from_secs(10);

/// How long what works for a run may take before the engine is told that it does, which takes about as long as a
/// quick check. Where this driver is killed sooner, Linux ends what it has started.
const QUICK_MS: u64 = 15;

/// Works on the run of the task in this file until the run is at rest. The worker reads the outcome from a
/// file beside the task.
pub fn drive(file: &Path) -> ExitCode {
    let task = match Task::read(file) {
        Ok(task) => task,
        Err(why) => {
            error!("{}: {why}", file.display());
            return ExitCode::FAILURE;
        }
    };
    watchdog::end_with_guard(task.assignment.lease.lasts_ms);
    let outcome = work(&task);
    if let Outcome::TryLater { reason } | Outcome::Failed { reason } = &outcome {
        error!("{reason}");
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    match outcome.write(folder, task.assignment.lease.epoch) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("the outcome cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work(task: &Task) -> Outcome {
    let client = match task.client() {
        Ok(client) => client,
        Err(why) => return Outcome::failed(&why),
    };
    let place = match workspace::prepare(task, &client) {
        Ok(place) => place,
        Err(PrepareError::Refused(why)) => return Outcome::failed(&why),
        Err(PrepareError::Later(why)) => return Outcome::try_later(&why),
    };
    if let Err(error) = std::env::set_current_dir(&place.cwd) {
        return Outcome::failed(&format!("`{}`: {error}", place.cwd.display()));
    }
    let transient = TransientFailure::default();
    let pusher = match pusher(task, &place, &transient) {
        Ok(pusher) => pusher,
        Err(failure) => return failed_or_later(&failure, &transient),
    };
    let last_note = LastNote::default();
    let exit = run_program(task, place, &client, (&pusher, &transient, &last_note));
    let settled = pusher.settle();
    match exit {
        Exit::Done | Exit::Failed | Exit::Paused => {
            if let Err(failure) = settled {
                return failed_or_later(&failure, &transient);
            }
            release(task, &client);
            Outcome::Released
        }
        Exit::Interrupted => Outcome::Stopped,
        Exit::Usage | Exit::Refused | Exit::Bug | Exit::Custom(_) => match transient.get() {
            Some(reason) => Outcome::try_later(&reason),
            None => {
                let note = last_note.get();
                Outcome::failed(&note.unwrap_or_else(|| format!("exit code {}", exit.code())))
            }
        },
    }
}

/// Runs the program in the place that is prepared for it.
fn run_program(
    task: &Task,
    place: Workspace,
    client: &Client,
    (pusher, transient, last_note): (&Pusher, &TransientFailure, &LastNote),
) -> Exit {
    let lease = task.assignment.lease.clone();
    let (id, epoch, repos) = (lease.run_id.clone(), lease.epoch, task.repos.clone());
    let writer = Writer::Driver { lease, pusher: Some(pusher.clone()) };
    let (goes_on, argv, program) = (place.begun.is_some(), place.argv, task.program.clone());
    let note = last_note.clone();
    onloop::main_on(
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
                        note.remember(&error.to_string());
                        return Exit::Refused;
                    }
                }
                cli::main(io).await
            })
        },
        |_, host| {
            let git = Box::new(RetryingGit::new(host.git, transient.clone()));
            let last = last_note.clone();
            let terminal = Box::new(NotingTerminal { inner: host.terminal, last });
            let host = OsHost { git, terminal, ..host };
            on_journal(host, &task.runs, client.clone(), writer)
        },
    )
}

/// Starts what brings the work of the run from its clone to the remote.
fn pusher(task: &Task, place: &Workspace, transient: &TransientFailure) -> Result<Pusher, Failure> {
    let (lease, transient) = (task.assignment.lease.clone(), transient.clone());
    let workflow = task.assignment.submission.workflow.clone();
    let (cwd, begun) = (place.cwd_text(), place.begun.clone());
    Pusher::start(move || {
        let git = Box::new(RetryingGit::new(Box::new(OsGit::new()), transient));
        let base = match &begun {
            Some(_) => None,
            None => crate::git::git(Path::new(&cwd), &["rev-parse", "HEAD^{commit}"]).ok(),
        };
        let (cwd, workflow) = (cwd.as_str(), workflow.as_str());
        let source = OutboxSource { cwd, remote: REMOTE, lease, workflow, base };
        let mut outbox = Outbox::take(git, source)?;
        if let Some(run) = begun {
            outbox.recall(&run.checkpoints);
            if let Some(branch) = run.place.branch.clone() {
                outbox.add_branch(branch);
            }
        }
        Ok(outbox)
    })
}

fn failed_or_later(failure: &Failure, transient: &TransientFailure) -> Outcome {
    match transient.get() {
        Some(_) => Outcome::try_later(&failure.message),
        None => Outcome::failed(&failure.message),
    }
}

fn release(task: &Task, client: &Client) {
    let lease = &task.assignment.lease;
    let mirror = Mirror::new(&task.runs, &lease.run_id);
    let read = std::fs::read(mirror.path()).ok().and_then(|bytes| ledger::read(&bytes, None).ok());
    let state = match read {
        Some(ledger) => queue_state::of_run(&ledger.run, queue_state::now(), max_wait_ms(task)),
        None => QueueState::NeedsPerson { reason: "its record cannot be read any more".to_owned() },
    };
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, state };
    if let Err(error) = client.call_within(RELEASE_PATIENCE, &release) {
        warn!("run {}: the server did not learn its state: {error}", lease.run_id);
    }
}

/// How long the submitter wants a provider to be waited for.
fn max_wait_ms(task: &Task) -> u64 {
    let wish = options::value_of(&task.assignment.submission.options, "--max-wait");
    wish.and_then(|wish| duration::parse_ms(&wish)).unwrap_or(limits::MAX_WAIT_MS)
}
