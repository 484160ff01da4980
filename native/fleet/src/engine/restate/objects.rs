//! The handlers inside the engine, which store a run's record and its lines. They take no time, start nothing
//! and do not wait, so that a repetition by the engine does no harm.
//!
//! The state of a `Run` comes with each call, so it is kept small: the record and the last lines. Each value
//! that is set is written down by the engine for itself, so lines that came together are one. The
//! lines before them, and what was submitted, move on to its `Journal`. The `Fleet` names all runs and
//! says how the finished ones stand. Calls go one way only, from `Run` to the others, so that no two
//! objects ever wait for each other.

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::journal::{EarlierLines, FleetObjectClient, JournalObjectClient};
use crate::engine::record::{Chained, Judged};
use crate::engine::{Append, Appended, Change, EngineError, RunRecord, Submission};

/// The key of the one `Fleet`.
pub(super) const FLEET: &str = "main";
/// Most bytes of lines that stay with a record.
const LATEST_BYTES: usize = 16 * 1024;
const KEPT: &str = "kept";

/// What a handler answers. A refusal is an answer: an error of a handler would be tried again.
pub(super) type Answer<T> = Json<Result<T, EngineError>>;

#[derive(Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) after: u64,
}

/// What is to be forgotten: a run that has not changed since.
#[derive(Serialize, Deserialize)]
pub(super) struct Forget {
    pub(super) run_id: String,
    pub(super) version: u64,
}

/// A part of a run that was forgotten. With the record, which comes last, it is there again.
#[derive(Serialize, Deserialize)]
pub(super) enum Restore {
    Submission(Submission),
    Lines(EarlierLines),
    Record(RunRecord),
}

/// The last lines of a journal.
#[derive(Serialize, Deserialize)]
pub(super) struct Latest {
    /// Without their line breaks.
    pub(super) lines: Vec<String>,
    /// How many lines of the journal lie elsewhere.
    pub(super) moved: u64,
    pub(super) record: RunRecord,
}

/// What is kept of a run besides its last lines.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    record: RunRecord,
    /// How many lines have moved on.
    moved: u64,
    /// Bytes of the lines that have not.
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
        // Of a run that is not finished the fleet only has to know that there is one.
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
        match kept.record.judge(&append, &chained) {
            Err(error) => return Ok(Json(Err(error))),
            Ok(Judged::New(from)) => {
                let version = kept.record.version;
                kept.record.take_lines(&append, &chained, from);
                if kept.record.version != version {
                    add(&ctx, &mut kept, chained.from(from)).await?;
                    ctx.set(KEPT, Json(kept.clone()));
                }
            }
            Ok(Judged::Compare(seq)) => {
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

    /// Lets go of everything that is kept of a run, if it stands as the caller knows. Itself comes last: what
    /// is half done is done again.
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

    /// Takes a part of a run that was forgotten. They come through here and not to the `Journal` itself, so
    /// that they come after a `forget` that is still at work.
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

    /// Beside the others.
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

/// Where lines lie that came together, the first of which has the number `first`.
pub(super) fn lines_key(first: u64) -> String {
    format!("line {first}")
}

/// Adds those of `some` lines behind the line `after` to `lines`, of which the first has the number `first`;
/// how many they are in all.
pub(super) fn append_behind(lines: &mut Vec<String>, some: &str, first: u64, after: u64) -> u64 {
    let numbered = (first..).zip(some.split('\n'));
    lines.extend(numbered.filter(|(seq, _)| *seq > after).map(|(_, line)| line.to_owned()));
    some.split('\n').count() as u64
}

/// The line `seq` of those that lie from the line `first` on.
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

/// Adds lines to those that stay with the record; all of them move on when they become too many.
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
    // This clears the record, too, which the caller sets again.
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
    // It need not have arrived.
    let _sent = fleet(ctx).note(Json(record.clone())).send();
}
