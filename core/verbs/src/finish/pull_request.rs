//! Pull requests, with the program `gh`.

use super::body;
use super::context::FinishContext;
use super::plan::is_web_address;
use onloop_documents::attestation::decided;
use onloop_effect::{Io, ProcessEnd, ProcessSpec, ProcessStatus};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_engine::run::checks::private_names;
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
        let found = address(&gh(io, run, context, &args, String::new()).await?);
        if let Some(url) = found {
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
    let end =
        gh(io, run, context, &args, text::prefix(&said, limits::PULL_REQUEST_BYTES).to_owned())
            .await?;
    if let (ProcessStatus::Exited(0), url) = (end.status, address(&end)) {
        return url.map_or_else(|| Err(unfinished(run, context, "gh named no address")), Ok);
    }
    let said = [end.stderr.text(), end.stdout.text()].join("\n");
    let said = match (said.trim(), end.status) {
        ("", ProcessStatus::Exited(code)) => format!("exit code {code}"),
        ("", ProcessStatus::TimedOut) => "it took too long".to_owned(),
        ("", ProcessStatus::Signalled(_) | ProcessStatus::Interrupted) => {
            "it was killed".to_owned()
        }
        (said, _) => text::ellipsis(said, 2000),
    };
    Err(unfinished(run, context, &said))
}

async fn gh(
    io: &Io,
    run: &Run,
    context: &FinishContext,
    args: &[&str],
    input: String,
) -> Result<ProcessEnd, CommandError> {
    let spec = ProcessSpec::argv(std::iter::once("gh").chain(args.iter().copied()))
        .in_folder(&context.home)
        .without_env(private_names(io))
        .with_env([("GH_PROMPT_DISABLED", "1")])
        .with_stdin(input)
        .label("gh");
    match io.process(spec).await {
        Ok(ProcessEnd { status: ProcessStatus::Interrupted, .. }) => {
            Err(CommandError::new(ErrorKind::Interrupted, "gh was interrupted"))
        }
        Ok(end) => Ok(end),
        Err(failure) if failure.is_not_found() => {
            Err(unfinished(run, context, "the program `gh` is not installed"))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// The address that `gh` says at the end of what it says.
fn address(end: &ProcessEnd) -> Option<String> {
    let said = end.stdout.text();
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
