//! Review checkpoints: an agent reads the changes and gives a verdict.

use crate::agent::Reviewer;
use crate::effect::{Capture, Io, ProcessSpec, ProcessStatus};
use crate::engine::verify::private_names;
use crate::limits;
use crate::run::{Event, Run, Verdict, parse_verdict, review_prompt};
use crate::text;

/// Lets the review agent of the run look at it; `None`: the person interrupted. Whatever goes
/// wrong counts as no verdict, which holds the run up.
pub(crate) async fn perform(
    io: &Io,
    run: &Run,
    step: Option<u32>,
    timeout_ms: u64,
) -> Option<Event> {
    let base = io.git_head(&run.place.execution_root).await.ok().flatten();
    let name = run.terms.review_agent.as_deref().unwrap_or_default();
    let prompt = io.redacted(&review_prompt(run, step));
    let spec = ProcessSpec::new(Reviewer::recorded(name).command(&prompt))
        .in_folder(&run.place.execution_root)
        .without_env(private_names(io))
        .with_env([("ONLOOP_RUN_ID", &run.id)])
        .with_stdin(prompt)
        .timeout_ms(timeout_ms)
        .label("Review");
    let (verdict, findings) = match io.process(spec).await {
        Ok(end) => match end.status {
            ProcessStatus::Interrupted => return None,
            ProcessStatus::Exited(0) => (parse_verdict(&end.stdout.text()), end.stdout.text()),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
                (Verdict::Missing, failed(&end.stdout, &end.stderr))
            }
        },
        Err(failure) if failure.is_interrupted() => return None,
        Err(failure) => (Verdict::Missing, failure.message),
    };
    let findings = text::suffix(&findings, limits::PROMPT_OUTPUT_BYTES).to_owned();
    let base = base.or_else(|| run.reviews.base.clone());
    Some(Event::ReviewFinished { step, verdict, findings, base })
}

fn failed(stdout: &Capture, stderr: &Capture) -> String {
    format!("the review agent failed\n{}\n{}", stdout.text(), stderr.text())
}
