//! The workspace of a driver: the clone of the run, with its record and its work.

use std::path::{Path, PathBuf};
use std::time::Duration;

use onloop::host::{Files, OsFiles, Root};
use onloop_core::documents::fleet_run::{self, FleetRun};
use onloop_core::documents::ledger;
use onloop_core::effect::{Durability, Expect};
use onloop_core::run::Run;

use super::task::Task;
use crate::client::Client;
use crate::clone::{self, CloneError, REMOTE};
use crate::engine::{EngineError, Submission};
use crate::journal::{Mirror, MirrorError};
use crate::run_options;

/// Longest provider wait of a driver. A longer wait costs nothing in the fleet's queue.
const MAX_WAIT: &str = "1s";

/// Longest time that an unreachable server is retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// Why a run does not start here.
pub(super) enum PrepareError {
    /// A person has to fix it.
    Refused(String),
    /// A machine did not answer, so it may work later.
    Later(String),
}

impl From<CloneError> for PrepareError {
    fn from(error: CloneError) -> PrepareError {
        match error {
            // Git does not distinguish an unreachable repository from a missing one.
            CloneError::Git(_) => PrepareError::Later(error.to_string()),
            CloneError::Folder { .. } | CloneError::Address(_) => {
                PrepareError::Refused(error.to_string())
            }
        }
    }
}

impl From<MirrorError> for PrepareError {
    fn from(error: MirrorError) -> PrepareError {
        match error {
            MirrorError::Engine(EngineError::Unreachable { .. }) => {
                PrepareError::Later(error.to_string())
            }
            error => PrepareError::Refused(error.to_string()),
        }
    }
}

/// The current folder and the command line of the program.
pub(super) struct Workspace {
    /// The current folder.
    pub(super) cwd: PathBuf,
    /// The command line.
    pub(super) argv: Vec<String>,
    /// The run of the record; `None`: the run begins.
    pub(super) begun: Option<Box<Run>>,
}

impl Workspace {
    pub(super) fn cwd_text(&self) -> String {
        self.cwd.to_string_lossy().into_owned()
    }
}

/// Fetches the record and the repository of the run.
pub(super) fn prepare(task: &Task, client: &Client) -> Result<Workspace, PrepareError> {
    let submission = &task.assignment.submission;
    let (lease, is_begun) = (&task.assignment.lease, task.assignment.head.is_some());
    let clone = clone::of_run(&task.repos, submission, lease.epoch, is_begun)?;
    let mut files = OsFiles::new(Root::new("/"));
    mark(task, &clone, &mut files).map_err(PrepareError::Refused)?;
    let mirror = Mirror::new(&task.runs, &submission.run_id);
    if task.assignment.head.is_some() {
        pull(&mirror, &mut files, client)?;
    }
    let fails = |error: &dyn std::fmt::Display| {
        PrepareError::Refused(format!("`{}`: {error}", mirror.path().display()))
    };
    match std::fs::read(mirror.path()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            begin(submission, clone).map_err(PrepareError::Refused)
        }
        Err(error) => Err(fails(&error)),
        Ok(bytes) => {
            let ledger = ledger::read(&bytes, None).map_err(|error| fails(&error))?;
            let begun = Some(Box::new(ledger.run));
            Ok(Workspace { cwd: clone, argv: resume(submission), begun })
        }
    }
}

fn pull(mirror: &Mirror, files: &mut dyn Files, client: &Client) -> Result<(), MirrorError> {
    let mut other = None;
    let pulled = client.retry_within(RETRY_TIMEOUT, || match mirror.pull(files, client) {
        Ok(_) => Ok(()),
        Err(MirrorError::Engine(error)) => Err(error),
        Err(error) => {
            other = Some(error);
            Ok(())
        }
    });
    pulled?;
    other.map_or(Ok(()), Err)
}

/// Records that the ledger of the run is a copy.
fn mark(task: &Task, clone: &Path, files: &mut dyn Files) -> Result<(), String> {
    let run = FleetRun {
        server: task.server.clone(),
        root: Some(clone.to_string_lossy().into_owned()),
        remote: REMOTE.to_owned(),
    };
    let path = format!("{}/{}/fleet.json", task.runs, task.assignment.submission.run_id);
    let bytes = fleet_run::write(&run);
    let written = files.write(&path, &bytes, &Expect::Any, Durability::Durable, true);
    written.map(|_| ()).map_err(|failure| failure.message)
}

fn begin(submission: &Submission, clone: PathBuf) -> Result<Workspace, String> {
    let relative = Path::new(&submission.workflow);
    let is_plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    if !relative.components().all(is_plain) {
        return Err(format!("the workflow `{}` is not below its repository", submission.workflow));
    }
    let file = clone.join(relative);
    let is_there = std::fs::read(&file).is_ok_and(|bytes| bytes == submission.text.as_bytes());
    if !is_there {
        // A link could lead out of the repository.
        let mut files = OsFiles::new(Root::new("/"));
        let (path, text) = (file.to_string_lossy().into_owned(), submission.text.as_bytes());
        demand_no_link(&clone, relative)?;
        files
            .write(&path, text, &Expect::Any, Durability::Relaxed, false)
            .map_err(|failure| failure.message)?;
    }
    let mut argv = vec!["onloop".to_owned(), "run".to_owned(), submission.workflow.clone()];
    argv.extend(["--run-id".to_owned(), submission.run_id.clone()]);
    argv.extend(["--max-wait".to_owned(), MAX_WAIT.to_owned()]);
    argv.extend(run_options::of_driver("run", &submission.options));
    Ok(Workspace { cwd: clone, argv, begun: None })
}

fn demand_no_link(clone: &Path, relative: &Path) -> Result<(), String> {
    let mut path = clone.to_owned();
    for part in relative.components() {
        path.push(part);
        if std::fs::symlink_metadata(&path).is_ok_and(|there| there.file_type().is_symlink()) {
            return Err(format!(
                "`{}` is a link; the workflow is not written through it",
                path.display()
            ));
        }
    }
    Ok(())
}

/// The command line that resumes a run whose record is here.
fn resume(submission: &Submission) -> Vec<String> {
    let mut argv = vec!["onloop".to_owned(), "resume".to_owned(), submission.run_id.clone()];
    argv.extend(["--max-wait".to_owned(), MAX_WAIT.to_owned()]);
    argv.extend(run_options::of_driver("resume", &submission.options));
    argv
}
