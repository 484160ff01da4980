//! An engine that forgets everything when its process ends: what tests of the other parts run on, and
//! what every other engine must be indistinguishable from.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{Chained, Judged};
use super::{Append, Appended, ArchivedRun, EngineError, Records, Release, RunRecord, Submission};

/// Runs in memory.
#[derive(Debug, Default)]
pub struct Memory {
    runs: Mutex<BTreeMap<String, Kept>>,
}

#[derive(Debug)]
struct Kept {
    record: RunRecord,
    submission: Submission,
    /// Without their line breaks; the first has the number 1.
    lines: Vec<String>,
}

impl Memory {
    /// Without any run.
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

impl Records for Memory {
    async fn submit(&self, run: &Submission, now_ms: u64) -> Result<RunRecord, EngineError> {
        let record = RunRecord::begin(run, now_ms)?;
        let mut runs = self.runs();
        if let Some(kept) = runs.get(&run.run_id) {
            return kept.record.demand_same(run).map(|()| kept.record.clone());
        }
        let kept = Kept { record: record.clone(), submission: run.clone(), lines: Vec::new() };
        runs.insert(run.run_id.clone(), kept);
        Ok(record)
    }

    async fn lease(
        &self,
        run_id: &str,
        holder: &str,
    ) -> Result<(RunRecord, Submission), EngineError> {
        self.with(run_id, |kept| {
            kept.record.lease(holder)?;
            Ok((kept.record.clone(), kept.submission.clone()))
        })
    }

    async fn expire(&self, run_id: &str, epoch: u64) -> Result<RunRecord, EngineError> {
        self.with(run_id, |kept| {
            kept.record.end_lease(epoch, None);
            Ok(kept.record.clone())
        })
    }

    async fn release(&self, release: &Release) -> Result<RunRecord, EngineError> {
        self.with(&release.run_id, |kept| {
            kept.record.end_lease(release.epoch, Some(release.rest.clone()));
            Ok(kept.record.clone())
        })
    }

    async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        let chained = Chained::of(append)?;
        self.with(&append.run_id, |kept| {
            match kept.record.judge(append, &chained)? {
                Judged::New(from) => {
                    kept.lines.extend(chained.from(from).map(|(_, line)| line.to_owned()));
                    kept.record.take_lines(append, &chained, from);
                }
                Judged::Compare(seq) => {
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

    async fn settle(&self, run_id: &str) -> Result<RunRecord, EngineError> {
        self.with(run_id, |kept| Ok(kept.record.clone()))
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
