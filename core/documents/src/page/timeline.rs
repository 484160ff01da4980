//! The attempts, checks and gates of a run over time, to scale.

use super::html::escaped;
use crate::spans::{Span, SpanKind, spans_and_decisions};
use onloop_run::{CheckVerdict, Run, StepRecord, checks};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Width of the drawing, in its own units.
const WIDTH: f64 = 900.0;
/// Where time begins.
const LEFT: f64 = 190.0;
const ROW: f64 = 20.0;
/// Narrower bars are not seen.
const NARROWEST: f64 = 2.0;

/// What the colours mean.
pub(super) const KEY: &str = "<p class=\"faint key\" aria-hidden=\"true\">\
    <span><svg viewBox=\"0 0 24 12\"><rect class=\"acted\" width=\"24\" height=\"12\"/></svg>attempt</span>\
    <span><svg viewBox=\"0 0 24 12\"><rect class=\"failed\" width=\"24\" height=\"12\"/></svg>failed attempt</span>\
    <span><svg viewBox=\"0 0 24 12\"><rect class=\"check\" y=\"3\" width=\"24\" height=\"6\"/></svg>check of the last attempt</span>\
    <span><svg viewBox=\"0 0 24 12\"><rect class=\"waits\" x=\"1\" y=\"1\" width=\"22\" height=\"10\"/></svg>waited for a person</span>\
    <span><svg viewBox=\"0 0 24 12\"><circle class=\"approved\" cx=\"12\" cy=\"6\" r=\"5\"/></svg>approved</span>\
    <span><svg viewBox=\"0 0 24 12\"><circle class=\"rejected\" cx=\"12\" cy=\"6\" r=\"5\"/></svg>rejected</span>\
    </p>\n";

/// The drawing as SVG, with a description for those who cannot see it. Empty for a run in which
/// nothing has happened.
pub(super) fn drawn(run: &Run) -> String {
    let (mut spans, decisions) = spans_and_decisions(run);
    // The report ends where the record does.
    spans.retain(|span| span.kind != SpanKind::Waits || span.to.is_some());
    let end_of = |span: &Span| span.to.unwrap_or(run.last_update);
    let Some(end) = spans.iter().map(end_of).chain(decisions.iter().map(|d| d.at)).max() else {
        return String::new();
    };
    let begin = run.started_at;
    let total = end.millis_since(begin).max(1) as f64;
    let x = |at: Timestamp| {
        LEFT + (WIDTH - LEFT - 10.0) * (at.millis_since(begin) as f64 / total).min(1.0)
    };
    let height = ROW * (run.steps.len() as f64 + 1.0) + 4.0;
    let took = text::span(end.millis_since(begin));
    let attempts = spans.iter().filter(|span| span.kind != SpanKind::Waits).count() as u64;
    let label = format!(
        "{} in {took}; the table of steps tells the same in words",
        text::counted(attempts, "attempt")
    );
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escaped(&label)
    );
    for (index, record) in run.steps.iter().enumerate() {
        let y = ROW * index as f64 + 14.0;
        let name = format!("{}. {}", record.step.number, text::one_line(&record.step.name));
        out += &format!("<text x=\"0\" y=\"{y}\">{}</text>\n", escaped(&text::ellipsis(&name, 30)));
    }
    let row = |step: u32| ROW * f64::from(step.saturating_sub(1));
    let bar = |class: &str,
               (from, to): (Timestamp, Timestamp),
               (y, height): (f64, u32),
               title: &str| {
        let left = x(from);
        let width = (x(to) - left).max(NARROWEST);
        format!(
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\">\
             <title>{}</title></rect>\n",
            escaped(title)
        )
    };
    for span in &spans {
        let (class, word) = match span.kind {
            SpanKind::Acted => ("acted", "attempt"),
            SpanKind::Failed => ("failed", "failed attempt"),
            SpanKind::Waits => ("waits", "waited for a person"),
        };
        let title = format!(
            "step {}: {word}, {}",
            span.step,
            text::span(end_of(span).millis_since(span.from))
        );
        out += &bar(class, (span.from, end_of(span)), (row(span.step) + 4.0, 12), &title);
    }
    for record in &run.steps {
        let step = record.step.number;
        for check in checked(record, &spans, run.last_update) {
            let word = if check.passed { "passed" } else { "failed" };
            let took = check.to.millis_since(check.from) as f64 / 1000.0;
            let title = format!("step {step}: {} {word}, {took:.1} s", check.what);
            let class = if check.passed { "check" } else { "check failed" };
            out += &bar(class, (check.from, check.to), (row(step) + 7.0, 6), &title);
        }
    }
    for decision in &decisions {
        let (cx, cy) = (x(decision.at), row(decision.step) + 10.0);
        let word = if decision.approved { "approved" } else { "rejected" };
        out += &format!(
            "<circle class=\"{word}\" cx=\"{cx:.1}\" cy=\"{cy}\" r=\"5\"><title>gate of step {}: \
             {word}</title></circle>\n",
            decision.step
        );
    }
    let y = height - ROW;
    let text_y = y + 15.0;
    out += &format!(
        "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{y}\" x2=\"{WIDTH}\" y2=\"{y}\"/>\n\
         <text class=\"faint\" x=\"{LEFT}\" y=\"{text_y}\">{}</text>\n\
         <text class=\"faint\" x=\"{WIDTH}\" y=\"{text_y}\" text-anchor=\"end\">{} later</text>\n\
         </svg>\n",
        escaped(&begin.to_rfc3339()),
        escaped(&took)
    );
    out
}

/// A check of the last attempt.
struct Checked {
    what: String,
    passed: bool,
    from: Timestamp,
    to: Timestamp,
}

/// The checks that took time, one after another at the end of the attempt that they verified; how long
/// those of earlier attempts took is not known.
fn checked(record: &StepRecord, spans: &[Span], last: Timestamp) -> Vec<Checked> {
    let is_attempt = |span: &&Span| span.step == record.step.number && span.kind != SpanKind::Waits;
    let Some(attempt) = spans.iter().rfind(is_attempt) else { return Vec::new() };
    let facts = checks(record);
    let took = |took_ms: Option<u64>| i64::try_from(took_ms.unwrap_or(0)).unwrap_or(i64::MAX);
    let all = facts.iter().fold(0i64, |all, fact| all.saturating_add(took(fact.took_ms)));
    let mut at = attempt.to.unwrap_or(last).as_millis().saturating_sub(all);
    let mut found = Vec::new();
    for fact in facts.into_iter().filter(|fact| took(fact.took_ms) > 0) {
        let end = at.saturating_add(took(fact.took_ms));
        let moment = |at: i64| Timestamp::from_millis(at.max(attempt.from.as_millis()));
        let passed = fact.verdict == Some(CheckVerdict::Passed);
        found.push(Checked { what: fact.what, passed, from: moment(at), to: moment(end) });
        at = end;
    }
    found
}
