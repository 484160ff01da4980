//! The driver of one run: the ordinary program on the run's journal, in a clone of its repository.

mod outcome;
mod task;
mod workspace;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use onloop::host::OsHost;
use onloop::host::git::OsGit;
use onloop_core::documents::ledger;
use onloop_core::effect::{Exit, Failure, Io};
use onloop_core::engine::error::{CommandError, verb_program};
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
use crate::{queue_state, run_options, watchdog};
use workspace::{PrepareError, Workspace};

/// Longest time to report the state of a run. Without a report the engine learns it when the lease
/// ends.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a process may run before the engine records its group, about as long as a quick check. If
/// this driver is killed earlier, Linux ends the process.
const QUICK_MS: u64 = 15;

/// Drives the run of the task in `file` until it finishes or waits. The worker reads the outcome from a
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
    let (exit, error) = run_program(task, place, &client, (&pusher, &transient));
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
            None => Outcome::failed(
                &error.map_or_else(|| format!("exit code {}", exit.code()), |error| error.render()),
            ),
        },
    }
}

/// Runs the program in its workspace; returns how it ended, and its error.
fn run_program(
    task: &Task,
    place: Workspace,
    client: &Client,
    (pusher, transient): (&Pusher, &TransientFailure),
) -> (Exit, Option<CommandError>) {
    let lease = task.assignment.lease.clone();
    let (id, epoch, repos) = (lease.run_id.clone(), lease.epoch, task.repos.clone());
    let writer = Writer::Driver { lease, pusher: Some(pusher.clone()) };
    let (has_begun, argv, program) = (place.begun.is_some(), place.argv, task.program.clone());
    let error = Rc::new(RefCell::new(None));
    let to = Rc::clone(&error);
    let exit = onloop::main_on(
        |mut start| {
            start.argv = argv;
            start.program = program;
            start.quick_ms = QUICK_MS;
            verb_program(start, async move |io: Io| {
                let verb = async {
                    if has_begun {
                        settle(&io, &id, REMOTE).await?;
                        clone::settled(&repos, &id, epoch)
                            .map_err(|error| CommandError::refused(error.to_string()))?;
                    }
                    cli::run_verb(&io).await
                };
                let ended = verb.await;
                *to.borrow_mut() = ended.as_ref().err().cloned();
                ended
            })
        },
        |_, host| {
            let git = Box::new(RetryingGit::new(host.git, transient.clone()));
            on_journal(OsHost { git, ..host }, &task.runs, client.clone(), writer)
        },
    );
    let error = error.borrow_mut().take();
    (exit, error)
}

/// Starts the pusher, which pushes the work of the run from its clone to the remote.
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
    if let Err(error) = client.call_within(RELEASE_TIMEOUT, &release) {
        warn!("run {}: the server did not learn its state: {error}", lease.run_id);
    }
}

/// Returns the submitter's bound for a provider wait.
fn max_wait_ms(task: &Task) -> u64 {
    let wish = run_options::max_wait(&task.assignment.submission.options);
    wish.and_then(|wish| duration::parse_ms(&wish)).unwrap_or(limits::MAX_WAIT_MS)
}
