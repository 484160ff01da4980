//! One run: a guard, and below it a driver.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use onloop::host::{Files, OsFiles, Root};
use onloop_core::confine::HIDDEN_VARIABLE;
use onloop_core::effect::{Durability, Expect};
use onloop_core::run::is_run_id;
use onloop_core::text;

use super::table::Asked;
use super::{Worker, words};
use crate::calls::patiently;
use crate::clone;
use crate::conduct::{LATER, Task};
use crate::engine::{Assignment, Lease, Release, Rest, covers};
use crate::rest;

/// How long the server is told that a run is at rest.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes of the end of a driver's log that its last words are looked for in.
const LOG_TAIL_BYTES: u64 = 4096;

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
                eprintln!("error: run {}: {why}", text::one_line(&lease.run_id));
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
    let is_allowed = worker.repositories.iter().any(|allowed| covers(allowed, repository));
    (!is_allowed).then(|| format!("`{}` is not allowed there", text::one_line(repository)))
}

fn work(worker: &Worker, assignment: Assignment) {
    let (lease, repository) = (assignment.lease.clone(), assignment.submission.repository.clone());
    let (exit, log) = match start(worker, assignment) {
        Ok((child, log)) => {
            let exit = follow(child);
            words::say_last(worker, &lease.run_id);
            (exit, Some(log))
        }
        Err(why) => {
            eprintln!("error: run {}: {why}", lease.run_id);
            (None, None)
        }
    };
    let asked = worker.table.leave(&lease.run_id);
    say_rest(worker, (&lease, &repository), exit, asked, log.as_deref());
}

fn start(worker: &Worker, assignment: Assignment) -> Result<(Child, PathBuf), String> {
    let places = &worker.places;
    let Places { server, key_file, authority_file, repos, .. } = places;
    let lease = assignment.lease.clone();
    let folder = places.runs().join(&lease.run_id);
    super::make_folder(&folder)?;
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
        worker.table.guarded(&lease.run_id, stdin);
    }
    Ok((child, log))
}

/// The exit code of a driver; `None`: it was ended.
fn follow(mut child: Child) -> Option<i32> {
    child.wait().ok().and_then(|status| status.code()).filter(|code| *code != 137)
}

/// Says how a run stands where its driver has not.
fn say_rest(
    worker: &Worker,
    (lease, repository): (&Lease, &str),
    exit: Option<i32>,
    asked: Asked,
    log: Option<&Path>,
) {
    let rest = match (exit, asked) {
        // The driver has said it.
        (Some(0 | 1 | 3), _) => {
            worker.table.went_well(&lease.run_id);
            clean(worker, lease, repository);
            return;
        }
        (Some(code), _) if code == i32::from(LATER) => {
            let what = format!("on {}: {}", worker.name, said(code, log));
            let pause = worker.table.pause_of(&lease.run_id);
            eprintln!(
                "warning: run {}: {what}; tried again in {} s",
                lease.run_id,
                pause.as_secs()
            );
            let at_ms =
                rest::millis(rest::now()) + u64::try_from(pause.as_millis()).unwrap_or_default();
            Rest::Again { at_ms, what }
        }
        (Some(130), Asked::Recalled) => Rest::Waits { what: "somebody has taken it".to_owned() },
        (Some(130), Asked::Stopping | Asked::No) => Rest::Ready,
        // Whatever it was, it may work after a while, or elsewhere: when the lease has ended.
        (None, _) => return,
        (Some(code), _) => {
            let said = said(code, log);
            eprintln!("error: run {}: {said}", lease.run_id);
            Rest::Waits { what: format!("on {}: {said}", worker.name) }
        }
    };
    give_back(worker, lease, rest);
}

fn give_back(worker: &Worker, lease: &Lease, rest: Rest) {
    let release = Release { run_id: lease.run_id.clone(), epoch: lease.epoch, rest };
    if let Err(error) = patiently(PATIENCE, || worker.calls.release(&release)) {
        eprintln!("warning: the fleet was not told how run {} stands: {error}", lease.run_id);
    }
}

/// What a driver said last.
fn said(code: i32, log: Option<&Path>) -> String {
    log.and_then(last_words).unwrap_or_else(|| format!("exit {code}"))
}

/// Removes the clone of a run that is over, and tidies up behind many of them.
fn clean(worker: &Worker, lease: &Lease, repository: &str) {
    let runs = worker.places.runs();
    let rest = rest::of_copy(&runs.to_string_lossy(), &lease.run_id);
    if matches!(rest, Rest::Over { .. }) {
        clone::forget(&worker.places.repos, &lease.run_id);
        worker.leftovers.add(repository, &lease.run_id);
    }
}

/// The last error that a driver has said, without the ways out.
fn last_words(log: &Path) -> Option<String> {
    let path = log.to_string_lossy().into_owned();
    let (bytes, _) = OsFiles::new(Root::new("/")).read_tail(&path, LOG_TAIL_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let words = match lines.iter().rposition(|line| line.starts_with("error:")) {
        Some(at) => {
            // An error is wrapped, and its cause is below it.
            let belongs = |line: &&&str| line.starts_with("  ") && !line.starts_with("  fix:");
            let below = lines[at + 1..].iter().take_while(belongs);
            let whole = [lines[at]].into_iter().chain(below.map(|line| line.trim_start()));
            whole.collect::<Vec<_>>().join(" ")
        }
        None => (*lines.last()?).to_owned(),
    };
    Some(text::ellipsis(&text::one_line(&words), 200))
}
