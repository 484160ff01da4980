//! Reviews by an agent: when they are due, what is asked and how the answer is read.

use super::record::{Run, StepRecord};
use super::report::describe_check;
use super::verdict::Verdict;
use onloop_syntax::text;
use onloop_workflow::Risk;

/// Steps without a review after which the next human gate warrants one.
const STEPS_BETWEEN_REVIEWS: u32 = 5;

/// Whether the human gate of a finished step warrants a review first: the run or the step is
/// risky, the step needed several attempts, or much has happened since the last review.
pub fn review_due_at_gate(run: &Run, step: &StepRecord) -> bool {
    let reviewed = run.reviews.reviewed_step;
    run.settings.options.review_agent.is_some()
        && step.step.number > reviewed
        && (run.settings.risk == Risk::High
            || step.step.sensitive
            || step.attempts > 1
            || step.step.number - reviewed >= STEPS_BETWEEN_REVIEWS)
}

/// Reads a reviewer's answer. The last line `VERDICT: …` decides; a finding that starts with
/// `BLOCK` beats it; anything else is no verdict. Decoration around the line is tolerated,
/// other words are not: a verdict never comes from a sentence that mentions one.
pub fn parse_verdict(answer: &str) -> Verdict {
    let mut verdict = Verdict::Missing;
    let mut blocked = false;
    for line in answer.lines() {
        let line = line.trim_matches(|c: char| c.is_whitespace() || "*_`#->".contains(c));
        let upper = line.to_ascii_uppercase();
        if upper.starts_with("BLOCK:") || upper.starts_with("[BLOCK]") {
            blocked = true;
        }
        let Some(words) = upper.strip_prefix("VERDICT:") else {
            continue;
        };
        let words = words.trim_matches(|c: char| c.is_whitespace() || "*_`.".contains(c));
        verdict = match words {
            "READY" | "PROCEED" => Verdict::Ready,
            "READY WITH WARNINGS" | "PROCEED WITH WARNINGS" => Verdict::ReadyWithWarnings,
            "NOT READY" | "HOLD" | "BLOCK" => Verdict::Block,
            _ => Verdict::Missing,
        };
    }
    if blocked { Verdict::Block } else { verdict }
}

/// The commits between which everything lies that a review at the gate of `step` reads: what has not been
/// reviewed, or the whole run for the final review.
pub fn review_range(run: &Run, step: Option<u32>) -> (Option<&str>, Option<&str>) {
    let head = run.place.source_head.as_deref();
    let base = step.map_or(head, |_| run.reviews.base.as_deref());
    let begun = run.checkpoints.first().map(|checkpoint| checkpoint.commit.as_str());
    // What was uncommitted when the run began is not its work.
    let from = if base == head { begun.or(base) } else { base };
    (from, run.last_checkpoint().map(|checkpoint| checkpoint.commit.as_str()))
}

/// What a step was to do, and how it was verified.
fn reviewed_step(run: &Run, record: &StepRecord) -> String {
    const ACTION_BYTES: usize = 4096;
    let step = &record.step;
    let mut out = format!("\n### Step {}: {}\n\n", step.number, text::one_line(&step.name));
    out += &text::fenced("text", &text::printable(text::prefix(&step.action, ACTION_BYTES)));
    for check in &step.checks {
        let what = text::ellipsis(&text::one_line(&describe_check(check)), 500);
        out += &format!("- Check: {what}\n");
    }
    if step.checks.is_empty() {
        out += "- Nothing verifies it.\n";
    }
    for warning in run.warning_lines(Some(step.number)) {
        out += &format!("- Warning: {warning}\n");
    }
    out
}

/// What the reviewer is asked.
pub fn review_prompt(run: &Run, step: Option<u32>) -> String {
    let mut prompt = String::from("# Review\n\n");
    let first = if step.is_some() { run.reviews.reviewed_step + 1 } else { 1 };
    let last = step.unwrap_or(run.last_step());
    prompt += &match step {
        Some(step) => format!(
            "You review the work of steps {first} to {last} before a person decides the gate of \
             step {step}.\n"
        ),
        None => "You review the whole work before it counts as done.\n".to_owned(),
    };
    prompt += "Read only: change nothing.\n\n";
    prompt += &format!("Intent: {}\n", text::one_line(&run.settings.intent));
    prompt += &format!("Success criteria: {}\n", text::one_line(&run.settings.success_criteria));
    prompt += &match review_range(run, step) {
        (Some(from), Some(to)) => format!(
            "The changes are those from commit {from} to commit {to}, in which files that git does \
             not track are, too. They are in this repository: `git diff {from} {to}`.\n"
        ),
        (Some(from), None) => format!(
            "The changes are those since commit {from}, including uncommitted ones \
             (`git diff {from}`) and files that git does not track (`git status`).\n"
        ),
        (None, _) => String::new(),
    };
    prompt += "\n## Steps\n";
    for record in &run.steps {
        if (first..=last).contains(&record.step.number) {
            prompt += &reviewed_step(run, record);
        }
    }
    prompt += "\nLook for what is wrong, unsafe or missing with respect to the intent. Write one \
               finding a line, each starting with `BLOCK:`, `WARN:` or `NOTE:`, and say what you \
               did not check. End with exactly one line:\n\n\
               VERDICT: READY\nor\nVERDICT: READY WITH WARNINGS\nor\nVERDICT: NOT READY\n";
    prompt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_line_is_a_verdict() {
        let table = [
            ("VERDICT: READY", Verdict::Ready),
            ("notes\n**Verdict: ready with warnings**\n", Verdict::ReadyWithWarnings),
            ("VERDICT: PROCEED.", Verdict::Ready),
            ("VERDICT: HOLD", Verdict::Block),
            ("VERDICT: READY\nBLOCK: deletes the database", Verdict::Block),
            ("VERDICT: NOT READY\nVERDICT: READY", Verdict::Ready),
            ("It is READY, I think", Verdict::Missing),
            ("VERDICT: READY WHEN PIGS FLY", Verdict::Missing),
            ("I would not say VERDICT: READY here", Verdict::Missing),
            ("", Verdict::Missing),
        ];
        for (answer, expected) in table {
            assert_eq!(parse_verdict(answer), expected, "{answer}");
        }
    }
}
