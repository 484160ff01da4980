//! What a verb says about one step.

use onloop_documents::summary::step_summary;
use onloop_effect::Io;
use onloop_run::Run;

/// Says what was done to a step: with `line`, or with how it and its run stand now, as JSON.
pub async fn say_step(io: &Io, run: &Run, step: u32, line: &str, as_json: bool) {
    let document = step_summary(run, step).filter(|_| as_json);
    let said = document.and_then(|document| serde_json::to_string_pretty(&document).ok());
    io.result(said.unwrap_or_else(|| line.to_owned()) + "\n").await;
}
