//! Review checkpoints: an agent reads the changes and gives a verdict.

use crate::error::CommandError;
use crate::run::change::{change, not_now};
use crate::run::checks::{CheckOptions, private_names};
use crate::run::processes::{Work, WorkError, own_needs, run_recorded};
use crate::state::store::{Store, StoreError};
use onloop_agents::Reviewer;
use onloop_effect::{Io, ProcessEnd, ProcessSpec, ProcessStatus};
use onloop_run::{Event, Run, Verdict, Worker, parse_verdict, review_prompt, review_range};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Lets the review agent of the run look at it; `None`: the person interrupted. A failure
/// blocks the run as well.
///
/// # Errors
///
/// When it cannot be recorded which processes review; they have been ended.
pub(crate) async fn perform(
    io: &Io,
    store: &mut Store,
    checks: &CheckOptions,
    timeout_ms: u64,
    step: Option<u32>,
) -> Result<Option<Event>, StoreError> {
    let sandbox = &checks.sandbox;
    let run = store.run();
    let name = run.settings.options.review_agent.clone().unwrap_or_default();
    let prompt = review_prompt(run, step);
    let spec = ProcessSpec::new(Reviewer::recorded(&name).command(&prompt))
        .in_folder(&run.place.execution_root)
        .without_env(private_names(io))
        .with_env([("ONLOOP_RUN_ID", &run.id)])
        .with_stdin(prompt)
        .timeout_ms(timeout_ms)
        .label("Review");
    // Where nothing is kept, the commit at HEAD is what is known.
    let base = match review_range(run, step) {
        (_, Some(reviewed)) => Some(reviewed.to_owned()),
        (_, None) => io.git_head(&run.place.execution_root).await.ok().flatten(),
    };
    let base = base.or_else(|| run.reviews.base.clone());
    let after = step.unwrap_or(run.last_step());
    let work = Work::new(Worker::Review, after, sandbox);
    let root = &run.place.execution_root;
    let work = Work { needs: own_needs(io, sandbox, &name, root).await, ..work };
    let failed = |end: &ProcessEnd, why: String| {
        let (stdout, stderr) = (end.stdout.text(), end.stderr.text());
        let what = format!("the reviewer `{name}` failed: {why}\n{stdout}\n{stderr}");
        (Verdict::Failed, what)
    };
    let (verdict, findings) = match run_recorded(io, store, work, spec).await {
        Ok(end) => match end.status {
            ProcessStatus::Interrupted => return Ok(None),
            ProcessStatus::Exited(0) => (parse_verdict(&end.stdout.text()), end.stdout.text()),
            ProcessStatus::Exited(code) => failed(&end, format!("exit code {code}")),
            ProcessStatus::Signalled(signal) => failed(&end, format!("signal {signal}")),
            ProcessStatus::TimedOut => {
                failed(&end, format!("it took longer than {}", text::span(timeout_ms)))
            }
        },
        Err(WorkError::Process(failure)) if failure.is_interrupted() => return Ok(None),
        Err(WorkError::Process(failure)) => {
            let what = format!("the reviewer `{name}` could not be started: {}", failure.message);
            (Verdict::Failed, what)
        }
        Err(WorkError::Record(error)) => return Err(error),
    };
    let findings = text::suffix(&findings, limits::PROMPT_OUTPUT_BYTES).to_owned();
    Ok(Some(Event::ReviewFinished { step, verdict, findings, base }))
}

/// The verdict of the last review and its findings, for people; `None`: it had nothing to say.
pub(crate) fn findings(run: &Run) -> Option<String> {
    let last = run.reviews.last.as_ref().filter(|last| last.verdict != Verdict::Ready)?;
    let findings = text::quoted_end(&last.findings, limits::FAILURE_LINES, "in the report");
    Some(format!("Review: {}\n{findings}", last.verdict.as_str()).trim_end().to_owned())
}

/// Lets the review agent of the run look at it, and says what it found. Findings of a verdict "not
/// ready" go back to the agent that drives the run.
///
/// # Errors
///
/// The review does not pass.
pub async fn review_driven(
    io: &Io,
    store: &mut Store,
    step: Option<u32>,
) -> Result<(), CommandError> {
    let checks = CheckOptions::step_by_step(io, store.run()).await?;
    let reviewed = perform(io, store, &checks, limits::AGENT_TIMEOUT_MS, step).await;
    checks.end(io).await;
    let event = reviewed?.ok_or_else(CommandError::interrupted)?;
    change(io, store, event).await?;
    let found = findings(store.run());
    if let Some(findings) = &found {
        io.note(findings).await;
    }
    if store.run().reviews.blocking.is_none() {
        return Ok(());
    }
    if let Some(step) = store.run().returnable_findings() {
        change(io, store, Event::FindingsReturned { step }).await?;
    }
    Err(not_now(store.run(), CommandError::failed("the review has not passed")))
}
