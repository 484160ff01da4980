//! The report: a rendering of the record for people, never edited in place.

use super::event::{CheckResult, CheckVerdict, LogEntry, Mode};
use super::finish::Finish;
use super::record::*;
use super::sandboxes::sandbox_line;
use super::simulated::after_steps;
use super::summary::{symbol_and_word, table_cell, usage_line};
use super::wait::TurnEnding;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::tokens::Tokens;
use onloop_workflow::Check;

/// The whole report as Markdown.
pub fn render_report(run: &Run) -> String {
    let mut out = String::with_capacity(1024 + run.steps.len() * 96 + run.events.len() * 64);
    render_head(run, &mut out);
    render_steps(run, &mut out);
    out += "\n## Event Log\n\n";
    let mut day = String::new();
    for entry in &run.events {
        render_event(run, entry, &mut day, &mut out);
    }
    render_usage(run, &mut out);
    if run.completed_at.is_some() {
        render_final_summary(run, &mut out);
        render_verification_notes(run, &mut out);
    }
    if let Some(finish) = &run.finish {
        render_finish(finish, &mut out);
    }
    out
}

fn render_head(run: &Run, out: &mut String) {
    let place = &run.place;
    let mut line = |label: &str, value: &str| {
        if !value.is_empty() {
            head_line(label, &text::one_line(value), out);
        }
    };
    let basename = place.workflow_path.rsplit(['/', '\\']).next().unwrap_or_default();
    line("Workflow", basename);
    line("Source Workflow", place.source_workflow_path.as_deref().unwrap_or_default());
    line("Source Branch", place.source_branch.as_deref().unwrap_or_default());
    line("Source HEAD", place.source_head.as_deref().unwrap_or_default());
    line("Intent", &run.settings.intent);
    line("Branch", place.branch.as_deref().unwrap_or_default());
    line("Executor", &place.executor_mode);
    line("Execution Root", &place.execution_root);
    line("Worktree", place.worktree_path.as_deref().unwrap_or_default());
    line("Started", &run.started_at.to_rfc3339());
    line("Updated", &run.last_update.to_rfc3339());
    line("Status", run.status.as_str());
    out.insert_str(0, &format!("# Execution Report: {}\n\n", run.id));
    out.push('\n');
}

fn render_steps(run: &Run, out: &mut String) {
    *out += "| Step | Name | Status | Iterations |\n|------|------|--------|------------|\n";
    for record in &run.steps {
        let (symbol, word) = symbol_and_word(run, record);
        let iterations = match (&record.status, record.gate) {
            (StepStatus::Pending | StepStatus::Blocked(_), _) | (_, Some(_)) => "-".to_owned(),
            (StepStatus::InProgress(_) | StepStatus::Done | StepStatus::Failed { .. }, None) => {
                record.attempts.to_string()
            }
        };
        let (number, name) = (record.step.number, table_cell(&record.step.name));
        let after =
            after_steps(run, record).map_or_else(String::new, |after| format!(" ({after})"));
        *out += &format!("| {number:>2}   | {name}{after} | {symbol} {word} | {iterations} |\n");
    }
}

fn render_event(run: &Run, entry: &LogEntry, day: &mut String, out: &mut String) {
    // Runs can last for days; a line with only a clock time would be ambiguous then.
    let date = entry.at.to_date();
    if *day != date {
        if !day.is_empty() || date != run.started_at.to_date() {
            *out += &format!("**{date}**\n\n");
        }
        *day = date;
    }
    *out += &format!("**[{}]** {}\n\n", entry.at.to_clock(), escape(&entry.text));
    if !entry.detail.is_empty() {
        *out += &text::fenced("text", &text::printable(&entry.detail));
        out.push('\n');
    }
}

/// Keeps text from a file out of Markdown's own structure.
fn escape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if matches!(c, '<' | '`' | '[' | '*' | '_' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The known usage of each turn of an agent.
fn render_usage(run: &Run, out: &mut String) {
    if run.turns.is_empty() {
        return;
    }
    *out += "## Usage\n\n\
             | Step | Attempt | Agent | Model | Input | Cached | Output | USD | Denied | Ended |\n\
             |------|---------|-------|-------|-------|--------|--------|-----|--------|-------|\n";
    for turn in &run.turns {
        let model = turn.model.as_deref().map_or_else(|| "-".to_owned(), table_cell);
        *out += &format!(
            "| {} | {} | {} | {model} | {} | {} | {} | {} |\n",
            turn.step,
            turn.attempt,
            table_cell(&turn.agent),
            amounts(turn.tokens),
            price(turn.cost, turn.prices_as_of.as_deref()),
            turn.denied,
            turn.ending.map_or("-", TurnEnding::as_str)
        );
    }
    let tokens = run.turns.iter().try_fold(Tokens::default(), |sum, t| Some(sum.plus(t.tokens?)));
    let day = run.turns.iter().filter_map(|turn| turn.prices_as_of.as_deref()).min();
    *out += &format!(
        "| all | | | | {} | {} | | |\n\n",
        amounts(tokens),
        price(run.usage.cost.known(), day)
    );
}

fn amounts(tokens: Option<Tokens>) -> String {
    match tokens {
        Some(tokens) => {
            format!("{} | {} | {}", tokens.input, tokens.cached_input, tokens.output)
        }
        None => "? | ? | ?".to_owned(),
    }
}

fn price(cost: Option<Money>, as_of: Option<&str>) -> String {
    match (cost, as_of) {
        (Some(cost), None) => cost.to_string(),
        (Some(cost), Some(day)) => format!("{cost} (estimated, prices of {day})"),
        (None, _) => "?".to_owned(),
    }
}

fn render_final_summary(run: &Run, out: &mut String) {
    *out += "## Final Summary\n\n";
    head_line("Status", run.status.as_str(), out);
    let unchecked = run.unchecked_line().map(|line| format!(", {line}")).unwrap_or_default();
    let done = format!("{} of {} done{unchecked}", run.settled_steps(), run.steps.len());
    head_line("Steps", &done, out);
    let attempts: u64 = run.steps.iter().map(|s| u64::from(s.attempts)).sum();
    head_line("Attempts", &attempts.to_string(), out);
    let end = run.completed_at.unwrap_or(run.last_update);
    let seconds = end.millis_since(run.started_at) / 1000;
    head_line("Duration", &text::duration(seconds), out);
    if let Some(used) = usage_line(run) {
        head_line("Used by agents", &used, out);
    }
    if let Some(review) = &run.reviews.last {
        head_line("Review", review.verdict.as_str(), out);
    }
    if let Some(line) = sandbox_line(&run.sandboxes) {
        *out += &format!("**Confined:** {}\n", escape(&line));
    }
    out.push('\n');
}

/// What was verified and how, and what was not.
fn render_verification_notes(run: &Run, out: &mut String) {
    *out += "## Verification Notes\n\n";
    for record in &run.steps {
        let number = record.step.number;
        if record.step.checks.is_empty() {
            let by = match record.gate {
                Some(gate) if gate.mode == Mode::Human => "no check; a person decided",
                _ if run.is_checked(record) => "no check; a review verified it",
                _ => "unchecked",
            };
            *out += &format!("- Step {number}: {by}\n");
        }
        for (index, check) in record.step.checks.iter().enumerate() {
            let result = record.results.iter().find(|r| r.check as usize == index);
            let verdict = match result.map(|r| &r.verdict) {
                Some(CheckVerdict::Passed) => "passed",
                Some(CheckVerdict::Failed { .. }) => "failed",
                Some(CheckVerdict::NeedsHuman { .. }) => "waits for a person",
                Some(CheckVerdict::CannotEvaluate { .. }) => "could not be evaluated",
                None => "not evaluated",
            };
            let what = escape(&text::ellipsis(&text::one_line(&describe_check(check)), 200));
            *out += &format!("- Step {number}: {what}: {verdict}\n");
            for warning in result.iter().flat_map(|result| &result.warnings) {
                *out += &format!("  - ⚠ {}\n", escape(&text::one_line(&warning.to_string())));
            }
            if let Some(opened) = result.and_then(CheckResult::opened_line) {
                *out += &format!("  - {}\n", escape(&opened));
            }
        }
    }
    *out += observation_note(run);
    let repeated = match (run.settings.options.reverify, run.reverified) {
        (_, true) if run.verified_clean => {
            "- All machine checks were repeated on a clean checkout after the last step and hold.\n"
        }
        (true, true) => "- All machine checks were repeated after the last step and still hold.\n",
        (true, false) => "- The machine checks were not confirmed after the last step.\n",
        (false, _) => "- The machine checks were not repeated after the last step, as asked.\n",
    };
    *out += repeated;
}

/// Whether the files that checks opened are known; empty without a command that passed.
fn observation_note(run: &Run) -> &'static str {
    let of_commands = |record: &StepRecord| {
        let is_command = |result: &&CheckResult| {
            let check = record.step.checks.get(result.check as usize);
            matches!(check, Some(Check::Shell(_))) && result.verdict == CheckVerdict::Passed
        };
        record.results.iter().filter(is_command).map(|r| r.inputs.is_some()).collect::<Vec<_>>()
    };
    let observed: Vec<bool> = run.steps.iter().flat_map(of_commands).collect();
    match (observed.is_empty(), observed.iter().all(|observed| *observed)) {
        (true, _) => "",
        (false, true) => "- onloop observed which files the checks opened.\n",
        (false, false) => {
            "- onloop did not observe which files every check opened, and looked for changed files by \
             name.\n"
        }
    }
}

/// What became of the work; only what is known is listed.
fn render_finish(finish: &Finish, out: &mut String) {
    let outcome = &finish.outcome;
    let recorded = finish.recorded_at.to_rfc3339();
    let lines = [
        ("Disposition", Some(outcome.disposition.as_str())),
        ("Recorded", Some(recorded.as_str())),
        ("Target Branch", outcome.target_branch.as_deref()),
        ("Remote", outcome.remote.as_deref()),
        ("PR URL", outcome.pr_url.as_deref()),
        ("Branch Action", outcome.branch_action.as_deref()),
        ("Worktree Action", outcome.worktree_action.as_deref()),
        ("Artifacts Preserved At", outcome.artifacts_preserved_at.as_deref()),
        ("Notes", outcome.notes.as_deref()),
    ];
    *out += "\n## Finish Outcome\n\n";
    for (label, value) in lines {
        if let Some(value) = value {
            head_line(label, &text::one_line(value), out);
        }
    }
}

/// A line of its own wherever the report is shown: without the blanks Markdown joins it to the next.
fn head_line(label: &str, value: &str, out: &mut String) {
    *out += &format!("**{label}:** {value}  \n");
}

/// A check in a few words of the plan.
pub fn describe_check(check: &Check) -> String {
    match check {
        Check::Shell(shell) => format!("command {}", shell.command),
        Check::Browser { url, check } => format!("page {url}, {check}"),
        Check::HumanReview { prompt } if prompt.is_empty() => "human review".to_owned(),
        Check::HumanReview { prompt } => format!("human review, {prompt}"),
        Check::Artifact { path, .. } => format!("artifact {path}"),
    }
}
