//! A storage in memory. Tests of the other parts use it, and every other storage must behave like it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{AppendCheck, Chained};
use super::{Append, Appended, ArchivedRun, Change, EngineError, RunRecord, Storage, Submission};

/// Runs in memory.
#[derive(Debug, Default)]
pub struct Memory {
    runs: Mutex<BTreeMap<String, Kept>>,
}

#[derive(Debug)]
struct Kept {
    record: RunRecord,
    submission: Submission,
    /// The lines without line breaks; the first has the number 1.
    lines: Vec<String>,
}

impl Memory {
    /// Returns a storage without runs.
    pub fn new() -> Memory {
        Memory::default()
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        run_id: &str,
        act: impl FnOnce(&mut Kept) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut runs = self.runs();
        let kept = runs.get_mut(run_id);
        act(kept.ok_or_else(|| EngineError::NotFound { run_id: run_id.to_owned() })?)
    }
}

impl Storage for Memory {
    async fn change(&self, run_id: &str, change: &Change) -> Result<RunRecord, EngineError> {
        let mut runs = self.runs();
        let kept = runs.get_mut(run_id);
        let record = change.apply(run_id, kept.as_ref().map(|kept| kept.record.clone()))?;
        match (kept, change) {
            (Some(kept), _) => kept.record = record.clone(),
            (None, Change::Submit { run, .. }) => {
                let (record, submission) = (record.clone(), run.as_ref().clone());
                runs.insert(run_id.to_owned(), Kept { record, submission, lines: Vec::new() });
            }
            // A run that does not exist is not changed.
            (None, _) => {}
        }
        Ok(record)
    }

    async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        let chained = Chained::of(append)?;
        self.with(&append.run_id, |kept| {
            match kept.record.check_append(append, &chained)? {
                AppendCheck::New(from) => {
                    kept.lines.extend(chained.from(from).map(|(_, line)| line.to_owned()));
                    kept.record.take_lines(append, &chained, from);
                }
                AppendCheck::Compare(seq) => {
                    let line = usize::try_from(seq).ok().and_then(|seq| kept.lines.get(seq - 1));
                    if !line.is_some_and(|line| chained.ends_with(line)) {
                        return Err(kept.record.conflict());
                    }
                }
            }
            Ok(Appended { head: chained.last(), record: kept.record.clone() })
        })
    }

    async fn read(&self, run_id: &str, after: u64) -> Result<(String, RunRecord), EngineError> {
        self.with(run_id, |kept| {
            let after = usize::try_from(after).unwrap_or(usize::MAX);
            let lines = kept.lines.iter().skip(after).map(|line| format!("{line}\n")).collect();
            Ok((lines, kept.record.clone()))
        })
    }

    async fn all(&self) -> Result<Vec<RunRecord>, EngineError> {
        Ok(self.runs().values().map(|kept| kept.record.clone()).collect())
    }

    async fn submission(&self, run_id: &str) -> Result<Submission, EngineError> {
        self.with(run_id, |kept| Ok(kept.submission.clone()))
    }

    async fn forget(&self, run_id: &str, version: u64) -> Result<bool, EngineError> {
        let mut runs = self.runs();
        let stands = |kept: &Kept| kept.record.version == version && kept.record.is_finished();
        let is_forgotten = runs.get(run_id).is_some_and(stands);
        if is_forgotten {
            runs.remove(run_id);
        }
        Ok(is_forgotten)
    }

    async fn restore(&self, run: &ArchivedRun) -> Result<RunRecord, EngineError> {
        let mut runs = self.runs();
        let kept = runs.entry(run.record.run_id.clone()).or_insert_with(|| Kept {
            record: run.record.again(),
            submission: run.submission.clone(),
            lines: run.lines.lines().map(str::to_owned).collect(),
        });
        Ok(kept.record.clone())
    }
}
