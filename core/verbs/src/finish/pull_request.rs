//! Pull requests, with the program `gh`.

use super::body;
use super::context::FinishContext;
use super::plan::is_web_address;
use crate::gh::gh;
use onloop_documents::attestation::decided;
use onloop_effect::Io;
use onloop_engine::error::CommandError;
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
    target: &str,
    perhaps_there: bool,
) -> Result<String, CommandError> {
    let run = store.run();
    let ends = ["--base", target, "--head", &context.branch];
    if perhaps_there {
        let list = ["--state", "open", "--json", "url", "--jq", ".[0].url"];
        let args = [&["pr", "list"][..], &ends[..], &list[..]].concat();
        let found = gh(io, &context.home, &args, String::new()).await?;
        if let Some(url) = found.ok().as_deref().and_then(address) {
            return Ok(url);
        }
    }
    let title = body::title(run);
    let text = ["--title", &title, "--body-file", "-"];
    let args = [&["pr", "create"][..], &ends[..], &text[..]].concat();
    // Who decided is in the ledger alone; where it cannot be read now, that is left out.
    let ledger = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await;
    let decided = ledger.map(|(bytes, _)| decided(&bytes)).unwrap_or_default();
    let said = io.redacted(&body::body(run, &decided, store.head_sha256()));
    let said = text::prefix(&said, limits::PULL_REQUEST_BYTES).to_owned();
    match gh(io, &context.home, &args, said).await? {
        Ok(said) => match address(&said) {
            Some(url) => Ok(url),
            None => Err(unfinished(run, context, "gh named no address")),
        },
        Err(why) => Err(unfinished(run, context, &why)),
    }
}

/// The address that `gh` says at the end of what it says.
fn address(said: &str) -> Option<String> {
    let mut lines = said.lines().rev().map(str::trim);
    lines.find(|line| is_web_address(line)).map(str::to_owned)
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
