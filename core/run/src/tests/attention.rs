//! What a person is told of a run: when it begins, and when it is the same still.

use super::*;
use crate::wait::{Refused, Wait};

/// What stands after each event, with the number of the event that it began with.
fn watched(run: &mut Run, events: &[Event]) -> Vec<Option<(u64, NoticeKind)>> {
    let mut tracker = AttentionTracker::default();
    let mut seen = Vec::new();
    for (seq, event) in (1..).zip(events) {
        apply(run, std::slice::from_ref(event));
        tracker.look(seq, run);
        seen.push(tracker.current().map(|(since, attention)| (since, attention.kind())));
    }
    seen
}

#[test]
fn a_gate_stands_from_its_verification_to_its_decision() {
    let mut run = begin(vec![Step { gate: Some(Gate::Human), ..step(1) }]);
    let start = Event::StepStarted { step: 1 };
    let reason = "the gate".to_owned();
    let redone = Event::StepRedone { step: 1, reason: "not so".to_owned() };
    let events = [
        start.clone(),
        passed(1),
        Event::RunPaused { reason: reason.clone(), interrupted: false },
        Event::RunResumed,
        Event::RunPaused { reason, interrupted: false },
        redone,
        start,
        passed(1),
        human(1, GateDecision::Approved),
    ];
    let waits = |since| Some((since, NoticeKind::Waits));
    let expected = [None, waits(2), waits(2), waits(2), waits(2), None, None, waits(8), None];
    assert_eq!(watched(&mut run, &events), expected);
}

#[test]
fn a_person_who_interrupts_is_not_notified_and_others_are() {
    for (interrupted, told) in [(true, None), (false, Some(NoticeKind::Waits))] {
        let mut run = begin(vec![step(1)]);
        apply(&mut run, &[Event::RunPaused { reason: "interrupted".to_owned(), interrupted }]);
        assert_eq!(run.attention().map(|attention| attention.kind()), told, "{interrupted}");
    }
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::RunAbandoned { reason: "wrong".to_owned() }]);
    assert_eq!(run.attention(), None);
}

#[test]
fn a_limit_that_is_run_into_again_and_again_is_one_piece_of_news() {
    let mut run = begin(vec![step(1)]);
    let refused = |resets_at| Refused {
        step: 1,
        attempt: 1,
        agent: "claude".to_owned(),
        why: WaitReason::Limited,
        resets_at,
    };
    let turn = |ending| {
        Event::AgentEnded(TurnRecord {
            ending: Some(ending),
            is_idle: true,
            agent: "claude".to_owned(),
            ..super::support::turn(1)
        })
    };
    let at = run.last_update;
    let first = Wait::after(refused(None), at, None);
    let second = Wait::after(refused(None), first.until, Some(&first));
    let ending = TurnEnding::Refused(WaitReason::Limited);
    let events = [
        Event::StepStarted { step: 1 },
        turn(ending),
        Event::AgentWaits(first),
        turn(TurnEnding::Failed),
        turn(ending),
        Event::AgentWaits(second),
    ];
    let seen = watched(&mut run, &events);
    assert_eq!(seen[2], Some((3, NoticeKind::Limit)));
    assert_eq!(seen[3], None);
    assert_eq!(seen[5], Some((3, NoticeKind::Limit)), "{seen:?}");
}
