//! What took time in a run: its attempts, and the waits for a person. Report and page draw it.

use onloop_run::{LogEntry, Next, Question, Run};
use onloop_syntax::time::Timestamp;
use serde::Serialize;

use crate::board::{moment, moment_if};

/// The newest spans that a page has: more do not fit on its timeline.
const PAGE_SPANS: usize = 80;

/// What took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// An attempt that did what was wanted, or is under way.
    Acted,
    /// An attempt that did not.
    Failed,
    /// A gate or a review that nobody had decided yet.
    Waits,
}

/// Something that took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The step.
    pub step: u32,
    /// What it was.
    pub kind: SpanKind,
    /// When it began.
    #[serde(serialize_with = "moment")]
    pub from: Timestamp,
    /// When it ended; `None`: not yet.
    #[serde(serialize_with = "moment_if", skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

/// A decision at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GateDecided {
    pub(crate) step: u32,
    pub(crate) approved: bool,
    pub(crate) at: Timestamp,
}

/// The newest of what took time in a run and in its forks, in the order of its end: at most `PAGE_SPANS`.
pub fn spans(run: &Run, forks: &[Run]) -> Vec<Span> {
    let is_open = |step: u32| run.forked_steps().any(|(open, _)| open == step);
    let mut spans = spans_and_decisions(run).0;
    // Of a step whose fork works, the run has waited for it, and no more.
    spans.retain(|span| !is_open(span.step));
    for fork in forks {
        let is_over = run.counts_fork(&fork.id);
        spans.extend(spans_and_decisions(fork).0.into_iter().map(|span| match span.to {
            None if is_over => Span { to: Some(fork.last_update), ..span },
            _ => span,
        }));
    }
    spans.sort_by_key(|span| (span.to.is_none(), span.to));
    spans.drain(..spans.len().saturating_sub(PAGE_SPANS));
    spans
}

/// All of it, and the decisions, as far as the events tell.
pub(crate) fn spans_and_decisions(run: &Run) -> (Vec<Span>, Vec<GateDecided>) {
    let (mut spans, mut decisions) = (Vec::new(), Vec::new());
    // When the attempt that is under way began, and since when a person is waited for.
    let (mut acting, mut waiting) = (None, None);
    for entry in &run.events {
        let Some(step) = entry.step else { continue };
        let at = entry.at;
        match entry.event.as_str() {
            "step_started" => {
                close(&mut spans, &mut acting, Some(at), SpanKind::Failed);
                acting = Some((step, at));
            }
            "step_verified" | "action_failed" | "step_blocked" => {
                let kind = if failed(entry) { SpanKind::Failed } else { SpanKind::Acted };
                close(&mut spans, &mut acting, Some(at), kind);
                waiting = Some((step, at));
            }
            "gate_decided" | "step_redone" => {
                if let Some((_, from)) = waiting.take().filter(|(of, _)| *of == step) {
                    let waits = Span { step, kind: SpanKind::Waits, from, to: Some(at) };
                    spans.extend((at.millis_since(from) > 0).then_some(waits));
                }
                let approved = entry.text.contains(": approved");
                decisions.push(GateDecided { step, approved, at });
            }
            _ => {}
        }
    }
    close(&mut spans, &mut acting, None, SpanKind::Acted);
    if let Next::Ask(Question::Gate { step } | Question::Review { step, .. }) = run.next() {
        let waits = waiting.filter(|(of, _)| *of == step);
        spans.extend(waits.map(|(_, from)| Span { step, kind: SpanKind::Waits, from, to: None }));
    }
    (spans, decisions)
}

fn close(
    spans: &mut Vec<Span>,
    acting: &mut Option<(u32, Timestamp)>,
    to: Option<Timestamp>,
    kind: SpanKind,
) {
    spans.extend(acting.take().map(|(step, from)| Span { step, kind, from, to }));
}

/// Whether the attempt that ended with `entry` failed.
fn failed(entry: &LogEntry) -> bool {
    entry.event != "step_verified" || entry.text.starts_with('✗')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::telemetry::tests::forked;

    #[test]
    fn a_step_beside_others_is_on_the_timeline_before_it_is_merged() {
        let (mut book, mut fork) = forked();
        // The run waits for its fork.
        book.add(2_000, json!({ "event": "step_started", "step": 1 }));
        let told = |run: &Run, fork: &Run| -> Vec<(SpanKind, i64, Option<i64>)> {
            let of =
                |span: Span| (span.kind, span.from.as_millis(), span.to.map(Timestamp::as_millis));
            let begin = run.started_at.as_millis();
            let all = spans(run, std::slice::from_ref(fork)).into_iter().map(of);
            all.map(|(kind, from, to)| (kind, from - begin, to.map(|to| to - begin))).collect()
        };
        assert_eq!(told(&book.run, &fork.run), [(SpanKind::Acted, 2_000, None)]);
        let failed = json!({ "event": "action_failed", "step": 1, "reason": "x", "output": "" });
        fork.add(9_000, failed);
        assert_eq!(told(&book.run, &fork.run), [(SpanKind::Failed, 2_000, Some(9_000))]);
    }
}
