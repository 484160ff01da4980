//! What the results of checks mean.

use crate::event::{CheckResult, CheckVerdict};
use onloop_workflow::Check;

/// What the results of a verification mean for the step.
pub(super) enum Judgement {
    Passed,
    Failed { reason: String, output: String },
    NeedsHuman { prompt: String },
    CannotEvaluate { reason: String },
}

/// Judges results against the checks they belong to; `None` when one is missing. A failed
/// check ends a verification, so what comes after it may be missing.
pub(super) fn judge(checks: &[Check], results: &[CheckResult]) -> Option<Judgement> {
    let mut prompts = Vec::new();
    let mut expected = 0u32;
    for result in results {
        let in_order = result.check >= expected && (result.check as usize) < checks.len();
        if !in_order {
            return None;
        }
        expected = result.check + 1;
        match &result.verdict {
            CheckVerdict::Passed => {}
            CheckVerdict::Failed { reason } => {
                let reason = match &checks[result.check as usize] {
                    Check::Artifact { .. } => reason.clone(),
                    Check::Shell(_) | Check::Browser { .. } | Check::HumanReview { .. } => {
                        format!("verify failed: {reason}")
                    }
                };
                let output = outputs(std::slice::from_ref(result));
                return Some(Judgement::Failed { reason, output });
            }
            CheckVerdict::CannotEvaluate { reason } => {
                return Some(Judgement::CannotEvaluate { reason: reason.clone() });
            }
            CheckVerdict::NeedsHuman { prompt } => prompts.push(prompt.as_str()),
        }
    }
    if results.len() != checks.len() {
        return None;
    }
    if results.iter().any(|r| matches!(r.verdict, CheckVerdict::NeedsHuman { .. })) {
        return Some(Judgement::NeedsHuman { prompt: prompts.join("; ") });
    }
    Some(Judgement::Passed)
}

/// What the checks wrote, as one text.
pub(super) fn outputs(results: &[CheckResult]) -> String {
    let mut out = String::new();
    for text in results.iter().flat_map(|r| [&r.stdout, &r.stderr]) {
        if text.is_empty() {
            continue;
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(text);
    }
    out
}
