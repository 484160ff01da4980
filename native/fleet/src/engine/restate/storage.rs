//! The storage on Restate's objects.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use hyper::body::Bytes;

use super::journal::EarlierLines;
use super::objects::{FLEET, Forget, Latest, Read, Restore};
use super::{ASKED_AT_ONCE, Restate, bytes, joined, target, unreachable};
use crate::engine::record::{AppendCheck, Chained};
use crate::engine::{
    Append, Appended, ArchivedRun, Change, EngineError, RunRecord, Storage, Submission,
};

/// Most bytes of lines that are restored at once, unless a single line is longer.
const PART_BYTES: usize = 1024 * 1024;

impl Storage for Restate {
    async fn change(&self, run_id: &str, change: &Change) -> Result<RunRecord, EngineError> {
        if let Change::Submit { run, queued_ms } = change {
            // An invalid submission does not reach the engine.
            RunRecord::begin(run, *queued_ms)?;
        }
        Restate::change(self, run_id, change).await
    }

    async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        let chained = Chained::of(append)?;
        let mut known = self.locks.of(&append.run_id).await;
        // Until the answer the record is unknown.
        if let Some(mut record) = known.take()
            && let Ok(AppendCheck::New(from)) = record.check_append(append, &chained)
        {
            if from < chained.len() {
                record.take_lines(append, &chained, from);
                self.send(&target("Run", &append.run_id, "append")?, bytes(append)).await?;
                self.locks.acknowledge(&append.run_id, chained.last().seq);
            }
            *known = Some(record.clone());
            return Ok(Appended { head: chained.last(), record });
        }
        let appended: Appended = self.run(&append.run_id, "append", append).await?;
        *known = (!appended.record.is_finished()).then(|| appended.record.clone());
        Ok(appended)
    }

    async fn read(&self, run_id: &str, after: u64) -> Result<(String, RunRecord), EngineError> {
        let mut latest: Latest = self.run(run_id, "read", &Read { after }).await?;
        let acknowledged = self.locks.acknowledged(run_id);
        if latest.record.head.as_ref().map_or(0, |head| head.seq) < acknowledged {
            // A confirmed call that the engine has not performed yet is performed before this returns.
            Restate::change(self, run_id, &Change::None).await?;
            latest = self.run(run_id, "read", &Read { after }).await?;
        }
        let Latest { lines, moved, record } = latest;
        let mut text = match after < moved {
            true => self.earlier_lines(run_id, after, moved).await?,
            false => String::new(),
        };
        text += &joined(&lines);
        Ok((text, record))
    }

    async fn all(&self) -> Result<Vec<RunRecord>, EngineError> {
        let noted: Vec<RunRecord> = self.call(&format!("/Fleet/{FLEET}/all"), Bytes::new()).await?;
        let (mut records, open): (Vec<_>, Vec<_>) =
            noted.into_iter().partition(RunRecord::is_finished);
        // Records of unfinished runs may be out of date.
        for some in open.chunks(ASKED_AT_ONCE) {
            let asked =
                some.iter().map(|record| Restate::change(self, &record.run_id, &Change::None));
            records.extend(try_join_all(asked).await?);
        }
        Ok(records)
    }

    async fn submission(&self, run_id: &str) -> Result<Submission, EngineError> {
        self.submitted(run_id).await
    }

    async fn forget(&self, run_id: &str, version: u64) -> Result<bool, EngineError> {
        // The cached record is no longer valid.
        let mut known = self.locks.of(run_id).await;
        known.take();
        self.run(run_id, "forget", &Forget { run_id: run_id.to_owned(), version }).await
    }

    async fn restore(&self, run: &ArchivedRun) -> Result<RunRecord, EngineError> {
        let run_id = &run.record.run_id;
        let mut known = self.locks.of(run_id).await;
        known.take();
        let parts = std::iter::once(Restore::Submission(run.submission.clone()))
            .chain(parts(&run.lines).map(Restore::Lines))
            .chain([Restore::Record(run.record.again())]);
        let mut restored: Option<RunRecord> = None;
        for part in parts {
            restored = self.run(run_id, "restore", &part).await?;
        }
        restored.ok_or_else(|| unreachable("it has not kept the run"))
    }
}

/// Splits lines into parts that the engine accepts in one call.
fn parts(lines: &str) -> impl Iterator<Item = EarlierLines> {
    let mut rest: VecDeque<(u64, &str)> = (1..).zip(lines.lines()).collect();
    std::iter::from_fn(move || {
        let (first, line) = rest.pop_front()?;
        let mut part = EarlierLines { first, lines: vec![line.to_owned()] };
        let mut bytes = line.len();
        while let Some((_, line)) = rest.pop_front_if(|(_, line)| bytes + line.len() <= PART_BYTES)
        {
            bytes += line.len();
            part.lines.push(line.to_owned());
        }
        Some(part)
    })
}
