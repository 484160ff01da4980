//! What a pull request says to its reviewer.

use crate::forge::is_web_address;
use onloop_documents::attestation::Decided;
use onloop_run::{CheckVerdict, Mode, Run, StepRecord, describe_check};
use onloop_syntax::limits;
use onloop_syntax::text;

/// The title: the intent.
pub(super) fn title(run: &Run) -> String {
    const TITLE_CHARS: usize = 120;
    text::ellipsis(&text::one_line(&run.settings.intent), TITLE_CHARS)
}

/// The text: what needs attention first, then what was done and how it was verified. `changes` is
/// what git says about changed lines.
pub(super) fn body(run: &Run, decided: &[Decided], changes: &str, ledger_head: &str) -> String {
    let mut out = format!("{}\n", plain(&run.settings.intent));
    out += &format!("\nDone when: {}\n", plain(&run.settings.success_criteria));
    if let Some(issue) = run.settings.options.issue.as_deref().filter(|url| is_web_address(url)) {
        out += &format!("\nCloses {issue}\n");
    }
    out += &attention(run);
    if let Some(review) = &run.reviews.last {
        let (verdict, findings) = (review.verdict.as_str(), capped(&review.findings));
        out += &format!("\n## Review: {verdict}\n\n{}", text::fenced("text", &findings));
    }
    if !changes.trim().is_empty() {
        out += &format!("\n## What changed\n\n{}", text::fenced("text", &capped(changes)));
    }
    out += "\n## What was done\n\n";
    for record in &run.steps {
        out += &step(run, record);
    }
    out += &repairs(run);
    out += "\n## Who approved\n\n";
    if decided.is_empty() {
        out += "No person was asked: no step has a gate.\n";
    }
    for Decided { step, decision, mode, by, at } in decided {
        let who = match (mode, by) {
            (Mode::Auto, _) => "the rules of the workflow".to_owned(),
            (Mode::Human, Some((user, channel))) => {
                let user = user.as_deref().unwrap_or("a person");
                format!("{} (by {channel})", plain(user))
            }
            (Mode::Human, None) => "a person".to_owned(),
        };
        out += &format!("- Step {step}: {} by {who}, {}\n", decision.as_str(), plain(at));
    }
    out += &format!("\n## Cost\n\n{}\n", cost(run));
    let id = &run.id;
    out += &format!(
        "\n## How to verify this\n\nRun `{id}`, ledger `{ledger_head}`. The person who ran it signs what was \
         verified with\n\n    onloop receipt {id} --format intoto --out {id}.dsse\n    onloop receipt \
         key > onloop.pub\n\nand you check that with\n\n    onloop receipt verify {id}.dsse \
         --key onloop.pub\n"
    );
    out
}

/// Warnings, and steps that nothing verified.
fn attention(run: &Run) -> String {
    let warnings = run.warning_lines(None).into_iter().map(|line| format!("⚠ {}", plain(&line)));
    let unchecked = run.steps.iter().filter(|record| !run.is_checked(record)).map(|record| {
        let (number, name) = (record.step.number, plain(&record.step.name));
        format!("○ Step {number}: {name}: no check, review or person verified it")
    });
    let lines: Vec<String> = warnings.chain(unchecked).collect();
    if lines.is_empty() {
        return String::new();
    }
    let shown: String =
        lines.iter().take(ATTENTION_LINES).map(|line| format!("- {line}\n")).collect();
    let more = match lines.len().saturating_sub(ATTENTION_LINES) {
        0 => String::new(),
        more => format!("- … and {more} more\n"),
    };
    format!("\n## Look at these first\n\n{shown}{more}")
}

/// What went back to the agent since the pull request was opened.
fn repairs(run: &Run) -> String {
    let repairs = run.pull_request.iter().flat_map(|tracked| &tracked.repairs);
    let lines: String = repairs.map(|repair| format!("- {}\n", plain(&repair.reason))).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\n## Repaired since it was opened\n\n{lines}"),
    }
}

/// Most lines that name what needs attention.
const ATTENTION_LINES: usize = 50;

fn capped(words: &str) -> String {
    text::printable(text::prefix(words, limits::PROMPT_OUTPUT_BYTES))
}

fn step(run: &Run, record: &StepRecord) -> String {
    let name = plain(&record.step.name);
    let attempts = text::counted(u64::from(record.attempts), "attempt");
    let mut out = format!("- **Step {}: {name}** ({attempts})\n", record.step.number);
    if record.step.checks.is_empty() {
        let by =
            if run.is_checked(record) { "no check; see who approved it" } else { "○ unchecked" };
        out += &format!("  - {by}\n");
    }
    for (index, check) in record.step.checks.iter().enumerate() {
        let result = record.results.iter().find(|result| result.check as usize == index);
        let verdict = match result.map(|result| &result.verdict) {
            Some(CheckVerdict::Passed) => "✓ passed",
            Some(CheckVerdict::Failed { .. }) => "✗ failed",
            Some(CheckVerdict::NeedsHuman { .. }) => "looked at by a person",
            Some(CheckVerdict::CannotEvaluate { .. }) => "✗ could not be evaluated",
            None => "not evaluated",
        };
        let remarked = result.is_some_and(|result| !result.warnings.is_empty());
        let mark = if remarked { " ⚠" } else { "" };
        let what = text::ellipsis(&text::one_line(&describe_check(check)), 200);
        let took = result.and_then(|result| result.measured).map(|m| m.duration_ms);
        let took = took.map_or_else(String::new, |ms| format!(" in {}", text::span(ms)));
        let at = result.and_then(|result| result.at);
        let at = at.map_or_else(String::new, |at| format!(", {}", at.to_rfc3339()));
        out += &format!("  - {verdict}{mark}{took}{at}: {}\n", code(&what));
    }
    out
}

fn cost(run: &Run) -> String {
    let attempts: u64 = run.steps.iter().map(|record| u64::from(record.attempts)).sum();
    let attempts = text::counted(attempts, "attempt");
    let minutes = text::counted(run.active_ms.div_ceil(60_000), "minute");
    let money = match (run.usage.agents, run.usage.cost.known()) {
        (0, _) => "no agent was counted".to_owned(),
        (_, Some(cost)) => format!("{cost} USD"),
        (_, None) => "cost not known".to_owned(),
    };
    let tokens = match (run.usage.agents, run.usage.tokens.known()) {
        (0, _) => String::new(),
        (_, Some(count)) => format!(", {}", text::tokens(count)),
        (_, None) => ", tokens not known".to_owned(),
    };
    format!("{attempts}, at most {minutes}, {money}{tokens}.")
}

/// One line without markup, mentions and links, wherever it stands.
fn plain(words: &str) -> String {
    let line = text::one_line(words);
    let line = line.trim().replace("://", ":\u{2060}//").replace("www.", "www\u{2060}.");
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let mut out = String::with_capacity(line.len());
    for (at, c) in line.chars().enumerate() {
        match c {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            // A name behind it would be called, an issue linked.
            '@' | '#' => {
                out.push(c);
                out.push('\u{2060}');
            }
            '`' | '[' | ']' | '*' | '_' | '\\' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // The line would be an item of a list, a quotation or an underline.
            '+' | '-' | '=' | '>' if at == 0 => {
                out.push('\\');
                out.push(c);
            }
            '.' | ')' if digits > 0 && at == digits => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn code(words: &str) -> String {
    format!("`{}`", words.replace('`', "'"))
}

#[cfg(test)]
mod tests;
