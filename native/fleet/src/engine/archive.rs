//! Archived runs: one text file for each finished run. The first line contains the submission and the
//! record; the lines of the journal follow.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use onloop_core::documents::ledger;
use onloop_core::run::is_run_id;
use serde::{Deserialize, Serialize};

use super::{EngineError, Head, RunRecord, Submission};

/// The schema in the first line.
const SCHEMA: &str = "onloop.fleet_archive/v1";

/// The folder of archived runs, and the age at which a run is archived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The folder.
    pub folder: PathBuf,
    /// The age of the last line at which a finished run is archived.
    pub after: Duration,
}

/// An archived run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedRun {
    /// The record.
    pub record: RunRecord,
    /// The submission.
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
    /// Writes a whole run durably and replaces its earlier file. A run with an incomplete journal is
    /// refused.
    pub(super) fn write(&self, run: &ArchivedRun) -> Result<(), EngineError> {
        let path = self.path(&run.record.run_id)?;
        run.demand_whole().map_err(|why| broken(&path, "is not written", &why))?;
        let ArchivedRun { record, submission, lines } = run;
        let (record, submission) = (record.clone(), submission.clone());
        let first = FirstLine { schema: SCHEMA.to_owned(), record, submission };
        let first = serde_json::to_string(&first).expect("a run has only string keys");
        crate::private::write(&path, format!("{first}\n{lines}").as_bytes())
            .map_err(|error| broken(&path, "cannot be written", &error))
    }

    /// Reads an archived run; `None`: the archive does not have it.
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
        let run = ArchivedRun { record, submission, lines: lines.to_owned() };
        run.demand_whole().map_err(|why| unreadable(&why))?;
        Ok(Some(run))
    }

    fn path(&self, run_id: &str) -> Result<PathBuf, EngineError> {
        match is_run_id(run_id) {
            true => Ok(self.folder.join(format!("{run_id}.jsonl"))),
            false => Err(EngineError::NotFound { run_id: run_id.to_owned() }),
        }
    }
}

impl ArchivedRun {
    /// Returns why the lines are not the whole journal of the record, as a clause.
    fn demand_whole(&self) -> Result<(), String> {
        let found = match self.lines.is_empty() {
            true => None,
            false => {
                let lines = ledger::chain(None, self.lines.as_bytes());
                let mut lines = lines.map_err(|error| format!("its journal is none: {error}"))?;
                lines.pop().map(|(last, _)| Head { seq: last.seq, sha256: last.sha256 })
            }
        };
        if found == self.record.head {
            return Ok(());
        }
        let last = |head: &Option<Head>| match head {
            Some(head) => {
                format!("line {} ({}…)", head.seq, head.sha256.get(..8).unwrap_or_default())
            }
            None => "no line".to_owned(),
        };
        let (found, expected) = (last(&found), last(&self.record.head));
        Err(format!("its journal ends with {found}, expected {expected}"))
    }

    /// Returns the lines after line `after`.
    pub(super) fn lines_after(&self, after: u64) -> String {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        self.lines.split_inclusive('\n').skip(after).collect()
    }
}

fn broken(path: &Path, what: &str, why: impl std::fmt::Display) -> EngineError {
    let path = path.display();
    EngineError::Invalid { why: format!("{path} on the server {what}: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::QueueState;

    #[test]
    fn a_journal_that_is_not_whole_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Archive { folder: folder.path().join("archive"), after: Duration::ZERO };
        let submission = Submission::sample("shop");
        let begun = RunRecord::begin(&submission, 0).expect("a run");
        let head = Some(Head { seq: 2, sha256: "0123456789".to_owned() });
        let state = QueueState::Finished { status: "completed".to_owned() };
        let record = RunRecord { head, state, ..begun };
        let run = ArchivedRun { record, submission, lines: String::new() };
        let path = folder.path().join("archive/run.jsonl");
        let why = format!(
            "{} on the server is not written: its journal ends with no line, expected line 2 (01234567…)",
            path.display()
        );
        assert_eq!(archive.write(&run), Err(EngineError::Invalid { why }));
        assert!(!path.exists());
        let record = RunRecord { head: None, ..run.record.clone() };
        let whole = ArchivedRun { record, ..run };
        archive.write(&whole).expect("written");
        assert_eq!(archive.read("run"), Ok(Some(whole)));
        assert_eq!(archive.read("other"), Ok(None));
        assert_eq!(archive.read("../archive/run"), Ok(None));
    }
}
