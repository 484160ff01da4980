//! One run: a guard, and below it a driver.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use onloop::host::{Files, OsFiles, Root};
use onloop_core::confine::HIDDEN_VARIABLE;
use onloop_core::effect::{Durability, Expect};
use onloop_core::run::is_run_id;
use onloop_core::text;
use tracing::{error, warn};

use super::table::Asked;
use super::{Worker, log_tail};
use crate::clone;
use crate::conduct::{Outcome, Task};
use crate::allow_list::admits;
use crate::engine::{Assignment, Lease, Release, Rest};
use crate::leash::KILLED;
use crate::rest;

/// How long the server is told that a run is at rest.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a driver is told besides its run.
pub(crate) struct Places {
    /// Address of the fleet's server.
    pub(crate) server: String,
    /// The file with the fleet's key.
    pub(crate) key_file: PathBuf,
    /// The file with the authority that vouches for the server.
    pub(crate) authority_file: Option<PathBuf>,
    /// The state home of this worker.
    pub(crate) state_home: PathBuf,
    /// What no agent may see besides that.
    pub(crate) hidden: OsString,
    /// The folder of its clones.
    pub(crate) repos: PathBuf,
    /// This program.
    pub(crate) program: PathBuf,
    /// The words that start `onloop`.
    pub(crate) onloop: Vec<String>,
}

impl Places {
    pub(super) fn runs(&self) -> PathBuf {
        self.state_home.join("runs")
    }

    /// The folder of a run.
    fn folder(&self, run_id: &str) -> PathBuf {
        self.runs().join(run_id)
    }
}

/// Begins to work on a run.
pub(super) fn begin(worker: &Arc<Worker>, assignment: Assignment) {
    if !worker.table.enter(&assignment.lease) {
        if worker.table.stops() {
            give_back(worker, &assignment.lease, Rest::Ready);
        }
        return;
    }
    let worker = Arc::clone(worker);
    std::thread::spawn(move || {
        let lease = assignment.lease.clone();
        match refusal(&worker, &assignment) {
            Some(why) => {
                error!("run {}: {why}", text::one_line(&lease.run_id));
                worker.table.leave(&lease.run_id);
                let what = format!("on {}: {why}", worker.name);
                give_back(&worker, &lease, Rest::Waits { what });
            }
            None => work(&worker, assignment),
        }
        worker.table.told();
    });
}

/// Why a run is not worked on here, whatever the server gives out: what runs on this machine is not for
/// it to say, nor which folders are made and removed.
fn refusal(worker: &Worker, assignment: &Assignment) -> Option<String> {
    let Assignment { lease, submission, .. } = assignment;
    if !is_run_id(&lease.run_id) || lease.run_id != submission.run_id {
        return Some(format!("`{}` is no id of a run", text::one_line(&lease.run_id)));
    }
    let repository = &submission.repository;
    let is_allowed = worker.repositories.iter().any(|allowed| admits(allowed, repository));
    (!is_allowed).then(|| format!("`{}` is not allowed there", text::one_line(repository)))
}

fn work(worker: &Worker, assignment: Assignment) {
    let (lease, repository) = (assignment.lease.clone(), assignment.submission.repository.clone());
    let outcome = match start(worker, assignment) {
        Ok(driver) => {
            let outcome = outcome_of(worker, &lease, driver);
            log_tail::send_last(worker, &lease.run_id);
            outcome
        }
        Err(why) => {
            error!("run {}: {why}", lease.run_id);
            None
        }
    };
    let asked = worker.table.leave(&lease.run_id);
    settle(worker, (&lease, &repository), outcome, asked);
}

/// Waits for a driver; `None`: it was ended before it could say how.
fn outcome_of(worker: &Worker, lease: &Lease, mut driver: Child) -> Option<Outcome> {
    let status = driver.wait();
    let reason = match (Outcome::take(&worker.places.folder(&lease.run_id)), status) {
        (Ok(Some(outcome)), _) => return Some(outcome),
        (Ok(None), Ok(status)) if status.success() || status.code() == Some(KILLED.into()) => {
            return None;
        }
        (Ok(None), Ok(status)) => format!("the driver ended with {status}; see its log driver.log"),
        (Ok(None), Err(error)) | (Err(error), _) => format!("the driver's outcome: {error}"),
    };
    Some(Outcome::Failed { reason })
}

fn start(worker: &Worker, assignment: Assignment) -> Result<Child, String> {
    let places = &worker.places;
    let Places { server, key_file, authority_file, repos, .. } = places;
    let lease = assignment.lease.clone();
    let folder = places.folder(&lease.run_id);
    super::make_folder(&folder)?;
    // The outcome of an earlier driver is not this one's.
    Outcome::take(&folder).map_err(|error| error.to_string())?;
    let task = Task {
        assignment,
        server: server.clone(),
        key_file: key_file.clone(),
        authority_file: authority_file.clone(),
        runs: places.runs().to_string_lossy().into_owned(),
        repos: repos.clone(),
        program: places.onloop.clone(),
    };
    let file = folder.join("task.json");
    let bytes = serde_json::to_vec(&task).expect("a task has only string keys");
    let path = file.to_string_lossy().into_owned();
    OsFiles::new(Root::new("/"))
        .write(&path, &bytes, &Expect::Any, Durability::Relaxed, true)
        .map_err(|failure| failure.message)?;
    let log = folder.join("driver.log");
    // What the driver before has said is worth one look back.
    let _ = std::fs::rename(&log, folder.join("driver.1.log"));
    let output = File::create(&log).map_err(|error| format!("`{}`: {error}", log.display()))?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new(&places.program);
    command.args(["leash", &lease.lasts_ms.to_string()]);
    command.arg(&places.program).arg("conduct").arg(&file);
    command.env("ONLOOP_STATE_HOME", &places.state_home).env(HIDDEN_VARIABLE, &places.hidden);
    command.stdin(Stdio::piped()).stdout(output).stderr(errors).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let Some(stdin) = child.stdin.take() {
        rustix::io::ioctl_fionbio(&stdin, true).map_err(|error| error.to_string())?;
        worker.table.guarded(&lease.run_id, stdin);
    }
    Ok(child)
}

/// Says how a run stands where its driver has not.
fn settle(
    worker: &Worker,
    (lease, repository): (&Lease, &str),
    outcome: Option<Outcome>,
    asked: Asked,
) {
    let rest = match (outcome, asked) {
        (Some(Outcome::Released), _) => {
            worker.table.went_well(&lease.run_id);
            clean(worker, lease, repository);
            return;
        }
        (Some(Outcome::TryLater { reason }), _) => {
            let what = format!("on {}: {reason}", worker.name);
            let pause = worker.table.pause_of(&lease.run_id);
            warn!("run {}: {what}; next try in {} s", lease.run_id, pause.as_secs());
            let at_ms =
                rest::millis(rest::now()) + u64::try_from(pause.as_millis()).unwrap_or_default();
            Rest::Again { at_ms, what }
        }
        (Some(Outcome::Failed { reason }), _) => {
            error!("run {}: {reason}", lease.run_id);
            Rest::Waits { what: format!("on {}: {reason}", worker.name) }
        }
        (Some(Outcome::Stopped), Asked::Recalled) => {
            Rest::Waits { what: "somebody has taken it".to_owned() }
        }
        (Some(Outcome::Stopped), Asked::Stopping | Asked::No) => Rest::Ready,
        // When its lease has ended, the run may continue here or on another worker.
        (None, _) => return,
    };
    give_back(worker, lease, rest);
}

fn give_back(worker: &Worker, lease: &Lease, rest: Rest) {
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, rest };
    if let Err(error) = worker.client.call_within(PATIENCE, &release) {
        warn!("run {}: the server did not learn its state: {error}", lease.run_id);
    }
}

/// Removes the clone of a run that is over, and tidies up behind many of them.
fn clean(worker: &Worker, lease: &Lease, repository: &str) {
    let runs = worker.places.runs();
    let rest = rest::of_copy(&runs.to_string_lossy(), &lease.run_id);
    if matches!(rest, Rest::Over { .. }) {
        if let Err(error) = clone::forget(&worker.places.repos, &lease.run_id) {
            warn!("run {}: its clone stays: {error}", lease.run_id);
        }
        worker.leftovers.add(repository, &lease.run_id);
    }
}
