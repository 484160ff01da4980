//! The pull request of published work: opened, and its text kept up to date.

use super::body;
use super::context::FinishContext;
use crate::forge::{Ends, Forge, ForgeError, Words};
use onloop_documents::attestation::decided;
use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::run::gate::{Change, Form};
use onloop_engine::state::store::Store;
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Opens a pull request for the run's branch and returns its address. When an earlier attempt
/// may have opened one (`perhaps_there`), that one is looked for first.
pub(super) async fn open(
    io: &Io,
    store: &Store,
    context: &FinishContext,
    (target, remote): (&str, &str),
    perhaps_there: bool,
) -> Result<String, CommandError> {
    let (run, folder) = (store.run(), &context.home);
    let forge = Forge::around(io, folder, Some(remote)).await;
    let ends = Ends { target, branch: &context.branch };
    if perhaps_there {
        match forge.open_one(io, folder, ends).await {
            Ok(Some(url)) => return Ok(url),
            Ok(None) | Err(ForgeError::NoAnswer(_)) => {}
            Err(ForgeError::Failed(error)) => return Err(error),
        }
    }
    let title = body::title(run);
    let body = written(io, store).await;
    let words = Words { title: &title, body: &body };
    let opened = forge.open(io, folder, ends, words).await;
    opened.or_else(|error| Err(unfinished(run, context, &error.reason()?)))
}

/// Replaces the text of the pull request at `url`: it says how the present commit was verified. A text
/// that cannot be replaced is reported and left.
pub(super) async fn update(
    io: &Io,
    store: &mut Store,
    context: &FinishContext,
    url: &str,
) -> Result<(), CommandError> {
    let body = written(io, store).await;
    let edited = Forge::of_address(io, url).await.edit(io, &context.home, url, &body).await;
    if let Err(error) = edited {
        let why = text::one_line(&error.reason()?);
        store.note(format!("warning: the text of {url} is not up to date: {why}"));
    }
    Ok(())
}

async fn written(io: &Io, store: &Store) -> String {
    let run = store.run();
    // Who decided is in the ledger alone; where it cannot be read now, that is left out.
    let ledger = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await;
    let decided = ledger.map(|(bytes, _)| decided(&bytes)).unwrap_or_default();
    let mut changes = String::new();
    if let Some(ends) = run.checkpoints_around(None)
        && let Ok(Some(change)) = Change::between(io, run, ends).await
    {
        changes = change.show(io, Form::Stat).await.unwrap_or_default();
    }
    let said = io.redacted(&body::body(run, &decided, &changes, store.head_sha256()));
    text::prefix(&said, limits::PULL_REQUEST_BYTES).to_owned()
}

fn unfinished(run: &Run, context: &FinishContext, said: &str) -> CommandError {
    let intent = run.finish_intent.as_ref();
    let command = intent.map(|intent| intent.act.command(&run.id)).unwrap_or_default();
    let what = format!("`{}` is published, but no pull request was opened", context.branch);
    CommandError::failed(what).because(said).fix_by("try again", command).fix_by(
        "or record the address of one that is open",
        format!("onloop finish {} publish --pr-url URL", run.id),
    )
}
