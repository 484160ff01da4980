//! `onloop report`: what happened in a run, as Markdown or as a page.

use onloop_documents::attestation::{decided, subject};
use onloop_documents::page::{ReportEvidence, StepPatch, report_page};
use onloop_effect::{Durability, Exit, Expect, FailureKind, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::gate::{Change, Form};
use onloop_engine::state::store::Store;
use onloop_run::{Run, render_report};
use onloop_syntax::limits;

/// Arguments of `onloop report`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReportArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// One page for a browser, with timeline and changes, instead of Markdown
    #[arg(long)]
    pub html: bool,
    /// Write it to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
}

/// `onloop report`: rendered anew from the record.
pub(crate) async fn report(io: &Io, args: &ReportArgs) -> Result<Exit, CommandError> {
    show(io, args).await?;
    Ok(Exit::Done)
}

async fn show(io: &Io, args: &ReportArgs) -> Result<(), CommandError> {
    let store = open(io, args.run.as_deref(), Fitting::Latest).await?;
    let document = match args.html {
        true => report_page(store.run(), &evidence(io, &store).await),
        false => render_report(store.run()),
    };
    let Some(out) = &args.out else {
        io.result(document).await;
        return Ok(());
    };
    let document = io.redacted(&document).into_bytes();
    io.write(out, document, Expect::Any, Durability::Relaxed).await?;
    Ok(())
}

/// What the page shows beside the record. What cannot be read any more is left out of it.
async fn evidence(io: &Io, store: &Store) -> ReportEvidence {
    let run = store.run();
    let ledger = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await;
    let ledger = ledger.map(|(bytes, _)| bytes).unwrap_or_default();
    ReportEvidence {
        patches: patches(io, run).await,
        decisions: decided(&ledger),
        ledger: store.head_sha256().to_owned(),
        commit: subject(run).map(str::to_owned),
    }
}

/// What each step changed, if anything. Beyond [`limits::REPORT_PATCH_BYTES`] for all of them only how many lines
/// of which file.
async fn patches(io: &Io, run: &Run) -> Vec<StepPatch> {
    let (mut patches, mut room) = (Vec::new(), limits::REPORT_PATCH_BYTES);
    for record in run.steps.iter().filter(|record| record.attempts > 0) {
        let step = record.step.number;
        let Some(ends) = run.checkpoints_around(Some(&step.to_string())) else { continue };
        let Ok(Some(change)) = Change::between(io, run, ends).await else { continue };
        let Ok(stat) = change.show(io, Form::Stat).await else { continue };
        let patch = match change.show(io, Form::Patch).await {
            Ok(patch) if patch.len() <= room => {
                room -= patch.len();
                Some(patch)
            }
            Ok(_) => None,
            Err(failure) if failure.kind == FailureKind::TooLarge => None,
            Err(_) => continue,
        };
        patches.push(StepPatch { step, stat, patch });
    }
    patches
}
