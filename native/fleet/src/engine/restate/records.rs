//! The records of runs, as objects of the engine.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use hyper::body::Bytes;

use super::objects::{Expire, FLEET, Forget, GiveLease, Latest, Read, Restore, Submit};
use super::shelves::Shelved;
use super::{
    ASKED_AT_ONCE, REMEMBERED, REMEMBERED_BYTES, Restate, bytes, joined, target, unreachable,
};
use crate::engine::record::{Chained, Judged};
use crate::engine::{
    Append, Appended, ArchivedRun, EngineError, Records, Release, RunRecord, Submission,
};

/// Most bytes of lines that are brought back at once, but for a line that is longer by itself.
const PART_BYTES: usize = 1024 * 1024;

impl Records for Restate {
    async fn submit(&self, run: &Submission, now_ms: u64) -> Result<RunRecord, EngineError> {
        // Refused here, it takes no room there.
        RunRecord::begin(run, now_ms)?;
        let submit = Submit { run: run.clone(), now_ms };
        let record = self.change(&run.run_id, "submit", bytes(&submit)).await?;
        let mut submissions = self.submissions();
        if submissions.len() < REMEMBERED && run.text.len() < REMEMBERED_BYTES {
            submissions.insert(run.run_id.clone(), submit.run);
        }
        Ok(record)
    }

    async fn lease(
        &self,
        run_id: &str,
        holder: &str,
    ) -> Result<(RunRecord, Submission), EngineError> {
        let lease = GiveLease { holder: holder.to_owned() };
        let record = self.change(run_id, "lease", bytes(&lease)).await?;
        Ok((record, self.submitted(run_id).await?))
    }

    async fn expire(&self, run_id: &str, epoch: u64) -> Result<RunRecord, EngineError> {
        self.change(run_id, "expire", bytes(&Expire { epoch })).await
    }

    async fn release(&self, release: &Release) -> Result<RunRecord, EngineError> {
        self.change(&release.run_id, "release", bytes(release)).await
    }

    async fn append(&self, append: &Append) -> Result<Appended, EngineError> {
        let chained = Chained::of(append)?;
        let mut turn = self.turns.of(&append.run_id).await;
        // Not known until it is answered, whatever comes in between.
        if let Some(mut record) = turn.take()
            && let Ok(Judged::New(from)) = record.judge(append, &chained)
        {
            if from < chained.len() {
                record.take_lines(append, &chained, from);
                self.send(&target("Run", &append.run_id, "append")?, bytes(append)).await?;
                self.turns.tell(&append.run_id, chained.last().seq);
            }
            *turn = Some(record.clone());
            return Ok(Appended { head: chained.last(), record });
        }
        let appended: Appended = self.run(&append.run_id, "append", append).await?;
        *turn = (!appended.record.is_finished()).then(|| appended.record.clone());
        Ok(appended)
    }

    async fn read(&self, run_id: &str, after: u64) -> Result<(String, RunRecord), EngineError> {
        let mut latest: Latest = self.run(run_id, "read", &Read { after }).await?;
        let told = self.turns.told(run_id);
        if latest.record.head.as_ref().map_or(0, |head| head.seq) < told {
            // What it has taken and not looked at yet is there afterwards.
            self.settle(run_id).await?;
            latest = self.run(run_id, "read", &Read { after }).await?;
        }
        let Latest { lines, shelved, record } = latest;
        let mut text = match after < shelved {
            true => self.shelved(run_id, after, shelved).await?,
            false => String::new(),
        };
        text += &joined(&lines);
        Ok((text, record))
    }

    async fn settle(&self, run_id: &str) -> Result<RunRecord, EngineError> {
        self.change(run_id, "settle", Bytes::new()).await
    }

    async fn all(&self) -> Result<Vec<RunRecord>, EngineError> {
        let noted: Vec<RunRecord> = self.call(&format!("/Fleet/{FLEET}/all"), Bytes::new()).await?;
        let (mut records, open): (Vec<_>, Vec<_>) =
            noted.into_iter().partition(RunRecord::is_finished);
        // Those that are not finished may have come further since they were noted.
        for some in open.chunks(ASKED_AT_ONCE) {
            let asked = some.iter().map(|record| self.settle(&record.run_id));
            records.extend(try_join_all(asked).await?);
        }
        Ok(records)
    }

    async fn submission(&self, run_id: &str) -> Result<Submission, EngineError> {
        self.submitted(run_id).await
    }

    async fn forget(&self, run_id: &str, version: u64) -> Result<bool, EngineError> {
        // Whatever was known of it is not known any more.
        let mut turn = self.turns.of(run_id).await;
        turn.take();
        self.run(run_id, "forget", &Forget { run_id: run_id.to_owned(), version }).await
    }

    async fn restore(&self, run: &ArchivedRun) -> Result<RunRecord, EngineError> {
        let run_id = &run.record.run_id;
        let mut turn = self.turns.of(run_id).await;
        turn.take();
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

/// Lines in parts of a size that the engine takes at once.
fn parts(lines: &str) -> impl Iterator<Item = Shelved> {
    let mut rest: VecDeque<(u64, &str)> = (1..).zip(lines.lines()).collect();
    std::iter::from_fn(move || {
        let (first, line) = rest.pop_front()?;
        let mut part = Shelved { first, lines: vec![line.to_owned()] };
        let mut bytes = line.len();
        while let Some((_, line)) = rest.pop_front_if(|(_, line)| bytes + line.len() <= PART_BYTES)
        {
            bytes += line.len();
            part.lines.push(line.to_owned());
        }
        Some(part)
    })
}
