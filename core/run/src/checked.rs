//! The results of a step's checks, for the agent that fixes the failures.

use super::event::{CheckResult, CheckVerdict};
use super::record::StepRecord;
use onloop_syntax::text;
use onloop_workflow::{Assertion, Check, Expectation};

/// Bytes that are shown of a check.
const SHOWN_BYTES: usize = 300;

/// A line for each check of a step that was verified, with what was expected of the one that
/// failed and what was found; empty where nothing was verified. Each line is behind four spaces.
pub fn checked_lines(record: &StepRecord) -> String {
    let mut out = String::new();
    if record.results.is_empty() {
        return out;
    }
    for (index, check) in (0u32..).zip(&record.step.checks) {
        let result = record.results.iter().find(|result| result.check == index);
        let (symbol, found) = verdict(result);
        let shown = text::ellipsis(&text::one_line(&named(check)), SHOWN_BYTES);
        out += &format!("    {symbol} {shown}\n");
        if let Some(found) = found {
            let expected = expected(check);
            out += &format!("      expected {expected}; found: {}\n", text::one_line(&found));
        }
    }
    out
}

/// The symbol of a check, and what was found where that is not what was expected.
fn verdict(result: Option<&CheckResult>) -> (&'static str, Option<String>) {
    match result.map(|result| &result.verdict) {
        None => ("·", None),
        Some(CheckVerdict::Passed) => ("✓", None),
        Some(CheckVerdict::NeedsHuman { .. }) => ("?", None),
        Some(CheckVerdict::Failed { reason } | CheckVerdict::CannotEvaluate { reason }) => {
            ("✗", Some(reason.clone()))
        }
    }
}

fn named(check: &Check) -> String {
    match check {
        Check::Shell(shell) => shell.command.clone(),
        Check::Browser { url, check } => format!("page {url}: {check}"),
        Check::HumanReview { prompt } => format!("a person looks: {prompt}"),
        Check::Artifact { path, .. } => format!("file {path}"),
    }
}

fn expected(check: &Check) -> String {
    match check {
        Check::Shell(shell) => match shell.expect {
            Expectation::Pass => "exit code 0".to_owned(),
            Expectation::Fail => "that the code fails it".to_owned(),
        },
        Check::Browser { check, .. } => text::one_line(check),
        Check::HumanReview { .. } => "an approval".to_owned(),
        Check::Artifact { assertion, .. } => match assertion {
            Assertion::Exists => "that it exists".to_owned(),
            Assertion::Contains(text) => format!("the text {text:?}"),
            Assertion::MatchesGlob(glob) => format!("a file that matches `{glob}`"),
        },
    }
}
