//! A run as a page: what was to be done, what came of it, and what proves it.

use super::checks::check_list;
use super::graph;
use super::html::{class_of, escaped, mark, page};
use super::markdown::rendered;
use super::patch::coloured;
use super::timeline::{KEY, drawn};
use crate::attestation::Decided;
use crate::board::{self, CheckView, check_view};
use onloop_run::{
    ChangedWork, CheckVerdict, Facts, Run, StepRecord, TurnRecord, Verdict, symbol_and_word,
};
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::text;

/// What a report shows beside the record itself.
#[derive(Clone, Debug, Default)]
pub struct ReportEvidence {
    /// What each step changed, as far as it was kept.
    pub patches: Vec<StepPatch>,
    /// Who decided at gates, in the order of the ledger.
    pub decisions: Vec<Decided>,
    /// The SHA-256, hexadecimal, of the last line of the ledger.
    pub ledger: String,
    /// The commit that holds what was verified.
    pub commit: Option<String>,
}

/// What a step changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPatch {
    /// Number of the step, from 1.
    pub step: u32,
    /// How many lines of which file, as git says it.
    pub stat: String,
    /// The lines; `None`: they are too many to show.
    pub patch: Option<String>,
}

/// The report of `run` as one HTML document, which needs nothing else.
pub fn report_page(run: &Run, evidence: &ReportEvidence) -> String {
    let mut body = String::new();
    head(run, &mut body);
    glance(run, &mut body);
    warnings(run, &mut body);
    let timeline = drawn(run);
    if !timeline.is_empty() {
        body += &format!("<h2>Timeline</h2>\n<div class=\"timeline\">\n{timeline}</div>\n{KEY}");
    }
    body += "<h2>Steps</h2>\n";
    if let Some(graph) = board::graph(run) {
        body += &graph::drawn(&graph);
    }
    let mut room = limits::REPORT_PATCH_BYTES;
    for record in &run.steps {
        step(run, record, evidence, &mut room, &mut body);
    }
    usage(&run.turns, &mut body);
    events(run, &mut body);
    receipt(run, evidence, &mut body);
    page(&format!("{} – onloop report", run.id), &body)
}

fn head(run: &Run, out: &mut String) {
    let settings = &run.settings;
    *out += &format!(
        "<p class=\"faint\">onloop report · {}</p>\n<h1>{}</h1>\n",
        escaped(&run.id),
        escaped(&text::one_line(&settings.intent))
    );
    *out +=
        &format!("<p><strong>Done when:</strong></p>\n{}", rendered(&settings.success_criteria));
    let place = &run.place;
    let workflow = place.source_workflow_path.as_ref().unwrap_or(&place.workflow_path);
    let facts = [
        ("Risk", Some(settings.risk.as_str().to_owned())),
        ("Workflow", Some(workflow.clone())),
        ("Branch", place.branch.clone()),
        ("Works in", Some(place.execution_root.clone())),
        ("Started", Some(run.started_at.to_rfc3339())),
        ("Ended", run.completed_at.map(|at| at.to_rfc3339())),
    ];
    *out += "<dl class=\"facts\">\n";
    for (label, value) in facts {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            *out += &format!("<dt>{label}</dt><dd>{}</dd>\n", escaped(&text::one_line(&value)));
        }
    }
    *out += "</dl>\n";
}

fn glance(run: &Run, out: &mut String) {
    let done = run.settled_steps();
    let checks: usize = run.steps.iter().map(|record| record.step.checks.len()).sum();
    let results = run.steps.iter().flat_map(|record| &record.results);
    let passed = results.filter(|result| result.verdict == CheckVerdict::Passed).count();
    let attempts: u64 = run.steps.iter().map(|record| u64::from(record.attempts)).sum();
    let end = run.completed_at.unwrap_or(run.last_update);
    let tokens = run.usage.tokens.known().map_or("not known".to_owned(), |count| count.to_string());
    let cost = run.usage.cost.known().map_or("not known".to_owned(), |cost| format!("${cost}"));
    let denied = run.turns.iter().fold(0u64, |sum, turn| sum.saturating_add(turn.denied));
    let unchecked = run.unchecked_line().map(|line| format!(", {line}")).unwrap_or_default();
    let mut facts = vec![
        ("Status", run.status.as_str().to_owned()),
        ("Steps done", format!("{done} of {}{unchecked}", run.steps.len())),
        ("Checks passed", format!("{passed} of {checks}")),
        ("Attempts", attempts.to_string()),
        ("Worked for", text::span(run.active_ms)),
        ("From start to end", text::span(end.millis_since(run.started_at))),
    ];
    if run.usage.agents > 0 {
        facts.extend([("Tokens", tokens), ("Cost", cost), ("Calls refused", denied.to_string())]);
    }
    *out += "<dl class=\"glance\">\n";
    for (label, value) in facts {
        *out += &format!("<div><dt>{label}</dt><dd>{}</dd></div>\n", escaped(&value));
    }
    *out += "</dl>\n";
}

/// What a person should look at first.
fn warnings(run: &Run, out: &mut String) {
    let unchecked = run.unchecked_line();
    let review = run.reviews.last.as_ref().filter(|last| last.verdict != Verdict::Ready);
    let mut lines = run.warning_lines(None);
    lines.extend(unchecked);
    lines.extend(review.map(|review| format!("Review: {}", review.verdict.as_str())));
    if lines.is_empty() {
        return;
    }
    *out += "<h2>Look at this</h2>\n<ul>\n";
    for line in lines {
        *out += &format!("<li class=\"wait\">⚠ {}</li>\n", escaped(&line));
    }
    *out += "</ul>\n";
    if let Some(review) = review {
        *out += &format!("<pre>{}</pre>\n", escaped(&text::printable(&review.findings)));
    }
}

fn step(
    run: &Run,
    record: &StepRecord,
    evidence: &ReportEvidence,
    room: &mut usize,
    out: &mut String,
) {
    let number = record.step.number;
    let Some(facts) = run.facts(number, ChangedWork::Unkept, run.last_update) else { return };
    let checks: Vec<CheckView> = facts.checks.iter().map(check_view).collect();
    let Facts { name, action, .. } = facts;
    let (symbol, word) = symbol_and_word(run, record);
    *out += &format!(
        "<article id=\"step-{number}\">\n<header><h3>{number}. {}</h3>\
         <span class=\"status {}\">{} {}</span></header>\n{}",
        escaped(&name),
        class_of(symbol),
        mark(symbol),
        escaped(word),
        rendered(&action)
    );
    if let Some(fork) = record.fork_line() {
        *out += &format!("<p class=\"faint\">{}</p>\n", escaped(&fork));
    }
    *out += &check_list(&checks);
    if record.attempts > 0 {
        let limit = record.attempt_of_limit();
        *out += &format!("<p class=\"faint\">Attempt {}", escaped(&limit));
        let used = step_usage(run, number);
        *out += &used.map_or_else(String::new, |used| format!(" · {}", escaped(&used)));
        *out += "</p>\n";
    }
    for decided in evidence.decisions.iter().filter(|decided| decided.step == number) {
        *out += &format!("<p>{}</p>\n", escaped(&decision(decided)));
    }
    if let Some(failure) = record.last_failure.as_ref().filter(|_| class_of(symbol) == "bad") {
        *out += &format!("<p class=\"bad\">{}</p>\n", escaped(&failure.reason));
        if !failure.output.is_empty() {
            *out += &format!("<pre>{}</pre>\n", escaped(&failure.output));
        }
    }
    if let Some(patch) = evidence.patches.iter().find(|patch| patch.step == number) {
        changes(run, patch, room, out);
    }
    *out += "</article>\n";
}

/// What the agents of a step used; `None` where none said anything.
fn step_usage(run: &Run, step: u32) -> Option<String> {
    let turns = || run.turns.iter().filter(|turn| turn.step == step);
    let tokens: Option<u64> =
        turns().map(|turn| turn.tokens.map(|tokens| tokens.total())).sum::<Option<u64>>();
    let tokens = tokens.filter(|tokens| *tokens > 0)?;
    let cost = turns().try_fold(Money::default(), |sum, turn| Some(sum.saturating_add(turn.cost?)));
    let cost = cost.map_or_else(String::new, |cost| format!(", ${cost}"));
    Some(format!("{}{cost}", text::counted(tokens, "token")))
}

fn decision(decided: &Decided) -> String {
    let who = match &decided.by {
        Some((Some(user), channel)) => format!(" by {user}, {channel}"),
        Some((None, channel)) => format!(" by a person, {channel}"),
        None => " by the rules".to_owned(),
    };
    format!("Gate: {}{who}, {}", decided.decision.as_str(), decided.at)
}

/// The lines of a change, folded; beyond `room` bytes of HTML only how many of which file.
fn changes(run: &Run, patch: &StepPatch, room: &mut usize, out: &mut String) {
    let last = patch.stat.trim_end().lines().next_back().unwrap_or_default().trim();
    let lines = patch.patch.as_deref().map(coloured).filter(|lines| lines.len() <= *room);
    *out += &format!("<details><summary>{}</summary>\n", escaped(last));
    match lines {
        Some(lines) => {
            *room -= lines.len();
            *out += &format!("<pre>{lines}</pre>\n");
        }
        None => {
            *out += &format!(
                "<pre>{}</pre>\n<p class=\"faint\">Too long to show here: <code>onloop diff {} \
                 {}</code></p>\n",
                escaped(&patch.stat),
                escaped(&run.id),
                patch.step
            );
        }
    }
    *out += "</details>\n";
}

fn usage(turns: &[TurnRecord], out: &mut String) {
    if turns.is_empty() {
        return;
    }
    *out += "<h2>Agents</h2>\n<table>\n<thead><tr><th>Step</th><th>Attempt</th><th>Agent</th>\
             <th>Model</th><th class=\"number\">Tokens</th><th class=\"number\">USD</th>\
             <th class=\"number\">Refused</th></tr></thead>\n<tbody>\n";
    for turn in turns {
        let tokens = turn.tokens.map_or("?".to_owned(), |tokens| tokens.total().to_string());
        let cost = turn.cost.map_or("?".to_owned(), |cost| cost.to_string());
        let estimated = turn.prices_as_of.as_ref().map(|day| format!(" (prices of {day})"));
        *out += &format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{tokens}</td>\
             <td class=\"number\">{cost}{}</td><td class=\"number\">{}</td></tr>\n",
            turn.step,
            turn.attempt,
            escaped(&turn.agent),
            escaped(turn.model.as_deref().unwrap_or("?")),
            escaped(&estimated.unwrap_or_default()),
            turn.denied
        );
    }
    *out += "</tbody>\n</table>\n";
}

fn events(run: &Run, out: &mut String) {
    let count = text::counted(run.events.len() as u64, "event");
    *out +=
        &format!("<h2>What happened</h2>\n<details><summary>{count}</summary>\n<table>\n<tbody>\n");
    for entry in &run.events {
        *out += &format!(
            "<tr><td class=\"faint\">{}</td><td>{}</td></tr>\n",
            entry.at.to_rfc3339(),
            escaped(&entry.text)
        );
    }
    *out += "</tbody>\n</table>\n</details>\n";
}

fn receipt(run: &Run, evidence: &ReportEvidence, out: &mut String) {
    *out += "<h2>Receipt</h2>\n<dl class=\"facts\">\n";
    let mut fact = |label: &str, value: &str| {
        *out += &format!("<dt>{label}</dt><dd><code>{}</code></dd>\n", escaped(value));
    };
    fact("Verified commit", evidence.commit.as_deref().unwrap_or("none"));
    fact("Workflow, SHA-256", &run.settings.plan_digest);
    fact("Ledger, SHA-256", &evidence.ledger);
    *out += "</dl>\n";
    *out += &format!(
        "<p class=\"faint\">This page proves nothing by itself. The signed receipt does: \
         <code>onloop receipt {} --format intoto</code></p>\n",
        escaped(&run.id)
    );
}
