//! The handlers in the engine that store a run's record and its lines. They have no side effects and do
//! not wait, so the engine can repeat them.
//!
//! The state of a `Run` comes with each call, so it is small: the record and the last lines. The engine
//! writes each value separately, so lines of one append are one value. Earlier lines and the submission
//! move to the `Journal`. The `Fleet` has the records of all runs. Only `Run` calls the others, so that
//! two objects never wait for each other.

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::journal::{EarlierLines, FleetObjectClient, JournalObjectClient};
use crate::engine::record::{AppendCheck, Chained};
use crate::engine::{Append, Appended, Change, EngineError, RunRecord, Submission};

/// The key of the only `Fleet`.
pub(super) const FLEET: &str = "main";
/// Most bytes of the lines that stay with a record.
const LATEST_BYTES: usize = 16 * 1024;
const KEPT: &str = "kept";

/// The answer of a handler. A refusal is an answer, because the engine retries a handler with an error.
pub(super) type Answer<T> = Json<Result<T, EngineError>>;

#[derive(Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) after: u64,
}

/// Deletes a run that still has this version.
#[derive(Serialize, Deserialize)]
pub(super) struct Forget {
    pub(super) run_id: String,
    pub(super) version: u64,
}

/// A part of a deleted run. The record comes last and makes the run visible.
#[derive(Serialize, Deserialize)]
pub(super) enum Restore {
    Submission(Submission),
    Lines(EarlierLines),
    Record(RunRecord),
}

/// The last lines of a journal.
#[derive(Serialize, Deserialize)]
pub(super) struct Latest {
    /// The lines without line breaks.
    pub(super) lines: Vec<String>,
    /// How many lines the `Journal` has.
    pub(super) moved: u64,
    pub(super) record: RunRecord,
}

/// The state of a run without its last lines.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    record: RunRecord,
    /// How many lines the `Journal` has.
    moved: u64,
    /// Bytes of the other lines.
    latest_bytes: usize,
}

/// One run.
pub(super) struct RunObject;

#[restate_sdk::object(name = "Run", journal_retention = "0s", idempotency_retention = "0s")]
impl RunObject {
    #[handler]
    async fn change(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Change>,
    ) -> HandlerResult<Answer<RunRecord>> {
        let change = call.into_inner();
        let kept = kept(&ctx).await?;
        let before = kept.as_ref().map(|kept| kept.record.clone());
        let record = match change.apply(ctx.key(), before.clone()) {
            Ok(record) => record,
            Err(error) => return Ok(Json(Err(error))),
        };
        if before.as_ref() == Some(&record) {
            return Ok(Json(Ok(record)));
        }
        if let Change::Submit { run, .. } = change {
            let _sent = journal(&ctx).submitted(Json(*run)).send();
        }
        let (moved, latest_bytes) = kept.map_or((0, 0), |kept| (kept.moved, kept.latest_bytes));
        ctx.set(KEPT, Json(Kept { record: record.clone(), moved, latest_bytes }));
        // The fleet needs the current record only of finished runs.
        if record.is_finished() || before.is_none_or(|before| before.is_finished()) {
            note(&ctx, &record);
        }
        Ok(Json(Ok(record)))
    }

    #[handler]
    async fn append(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Append>,
    ) -> HandlerResult<Answer<Appended>> {
        let append = call.into_inner();
        let Some(mut kept) = kept(&ctx).await? else { return Ok(missing(&ctx)) };
        let chained = match Chained::of(&append) {
            Ok(chained) => chained,
            Err(error) => return Ok(Json(Err(error))),
        };
        match kept.record.check_append(&append, &chained) {
            Err(error) => return Ok(Json(Err(error))),
            Ok(AppendCheck::New(from)) => {
                let version = kept.record.version;
                kept.record.take_lines(&append, &chained, from);
                if kept.record.version != version {
                    add(&ctx, &mut kept, chained.from(from)).await?;
                    ctx.set(KEPT, Json(kept.clone()));
                }
            }
            Ok(AppendCheck::Compare(seq)) => {
                let line = match seq <= kept.moved {
                    true => journal(&ctx).line(seq).call().await?.into_inner(),
                    false => line(&ctx, kept.moved + 1, seq).await?,
                };
                if !line.is_some_and(|line| chained.ends_with(&line)) {
                    return Ok(Json(Err(kept.record.conflict())));
                }
            }
        }
        Ok(Json(Ok(Appended { head: chained.last(), record: kept.record })))
    }

    /// Deletes all state of a run that has the caller's version. The state of the `Run` goes last, so
    /// an interrupted call is repeated.
    #[handler]
    async fn forget(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Forget>,
    ) -> HandlerResult<Answer<bool>> {
        let Some(Kept { record, .. }) = kept(&ctx).await? else { return Ok(missing(&ctx)) };
        let forget = call.into_inner();
        let is_forgotten = record.version == forget.version && record.is_finished();
        if is_forgotten {
            fleet(&ctx).forget(Json(forget)).call().await?;
            journal(&ctx).forget().call().await?;
            ctx.clear_all();
        }
        Ok(Json(Ok(is_forgotten)))
    }

    /// Stores a part of a deleted run. It passes through the `Run`, so that it is ordered after a
    /// `forget` that has not finished.
    #[handler]
    async fn restore(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Restore>,
    ) -> HandlerResult<Answer<Option<RunRecord>>> {
        if let Some(Kept { record, .. }) = kept(&ctx).await? {
            return Ok(Json(Ok(Some(record))));
        }
        let record = match call.into_inner() {
            Restore::Submission(run) => {
                journal(&ctx).submitted(Json(run)).call().await?;
                return Ok(Json(Ok(None)));
            }
            Restore::Lines(lines) => {
                journal(&ctx).put(Json(lines)).call().await?;
                return Ok(Json(Ok(None)));
            }
            Restore::Record(record) => record,
        };
        let moved = record.head.as_ref().map_or(0, |head| head.seq);
        ctx.set(KEPT, Json(Kept { record: record.clone(), moved, latest_bytes: 0 }));
        note(&ctx, &record);
        Ok(Json(Ok(Some(record))))
    }

    /// Reads concurrently with other calls.
    #[handler]
    async fn read(
        &self,
        ctx: SharedObjectContext<'_>,
        call: Json<Read>,
    ) -> HandlerResult<Answer<Latest>> {
        let call = call.into_inner();
        let Some(kept) = ctx.get::<Json<Kept>>(KEPT).await?.map(Json::into_inner) else {
            return Ok(Json(Err(EngineError::NotFound { run_id: ctx.key().to_owned() })));
        };
        let Kept { record, moved, .. } = kept;
        let (mut lines, mut next) = (Vec::new(), moved + 1);
        while let Some(some) = ctx.get::<String>(&lines_key(next)).await? {
            next += append_behind(&mut lines, &some, next, call.after);
        }
        Ok(Json(Ok(Latest { lines, moved, record })))
    }
}

/// Returns the key of a value that contains lines; `first` is the number of its first line.
pub(super) fn lines_key(first: u64) -> String {
    format!("line {first}")
}

/// Appends the lines after number `after` to `lines`; `first` is the number of the first of `some`.
/// Returns how many lines `some` contains.
pub(super) fn append_behind(lines: &mut Vec<String>, some: &str, first: u64, after: u64) -> u64 {
    let numbered = (first..).zip(some.split('\n'));
    lines.extend(numbered.filter(|(seq, _)| *seq > after).map(|(_, line)| line.to_owned()));
    some.split('\n').count() as u64
}

/// Returns the line `seq` of the values that begin at the line `first`.
pub(super) async fn line(
    ctx: &ObjectContext<'_>,
    first: u64,
    seq: u64,
) -> Result<Option<String>, TerminalError> {
    let (mut lines, mut next) = (Vec::new(), first);
    while next <= seq {
        let Some(some) = ctx.get::<String>(&lines_key(next)).await? else { return Ok(None) };
        next += append_behind(&mut lines, &some, next, seq - 1);
    }
    Ok(lines.into_iter().next())
}

async fn kept(ctx: &ObjectContext<'_>) -> Result<Option<Kept>, TerminalError> {
    Ok(ctx.get::<Json<Kept>>(KEPT).await?.map(Json::into_inner))
}

fn missing<T>(ctx: &ObjectContext<'_>) -> Answer<T> {
    Json(Err(EngineError::NotFound { run_id: ctx.key().to_owned() }))
}

/// Adds lines to those that stay with the record, or moves all of them to the `Journal` if they are too
/// many.
async fn add(
    ctx: &ObjectContext<'_>,
    kept: &mut Kept,
    new: impl Iterator<Item = (u64, &str)>,
) -> Result<(), TerminalError> {
    let new: Vec<(u64, &str)> = new.collect();
    let (first, last) = match (new.first(), new.last()) {
        (Some((first, _)), Some((last, _))) => (*first, *last),
        (_, _) => return Ok(()),
    };
    let joined = new.iter().map(|(_, line)| *line).collect::<Vec<&str>>().join("\n");
    kept.latest_bytes += joined.len();
    if kept.latest_bytes <= LATEST_BYTES {
        ctx.set(&lines_key(first), joined);
        return Ok(());
    }
    let (mut lines, mut next) = (Vec::new(), kept.moved + 1);
    while next < first {
        let some = ctx.get::<String>(&lines_key(next)).await?.unwrap_or_default();
        next += append_behind(&mut lines, &some, next, 0);
    }
    append_behind(&mut lines, &joined, first, 0);
    // This also clears the record, which the caller sets again.
    ctx.clear_all();
    let _sent = journal(ctx).put(Json(EarlierLines { first: kept.moved + 1, lines })).send();
    kept.moved = last;
    kept.latest_bytes = 0;
    Ok(())
}

fn journal<'ctx>(ctx: &ObjectContext<'ctx>) -> JournalObjectClient<'ctx> {
    ctx.object_client::<JournalObjectClient<'ctx>>(ctx.key())
}

fn fleet<'ctx>(ctx: &ObjectContext<'ctx>) -> FleetObjectClient<'ctx> {
    ctx.object_client::<FleetObjectClient<'ctx>>(FLEET)
}

fn note(ctx: &ObjectContext<'_>, record: &RunRecord) {
    // The record may arrive later.
    let _sent = fleet(ctx).note(Json(record.clone())).send();
}
