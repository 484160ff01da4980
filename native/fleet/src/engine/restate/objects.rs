//! What runs inside the engine: small handlers that keep a run's record and its lines. They take no time,
//! start nothing and wait for nobody, so that it does no harm when the engine repeats them.
//!
//! The state of a `Run` has its record, its submission and each line under a key of its own, so an append
//! reads and writes little, however long the journal is. The state of the `Fleet` names all runs and how
//! the finished ones stand.

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::engine::record::{Chained, Judged};
use crate::engine::{Append, Appended, EngineError, Release, RunRecord, Submission};

/// The key of the one `Fleet`.
pub(super) const FLEET: &str = "main";
const RECORD: &str = "record";
const SUBMISSION: &str = "submission";

/// What a handler answers. A refusal is an answer: an error of a handler would be tried again.
type Answer<T> = Json<Result<T, EngineError>>;

#[derive(Serialize, Deserialize)]
pub(super) struct Submit {
    pub(super) run: Submission,
    pub(super) now_ms: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct GiveLease {
    pub(super) holder: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Expire {
    pub(super) epoch: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) after: u64,
}

/// Where the line `seq` lies.
fn line_key(seq: u64) -> String {
    format!("line {seq}")
}

/// One run.
pub(super) struct RunObject;

#[restate_sdk::object(
    name = "Run",
    lazy_state,
    journal_retention = "0s",
    idempotency_retention = "0s"
)]
impl RunObject {
    #[handler]
    async fn submit(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Submit>,
    ) -> HandlerResult<Answer<RunRecord>> {
        let Submit { run, now_ms } = call.into_inner();
        if let Some(record) = record(&ctx).await? {
            let taken = ctx.get::<Json<Submission>>(SUBMISSION).await?.map(Json::into_inner);
            let is_same = taken.is_some_and(|taken| taken == run);
            let exists = EngineError::Exists { run_id: run.run_id };
            return Ok(Json(if is_same { Ok(record) } else { Err(exists) }));
        }
        let record = match RunRecord::begin(&run, now_ms) {
            Ok(record) => record,
            Err(error) => return Ok(Json(Err(error))),
        };
        ctx.set(SUBMISSION, Json(run));
        ctx.set(RECORD, Json(record.clone()));
        note(&ctx, &record);
        Ok(Json(Ok(record)))
    }

    #[handler]
    async fn lease(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<GiveLease>,
    ) -> HandlerResult<Answer<(RunRecord, Submission)>> {
        let holder = call.into_inner().holder;
        let Some(mut record) = record(&ctx).await? else { return missing(&ctx) };
        let was_finished = record.is_finished();
        if let Err(error) = record.lease(&holder) {
            return Ok(Json(Err(error)));
        }
        let Some(submission) = ctx.get::<Json<Submission>>(SUBMISSION).await? else {
            return missing(&ctx);
        };
        keep(&ctx, &record, was_finished);
        Ok(Json(Ok((record, submission.into_inner()))))
    }

    #[handler]
    async fn expire(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Expire>,
    ) -> HandlerResult<Answer<RunRecord>> {
        let Some(mut record) = record(&ctx).await? else { return missing(&ctx) };
        let was_finished = record.is_finished();
        if record.end_lease(call.into_inner().epoch, None) {
            keep(&ctx, &record, was_finished);
        }
        Ok(Json(Ok(record)))
    }

    #[handler]
    async fn release(
        &self,
        ctx: ObjectContext<'_>,
        call: Json<Release>,
    ) -> HandlerResult<Answer<RunRecord>> {
        let Release { epoch, rest, .. } = call.into_inner();
        let Some(mut record) = record(&ctx).await? else { return missing(&ctx) };
        let was_finished = record.is_finished();
        if record.end_lease(epoch, Some(rest)) {
            keep(&ctx, &record, was_finished);
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
        let Some(mut record) = record(&ctx).await? else { return missing(&ctx) };
        let chained = match Chained::of(&append) {
            Ok(chained) => chained,
            Err(error) => return Ok(Json(Err(error))),
        };
        match record.judge(&append, &chained) {
            Err(error) => return Ok(Json(Err(error))),
            Ok(Judged::New(from)) => {
                let version = record.version;
                for (seq, line) in chained.from(from) {
                    ctx.set(&line_key(seq), line.to_owned());
                }
                record.take_lines(&append, &chained, from);
                if record.version != version {
                    ctx.set(RECORD, Json(record.clone()));
                }
            }
            Ok(Judged::Compare(seq)) => {
                let line = ctx.get::<String>(&line_key(seq)).await?;
                if !line.is_some_and(|line| chained.ends_with(&line)) {
                    return Ok(Json(Err(record.conflict())));
                }
            }
        }
        Ok(Json(Ok(Appended { head: chained.last(), record })))
    }

    /// As the other handlers one after the other, so that it says how the run stands after everything
    /// that was asked for before.
    #[handler]
    async fn settle(&self, ctx: ObjectContext<'_>) -> HandlerResult<Answer<RunRecord>> {
        match record(&ctx).await? {
            Some(record) => Ok(Json(Ok(record))),
            None => missing(&ctx),
        }
    }

    /// Beside the others. The whole state comes with the call: each line would be a question otherwise.
    #[handler(lazy_state = false)]
    async fn read(
        &self,
        ctx: SharedObjectContext<'_>,
        call: Json<Read>,
    ) -> HandlerResult<Answer<(String, RunRecord)>> {
        let Some(record) = ctx.get::<Json<RunRecord>>(RECORD).await?.map(Json::into_inner) else {
            return Ok(Json(Err(EngineError::NotFound { run_id: ctx.key().to_owned() })));
        };
        let last = record.head.as_ref().map_or(0, |head| head.seq);
        let mut lines = String::new();
        for seq in call.into_inner().after + 1..=last {
            lines += &ctx.get::<String>(&line_key(seq)).await?.unwrap_or_default();
            lines.push('\n');
        }
        Ok(Json(Ok((lines, record))))
    }
}

/// Which runs there are.
pub(super) struct FleetObject;

#[restate_sdk::object(
    name = "Fleet",
    lazy_state,
    journal_retention = "0s",
    idempotency_retention = "0s"
)]
impl FleetObject {
    #[handler]
    async fn note(&self, ctx: ObjectContext<'_>, record: Json<RunRecord>) -> HandlerResult<()> {
        let record = record.into_inner();
        let known = ctx.get::<Json<RunRecord>>(&record.run_id).await?.map(Json::into_inner);
        if known.is_none_or(|known| known.version < record.version) {
            ctx.set(&record.run_id.clone(), Json(record));
        }
        Ok(())
    }

    #[handler(lazy_state = false)]
    async fn all(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Vec<RunRecord>>> {
        let mut records = Vec::new();
        for run_id in ctx.get_keys().await? {
            records.extend(ctx.get::<Json<RunRecord>>(&run_id).await?.map(Json::into_inner));
        }
        Ok(Json(records))
    }
}

async fn record(ctx: &ObjectContext<'_>) -> Result<Option<RunRecord>, TerminalError> {
    Ok(ctx.get::<Json<RunRecord>>(RECORD).await?.map(Json::into_inner))
}

fn missing<T>(ctx: &ObjectContext<'_>) -> HandlerResult<Answer<T>> {
    Ok(Json(Err(EngineError::NotFound { run_id: ctx.key().to_owned() })))
}

/// Keeps a record that has changed.
fn keep(ctx: &ObjectContext<'_>, record: &RunRecord, was_finished: bool) {
    ctx.set(RECORD, Json(record.clone()));
    // Of a run that is not finished the fleet only has to know that there is one.
    if was_finished || record.is_finished() {
        note(ctx, record);
    }
}

fn note(ctx: &ObjectContext<'_>, record: &RunRecord) {
    // That it is on its way is enough: nobody waits for it.
    let _sent = ctx.object_client::<FleetObjectClient>(FLEET).note(Json(record.clone())).send();
}
