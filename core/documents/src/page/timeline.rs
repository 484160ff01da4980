//! The attempts, checks and gates of a run over time, to scale.

use super::html::escaped;
use onloop_run::{CheckVerdict, LogEntry, Run, StepRecord, checks};
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

/// Something that took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An attempt that did what was wanted.
    Acted,
    /// An attempt that did not.
    Failed,
    /// A gate or a review that nobody had decided yet.
    Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    step: u32,
    kind: Kind,
    from: Timestamp,
    to: Timestamp,
}

/// A decision at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    step: u32,
    approved: bool,
    at: Timestamp,
}

/// The drawing as SVG, with a description for those who cannot see it. Empty for a run in which
/// nothing has happened.
pub(super) fn drawn(run: &Run) -> String {
    let (spans, decisions) = read(run);
    let Some(end) = spans.iter().map(|span| span.to).chain(decisions.iter().map(|d| d.at)).max()
    else {
        return String::new();
    };
    let begin = run.started_at;
    let total = end.millis_since(begin).max(1) as f64;
    let x = |at: Timestamp| {
        LEFT + (WIDTH - LEFT - 10.0) * (at.millis_since(begin) as f64 / total).min(1.0)
    };
    let height = ROW * (run.steps.len() as f64 + 1.0) + 4.0;
    let took = text::span(end.millis_since(begin));
    let attempts = spans.iter().filter(|span| span.kind != Kind::Waits).count() as u64;
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
            Kind::Acted => ("acted", "attempt"),
            Kind::Failed => ("failed", "failed attempt"),
            Kind::Waits => ("waits", "waited for a person"),
        };
        let title =
            format!("step {}: {word}, {}", span.step, text::span(span.to.millis_since(span.from)));
        out += &bar(class, (span.from, span.to), (row(span.step) + 4.0, 12), &title);
    }
    for record in &run.steps {
        let step = record.step.number;
        for check in checked(record, &spans) {
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

/// What took time, as far as the events tell.
fn read(run: &Run) -> (Vec<Span>, Vec<Decision>) {
    let (mut spans, mut decisions) = (Vec::new(), Vec::new());
    // When the attempt that is under way began, and since when a person is waited for.
    let (mut acting, mut waiting) = (None, None);
    for entry in &run.events {
        let Some(step) = entry.step else { continue };
        let at = entry.at;
        match entry.event.as_str() {
            "step_started" => {
                close(&mut spans, &mut acting, at, Kind::Failed);
                acting = Some((step, at));
            }
            "step_verified" | "action_failed" | "step_blocked" => {
                let kind = if failed(entry) { Kind::Failed } else { Kind::Acted };
                close(&mut spans, &mut acting, at, kind);
                waiting = Some((step, at));
            }
            "gate_decided" | "step_redone" => {
                if let Some((_, from)) = waiting.take().filter(|(of, _)| *of == step) {
                    let waits = Span { step, kind: Kind::Waits, from, to: at };
                    spans.extend((at.millis_since(from) > 0).then_some(waits));
                }
                decisions.push(Decision { step, approved: entry.text.contains(": approved"), at });
            }
            _ => {}
        }
    }
    close(&mut spans, &mut acting, run.last_update, Kind::Acted);
    (spans, decisions)
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
fn checked(record: &StepRecord, spans: &[Span]) -> Vec<Checked> {
    let is_attempt = |span: &&Span| span.step == record.step.number && span.kind != Kind::Waits;
    let Some(attempt) = spans.iter().rfind(is_attempt) else { return Vec::new() };
    let facts = checks(record);
    let took = |took_ms: Option<u64>| i64::try_from(took_ms.unwrap_or(0)).unwrap_or(i64::MAX);
    let all = facts.iter().fold(0i64, |all, fact| all.saturating_add(took(fact.took_ms)));
    let mut at = attempt.to.as_millis().saturating_sub(all);
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

fn close(spans: &mut Vec<Span>, acting: &mut Option<(u32, Timestamp)>, to: Timestamp, kind: Kind) {
    spans.extend(acting.take().map(|(step, from)| Span { step, kind, from, to }));
}

/// Whether the attempt that ended with `entry` failed.
fn failed(entry: &LogEntry) -> bool {
    entry.event != "step_verified" || entry.text.starts_with('✗')
}
