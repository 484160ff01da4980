//! What took time in a run: its attempts, and the waits for a person. The page draws it.

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

/// The newest of what took time in a run and in its forks, in the order of its end: at most `PAGE_SPANS`.
pub fn spans(run: &Run, forks: &[Run]) -> Vec<Span> {
    let is_open = |step: u32| run.forked_steps().any(|(open, _)| open == step);
    let mut spans = spans_of(run);
    // Of a step whose fork works, the run has waited for it, and no more.
    spans.retain(|span| !is_open(span.step));
    for fork in forks {
        let is_over = run.counts_fork(&fork.id);
        spans.extend(spans_of(fork).into_iter().map(|span| match span.to {
            None if is_over => Span { to: Some(fork.last_update), ..span },
            _ => span,
        }));
    }
    spans.sort_by_key(|span| (span.to.is_none(), span.to));
    spans.drain(..spans.len().saturating_sub(PAGE_SPANS));
    spans
}

/// All of it, as far as the events of the run tell.
fn spans_of(run: &Run) -> Vec<Span> {
    let mut spans = Vec::new();
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
            }
            _ => {}
        }
    }
    close(&mut spans, &mut acting, None, SpanKind::Acted);
    if let Next::Ask(Question::Gate { step } | Question::Review { step, .. }) = run.next() {
        let waits = waiting.filter(|(of, _)| *of == step);
        spans.extend(waits.map(|(_, from)| Span { step, kind: SpanKind::Waits, from, to: None }));
    }
    spans
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
    use onloop_run::{
        Beginning, CheckResult, CheckVerdict, Event, GateDecision, Measured, Mode, Place,
    };

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

    const FILE: &str = "---\nintent: Say hello\nsuccess_criteria: it says so\nrisk_level: low\n---\n\
        ### 1. Write it\naction: Write `hello`\nloop: until it does\nmax_iterations: 2\n\
        verify: grep -q hello out.txt\ngate: human\n";

    fn begun() -> Run {
        let plan = onloop_workflow::parse("hotl-workflow-a.md", FILE.as_bytes()).plan;
        let beginning = Beginning {
            id: "a-20261123T090000Z".to_owned(),
            place: Place::default(),
            at: at(0),
            auto_approve: false,
            reverify: false,
            review_agent: None,
            issue: None,
            issue_text: String::new(),
            pr_repairs: None,
        };
        Run::begin(&plan.expect("it is a plan"), beginning)
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_795_424_400_000 + seconds * 1000)
    }

    fn checked(step: u32, verdict: CheckVerdict) -> Event {
        let result = CheckResult {
            check: 0,
            verdict,
            stdout: String::new(),
            stderr: String::new(),
            measured: Some(Measured { exit_code: Some(0), duration_ms: 1200 }),
            at: None,
            warnings: Vec::new(),
            inputs: None,
        };
        Event::StepVerified { step, results: vec![result] }
    }

    #[test]
    fn attempts_and_waits_are_spans_of_which_the_last_is_open() {
        let mut run = begun();
        let failed = CheckVerdict::Failed { reason: "exit code 1".to_owned() };
        let told = |run: &Run| -> Vec<(SpanKind, i64, Option<i64>)> {
            let seconds = |moment: Timestamp| (moment.as_millis() - at(0).as_millis()) / 1000;
            let of = |span: Span| (span.kind, seconds(span.from), span.to.map(seconds));
            spans(run, &[]).into_iter().map(of).collect()
        };
        assert_eq!(told(&run), []);
        let mut apply = |second: i64, event: Event| {
            run.apply(at(second), &event).unwrap();
            told(&run)
        };
        let acting = apply(10, Event::StepStarted { step: 1 });
        assert_eq!(acting, [(SpanKind::Acted, 10, None)]);
        apply(20, Event::StepActed { step: 1 });
        apply(21, checked(1, failed));
        apply(30, Event::StepStarted { step: 1 });
        apply(40, Event::StepActed { step: 1 });
        let waiting = apply(41, checked(1, CheckVerdict::Passed));
        let attempts = [(SpanKind::Failed, 10, Some(21)), (SpanKind::Acted, 30, Some(41))];
        assert_eq!(waiting[..2], attempts);
        assert_eq!(waiting[2..], [(SpanKind::Waits, 41, None)]);
        let (decision, mode) = (GateDecision::Approved, Mode::Human);
        let decided = apply(100, Event::GateDecided { step: 1, decision, mode });
        assert_eq!(decided[2..], [(SpanKind::Waits, 41, Some(100))]);
    }
}
