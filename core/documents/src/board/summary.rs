//! What was wanted of a run, what came of it, and what proves it.

use serde::Serialize;

use super::{ReviewView, line};
use crate::attestation::{Decided, decided, subject};
use crate::ledger::Ledger;
use onloop_run::CheckVerdict;
use onloop_syntax::limits;
use onloop_syntax::text;

/// A run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryView {
    /// When it is done, in Markdown.
    pub success_criteria: String,
    /// What a person should look at first.
    pub warnings: Vec<String>,
    /// The last review.
    pub review: Option<ReviewView>,
    /// Checks of all steps.
    pub checks: usize,
    /// How many of them passed.
    pub passed: usize,
    /// Its steps.
    pub steps: Vec<StepSummary>,
    /// What a signed receipt is about: names and values.
    pub receipt: Vec<(&'static str, String)>,
}

/// What was wanted of a step, and who let it pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepSummary {
    /// What its agent is told, in Markdown.
    pub action: String,
    /// The decisions at its gate, with who made them, how and when.
    pub decisions: Vec<String>,
}

/// The summary of a run; `ledger` are the bytes that `read` was read from.
pub fn summary(read: &Ledger, ledger: &[u8]) -> SummaryView {
    let run = &read.run;
    let bounded =
        |words: &str| text::ellipsis(text::printable(words).trim(), limits::BOARD_TEXT_BYTES);
    let decisions = decided(ledger);
    let of_step = |step: u32| decisions.iter().filter(move |decided| decided.step == step);
    let steps = run.steps.iter().map(|record| StepSummary {
        action: bounded(&record.step.action),
        decisions: of_step(record.step.number).map(decision).collect(),
    });
    let mut warnings: Vec<String> = run.warning_lines(None).iter().map(|w| line(w)).collect();
    warnings.extend(run.unchecked_line());
    let results = run.steps.iter().flat_map(|record| &record.results);
    let commit = subject(run).unwrap_or("none");
    SummaryView {
        success_criteria: bounded(&run.settings.success_criteria),
        warnings,
        review: run.reviews.last.as_ref().map(|last| ReviewView {
            verdict: last.verdict.as_str(),
            findings: bounded(&last.findings),
        }),
        checks: run.steps.iter().map(|record| record.step.checks.len()).sum(),
        passed: results.filter(|result| result.verdict == CheckVerdict::Passed).count(),
        steps: steps.collect(),
        receipt: vec![
            ("Verified commit", commit.to_owned()),
            ("Workflow, SHA-256", run.settings.plan_digest.clone()),
            ("Ledger, SHA-256", read.head.sha256.clone()),
        ],
    }
}

fn decision(decided: &Decided) -> String {
    let who = match &decided.by {
        Some((Some(user), channel)) => format!(" by {user}, {channel}"),
        Some((None, channel)) => format!(" by a person, {channel}"),
        None => " by the rules".to_owned(),
    };
    line(&format!("Gate: {}{who}, {}", decided.decision.as_str(), decided.at))
}
