//! One run of a worker: a watchdog process with a driver below it.

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

use super::active_runs::StopReason;
use super::{Worker, log_tail};
use crate::allow_list::admits;
use crate::clone;
use crate::driver::{Outcome, Task};
use crate::engine::{Assignment, Lease, QueueState, Release};
use crate::queue_state;
use crate::watchdog::KILLED;

/// Longest time to report that a run has ended.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of all drivers.
pub(crate) struct DriverSettings {
    /// Address of the fleet's server.
    pub(crate) server: String,
    /// The file with the fleet's key.
    pub(crate) key_file: PathBuf,
    /// The file with the certificate authority of the server.
    pub(crate) authority_file: Option<PathBuf>,
    /// The state home of this worker.
    pub(crate) state_home: PathBuf,
    /// Other paths that are hidden from agents.
    pub(crate) hidden: OsString,
    /// The folder of its clones.
    pub(crate) repos: PathBuf,
    /// This program.
    pub(crate) program: PathBuf,
    /// The command that starts `onloop`.
    pub(crate) onloop: Vec<String>,
}

impl DriverSettings {
    pub(super) fn runs(&self) -> PathBuf {
        self.state_home.join("runs")
    }

    /// Returns the folder of a run.
    fn folder(&self, run_id: &str) -> PathBuf {
        self.runs().join(run_id)
    }
}

/// Starts the driver of a run.
pub(super) fn begin(worker: &Arc<Worker>, assignment: Assignment) {
    if !worker.active.enter(&assignment.lease) {
        if worker.active.stops() {
            give_back(worker, &assignment.lease, QueueState::Ready);
        }
        return;
    }
    let worker = Arc::clone(worker);
    std::thread::spawn(move || {
        let lease = assignment.lease.clone();
        match refusal(&worker, &assignment) {
            Some(why) => {
                error!("run {}: {why}", text::one_line(&lease.run_id));
                worker.active.leave(&lease.run_id);
                let what = format!("on {}: {why}", worker.name);
                give_back(&worker, &lease, QueueState::NeedsPerson { reason: what });
            }
            None => work(&worker, assignment),
        }
        worker.active.released();
    });
}

/// Returns why the worker refuses an assignment. The server does not decide which programs run here and
/// which folders are created and removed.
fn refusal(worker: &Worker, assignment: &Assignment) -> Option<String> {
    let Assignment { lease, submission, .. } = assignment;
    if !is_run_id(&lease.run_id) || lease.run_id != submission.run_id {
        return Some(format!("`{}` is not a valid run id", text::one_line(&lease.run_id)));
    }
    let repository = &submission.repository;
    let is_allowed = worker.repositories.iter().any(|allowed| admits(allowed, repository));
    (!is_allowed).then(|| format!("the allow-list does not admit `{}`", text::one_line(repository)))
}

fn work(worker: &Worker, assignment: Assignment) {
    let lease = assignment.lease.clone();
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
    let asked = worker.active.leave(&lease.run_id);
    settle(worker, &lease, outcome, asked);
}

/// Waits for a driver; `None`: it was killed before it wrote its outcome.
fn outcome_of(worker: &Worker, lease: &Lease, mut driver: Child) -> Option<Outcome> {
    let status = driver.wait();
    let outcome = Outcome::read(&worker.settings.folder(&lease.run_id), lease.epoch);
    let reason = match (outcome, status) {
        (Ok(Some(outcome)), _) => return Some(outcome),
        // A signal or the watchdog has ended the driver.
        (Ok(None), Ok(status)) if status.code().is_none_or(|code| code == i32::from(KILLED)) => {
            return None;
        }
        (Ok(None), Ok(status)) => format!("the driver ended with {status}; see driver.log"),
        (Ok(None), Err(error)) | (Err(error), _) => format!("the driver's outcome: {error}"),
    };
    Some(Outcome::Failed { reason })
}

fn start(worker: &Worker, assignment: Assignment) -> Result<Child, String> {
    let settings = &worker.settings;
    let DriverSettings { server, key_file, authority_file, repos, .. } = settings;
    let lease = assignment.lease.clone();
    let folder = settings.folder(&lease.run_id);
    super::make_folder(&folder)?;
    let task = Task {
        assignment,
        server: server.clone(),
        key_file: key_file.clone(),
        authority_file: authority_file.clone(),
        runs: settings.runs().to_string_lossy().into_owned(),
        repos: repos.clone(),
        program: settings.onloop.clone(),
    };
    let file = folder.join("task.json");
    let bytes = serde_json::to_vec(&task).expect("a task has only string keys");
    let path = file.to_string_lossy().into_owned();
    OsFiles::new(Root::new("/"))
        .write(&path, &bytes, &Expect::Any, Durability::Relaxed, true)
        .map_err(|failure| failure.message)?;
    let log = folder.join("driver.log");
    // The log of the previous driver is kept for a person who looks for a cause.
    let _ = std::fs::rename(&log, folder.join("driver.1.log"));
    let output = File::create(&log).map_err(|error| format!("`{}`: {error}", log.display()))?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new(&settings.program);
    command.args(["watchdog", &lease.lasts_ms.to_string()]);
    command.arg(&settings.program).arg("drive").arg(&file);
    command.env("ONLOOP_STATE_HOME", &settings.state_home).env(HIDDEN_VARIABLE, &settings.hidden);
    command.stdin(Stdio::piped()).stdout(output).stderr(errors).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let Some(stdin) = child.stdin.take() {
        rustix::io::ioctl_fionbio(&stdin, true).map_err(|error| error.to_string())?;
        worker.active.guarded(&lease.run_id, stdin);
    }
    Ok(child)
}

/// Reports the state of a run whose driver did not.
fn settle(worker: &Worker, lease: &Lease, outcome: Option<Outcome>, asked: StopReason) {
    let state = match (outcome, asked) {
        (Some(Outcome::Released), _) => {
            worker.active.went_well(&lease.run_id);
            clean(worker, lease);
            return;
        }
        (Some(Outcome::TryLater { reason }), _) => {
            let what = format!("on {}: {reason}", worker.name);
            let pause = worker.active.pause_of(&lease.run_id);
            warn!("run {}: {what}; next try in {} s", lease.run_id, pause.as_secs());
            let at_ms = queue_state::millis(queue_state::now())
                + u64::try_from(pause.as_millis()).unwrap_or_default();
            QueueState::Retry { at_ms, reason: what }
        }
        (Some(Outcome::Failed { reason }), _) => {
            error!("run {}: {reason}", lease.run_id);
            QueueState::NeedsPerson { reason: format!("on {}: {reason}", worker.name) }
        }
        (Some(Outcome::Stopped), StopReason::Recalled) => {
            QueueState::NeedsPerson { reason: "another machine has taken it".to_owned() }
        }
        (Some(Outcome::Stopped), StopReason::Stopping | StopReason::None) => QueueState::Ready,
        // The run continues here or on another worker when its lease ends.
        (None, _) => return,
    };
    give_back(worker, lease, state);
}

fn give_back(worker: &Worker, lease: &Lease, state: QueueState) {
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, state };
    if let Err(error) = worker.client.call_within(RETRY_TIMEOUT, &release) {
        warn!("run {}: the server did not learn its state: {error}", lease.run_id);
    }
}

/// Removes the clone of a finished run.
fn clean(worker: &Worker, lease: &Lease) {
    let runs = worker.settings.runs();
    let state = queue_state::of_copy(&runs.to_string_lossy(), &lease.run_id);
    if matches!(state, QueueState::Finished { .. })
        && let Err(error) = clone::forget(&worker.settings.repos, &lease.run_id)
    {
        warn!("run {}: its clone stays: {error}", lease.run_id);
    }
}
