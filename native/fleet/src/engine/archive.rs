//! Runs that have been over for long, as files: one for each, which anybody can read. The first line says what
//! was submitted and how the run stands; the lines of its journal follow as they are.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use onloop_core::run::is_run_id;
use serde::{Deserialize, Serialize};

use super::{EngineError, RunRecord, Submission};

/// What the first line says that it is.
const SCHEMA: &str = "onloop.fleet_archive/v1";

/// Where runs go that have been over for long, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The folder of the files.
    pub folder: PathBuf,
    /// How long a run is over before it goes there, by the time of its last line.
    pub after: Duration,
}

/// A run that lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedRun {
    /// How it stands.
    pub record: RunRecord,
    /// What was submitted.
    pub submission: Submission,
    /// Its journal.
    pub lines: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstLine {
    schema: String,
    record: RunRecord,
    submission: Submission,
}

impl Archive {
    /// Writes a run as a whole and durably, in the place of an earlier file of it.
    pub(super) fn write(&self, run: &ArchivedRun) -> Result<(), EngineError> {
        let path = self.path(&run.record.run_id)?;
        let ArchivedRun { record, submission, lines } = run;
        let (record, submission) = (record.clone(), submission.clone());
        let first = FirstLine { schema: SCHEMA.to_owned(), record, submission };
        let first = serde_json::to_string(&first).expect("a run has only string keys");
        crate::private::write(&path, format!("{first}\n{lines}").as_bytes())
            .map_err(|error| broken(&path, "cannot be written", error))
    }

    /// A run that lies there.
    ///
    /// # Errors
    ///
    /// [`EngineError::Invalid`] names the file that cannot be read.
    pub(super) fn read(&self, run_id: &str) -> Result<Option<ArchivedRun>, EngineError> {
        let Ok(path) = self.path(run_id) else { return Ok(None) };
        let unreadable = |error: &dyn std::fmt::Display| broken(&path, "cannot be read", error);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&error)),
        };
        let (first, lines) = text.split_once('\n').unwrap_or((&text, ""));
        let FirstLine { schema, record, submission } =
            serde_json::from_str(first).map_err(|error| unreadable(&error))?;
        if schema != SCHEMA {
            return Err(unreadable(&format!("it is a `{schema}`, expected a `{SCHEMA}`")));
        }
        if record.run_id != run_id || !record.is_finished() {
            return Err(unreadable(&"its first line is not that of a finished run of this name"));
        }
        let (found, expected) =
            (lines.lines().count(), record.head.as_ref().map_or(0, |head| head.seq));
        if found as u64 != expected {
            let why = format!("it has {found} lines of the journal, expected {expected}");
            return Err(unreadable(&why));
        }
        Ok(Some(ArchivedRun { record, submission, lines: lines.to_owned() }))
    }

    fn path(&self, run_id: &str) -> Result<PathBuf, EngineError> {
        match is_run_id(run_id) {
            true => Ok(self.folder.join(format!("{run_id}.jsonl"))),
            false => Err(EngineError::NotFound { run_id: run_id.to_owned() }),
        }
    }
}

impl ArchivedRun {
    /// The journal behind line `after`.
    pub(super) fn lines_after(&self, after: u64) -> String {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        self.lines.split_inclusive('\n').skip(after).collect()
    }
}

fn broken(path: &Path, what: &str, why: impl std::fmt::Display) -> EngineError {
    let path = path.display();
    EngineError::Invalid { why: format!("{path} on the server {what}: {why}") }
}
