//! What a pull request says to its reviewer.

use onloop_documents::attestation::Decided;
use onloop_run::{CheckVerdict, Mode, Run, StepRecord, describe_check};
use onloop_syntax::text;

/// The title: the intent.
pub(super) fn title(run: &Run) -> String {
    const TITLE_CHARS: usize = 120;
    text::ellipsis(&text::one_line(&run.settings.intent), TITLE_CHARS)
}

/// The text: what needs attention first, then what was done and how it was verified.
pub(super) fn body(run: &Run, decided: &[Decided], ledger_head: &str) -> String {
    let mut out = format!("{}\n", plain(&run.settings.intent));
    if let Some(issue) = &run.settings.issue {
        out += &format!("\nCloses {}\n", text::one_line(issue));
    }
    let warnings = run.warning_lines(None);
    if !warnings.is_empty() {
        out += "\n## Look at these first\n\n";
        for warning in warnings {
            out += &format!("- ⚠ {}\n", plain(&warning));
        }
    }
    if let Some(review) = &run.reviews.last {
        let verdict = review.verdict.as_str();
        out += &format!("\n## Review: {verdict}\n\n{}", text::fenced("text", &review.findings));
    }
    out += "\n## What was done\n\n";
    for record in &run.steps {
        out += &step(run, record);
    }
    out += "\n## Who approved\n\n";
    if decided.is_empty() {
        out += "Nobody was asked: no step has a gate.\n";
    }
    for Decided { step, decision, mode, by, at } in decided {
        let who = match (mode, by) {
            (Mode::Auto, _) => "the rules of the workflow".to_owned(),
            (Mode::Human, Some((user, channel))) => {
                let user = user.as_deref().unwrap_or("somebody");
                format!("{} (by {channel})", plain(user))
            }
            (Mode::Human, None) => "a person".to_owned(),
        };
        out += &format!("- Step {step}: {} by {who}, {}\n", decision.as_str(), plain(at));
    }
    out += &format!("\n## Cost\n\n{}\n", cost(run));
    let id = &run.id;
    out += &format!(
        "\n## How to verify this\n\nRun `{id}`, ledger `{ledger_head}`. Whoever ran it signs what was \
         verified with\n\n    onloop receipt {id} --format intoto --out {id}.dsse\n    onloop receipt \
         key > onloop.pub\n\nand anybody can check that with\n\n    onloop receipt verify {id}.dsse \
         --key onloop.pub\n"
    );
    out
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
        out += &format!("  - {verdict}{mark}: {}\n", code(&what));
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

/// One line without markup, mentions and links.
fn plain(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in text::one_line(words).chars() {
        match c {
            '<' => out += "&lt;",
            // A name behind it would be called, an issue linked.
            '@' | '#' => {
                out.push(c);
                out.push('\u{2060}');
            }
            '`' | '[' | ']' | '*' | '_' | '\\' | '!' | '|' => {
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
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_line_is_markup() {
        let table = [
            ("a *b* [c](d)", "a \\*b\\* \\[c\\](d)"),
            ("<img src=x>", "&lt;img src=x>"),
            ("ask @team about #1", "ask @\u{2060}team about #\u{2060}1"),
            ("two\nlines", "two lines"),
        ];
        for (words, expected) in table {
            assert_eq!(plain(words), expected);
        }
        assert_eq!(code("a `b`"), "`a 'b'`");
    }
}
