//! Large state that is seldom read. A `Run` sends it after its answer, so a reader may have to wait a
//! moment.

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::objects::{Forget, Read, append_behind, line, lines_key};
use crate::engine::{RunRecord, Submission};

const SUBMISSION: &str = "submission";

/// Lines that a `Run` has moved here.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct EarlierLines {
    /// The number of the first line.
    pub(super) first: u64,
    /// The lines without line breaks.
    pub(super) lines: Vec<String>,
}

/// The submission of a run, and its journal without the last lines.
pub(super) struct JournalObject;

#[restate_sdk::object(
    name = "Journal",
    client_visibility = "pub(super)",
    lazy_state,
    journal_retention = "0s",
    idempotency_retention = "0s"
)]
impl JournalObject {
    #[handler]
    async fn submitted(&self, ctx: ObjectContext<'_>, run: Json<Submission>) -> HandlerResult<()> {
        ctx.set(SUBMISSION, run);
        Ok(())
    }

    #[handler]
    async fn put(&self, ctx: ObjectContext<'_>, lines: Json<EarlierLines>) -> HandlerResult<()> {
        let EarlierLines { first, lines } = lines.into_inner();
        ctx.set(&lines_key(first), lines.join("\n"));
        Ok(())
    }

    /// Deletes the state of the run.
    #[handler]
    async fn forget(&self, ctx: ObjectContext<'_>) -> HandlerResult<()> {
        ctx.clear_all();
        Ok(())
    }

    /// Returns a line, after all earlier calls.
    #[handler(lazy_state = false)]
    async fn line(&self, ctx: ObjectContext<'_>, seq: u64) -> HandlerResult<Json<Option<String>>> {
        Ok(Json(line(&ctx, 1, seq).await?))
    }

    #[handler]
    async fn submission(
        &self,
        ctx: SharedObjectContext<'_>,
    ) -> HandlerResult<Json<Option<Submission>>> {
        Ok(Json(ctx.get::<Json<Submission>>(SUBMISSION).await?.map(Json::into_inner)))
    }

    /// Returns the lines after `after`, as far as the object has them. The whole state comes with the
    /// call, because reading single values takes a round trip each.
    #[handler(lazy_state = false)]
    async fn read(
        &self,
        ctx: SharedObjectContext<'_>,
        call: Json<Read>,
    ) -> HandlerResult<Json<Vec<String>>> {
        let after = call.into_inner().after;
        let (mut lines, mut next) = (Vec::new(), 1);
        while let Some(some) = ctx.get::<String>(&lines_key(next)).await? {
            next += append_behind(&mut lines, &some, next, after);
        }
        Ok(Json(lines))
    }
}

/// The records of all runs.
pub(super) struct FleetObject;

#[restate_sdk::object(
    name = "Fleet",
    client_visibility = "pub(super)",
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

    #[handler]
    async fn forget(&self, ctx: ObjectContext<'_>, forget: Json<Forget>) -> HandlerResult<()> {
        let Forget { run_id, version } = forget.into_inner();
        let known = ctx.get::<Json<RunRecord>>(&run_id).await?.map(Json::into_inner);
        // A run that was restored meanwhile has a later version.
        if known.is_some_and(|known| known.version <= version) {
            ctx.clear(&run_id);
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
