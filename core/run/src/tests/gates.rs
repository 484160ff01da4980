//! Gates: who decides them, and how long a decision holds.

use super::*;

#[test]
fn who_decides_a_gate() {
    use AutomaticReason::*;
    use HumanReason::*;
    let table = [
        // gate, risk, auto_approve, sensitive, rule
        (None, Risk::High, true, true, GateRule::Open),
        (Some(Gate::Auto), Risk::High, false, false, GateRule::Automatic(GateAuto)),
        (Some(Gate::Human), Risk::Low, false, false, GateRule::Human(Asked)),
        (Some(Gate::Human), Risk::Low, true, false, GateRule::Automatic(AutoApprove)),
        (Some(Gate::Human), Risk::Medium, true, false, GateRule::Automatic(AutoApprove)),
        (Some(Gate::Human), Risk::High, true, false, GateRule::Human(HighRisk)),
        (Some(Gate::Human), Risk::Low, true, true, GateRule::Human(Sensitive)),
    ];
    for (gate, risk, auto_approve, sensitive, expected) in table {
        let mut run = begin(vec![Step { gate, sensitive, ..step(1) }]);
        run.0.settings.risk = risk;
        run.0.settings.auto_approve = auto_approve;
        let rule = gate_rule(&run, &run.steps[0]);
        assert_eq!(rule, expected, "{gate:?} {risk:?} {auto_approve} {sensitive}");
        // Whether the rules may be claimed is the same question.
        apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1)]);
        let (decision, mode) = (GateDecision::Approved, Mode::Auto);
        let claimed = run.apply(run.last_update, &Event::GateDecided { step: 1, decision, mode });
        let automatic = matches!(expected, GateRule::Automatic(_));
        assert_eq!(claimed.is_ok(), automatic, "{gate:?} {risk:?} {auto_approve} {sensitive}");
    }
}

/// A step whose gate was decided, and that was blocked and resumed afterwards.
fn decided_then_interrupted(decision: GateDecision) -> Run {
    let mut run = begin(vec![Step { gate: Some(Gate::Human), ..step(1) }, step(2)]);
    let reason = "wait".to_owned();
    apply(
        &mut run,
        &[
            Event::StepStarted { step: 1 },
            passed(1),
            human(1, decision),
            Event::StepBlocked { step: 1, reason },
            Event::RunResumed,
        ],
    );
    run
}

#[test]
fn a_rejection_outlives_a_verification_and_blocks_the_run() {
    let mut run = decided_then_interrupted(GateDecision::Rejected);
    apply(&mut run, &[passed(1)]);
    assert_eq!(run.status, RunStatus::Blocked);
    assert!(matches!(run.next(), Next::Blocked(Blocker { rejected: true, .. })));
    apply(&mut run, &[human(1, GateDecision::Approved)]);
    assert_eq!(run.next(), Next::Start { step: 2, attempt: 1 });
}

#[test]
fn a_decision_does_not_outlive_the_attempt_it_was_made_on() {
    for decision in [GateDecision::Approved, GateDecision::Rejected] {
        let mut run = decided_then_interrupted(decision);
        apply(&mut run, &[failed(1), Event::StepStarted { step: 1 }, passed(1)]);
        assert_eq!(run.next(), Next::Ask(Question::Gate { step: 1 }), "{decision:?}");
    }
}

#[test]
fn the_next_step_waits_for_the_gate_before_it() {
    let mut run = begin(vec![Step { gate: Some(Gate::Human), ..step(1) }, step(2)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1)]);
    assert_eq!(run.next(), Next::Ask(Question::Gate { step: 1 }));
    assert_eq!(
        refused(&mut run, &Event::StepStarted { step: 2 }),
        "step 1 must be done before step 2 can start"
    );
    apply(&mut run, &[human(1, GateDecision::Approved)]);
    assert_eq!(run.next(), Next::Start { step: 2, attempt: 1 });
}

#[test]
fn an_attempt_after_a_review_is_reviewed_as_well() {
    let mut run = begin(vec![step(1)]);
    run.0.settings.reverify = true;
    run.0.settings.review_agent = Some("claude".to_owned());
    let (findings, base) = (String::new(), None);
    let ready = Event::ReviewFinished { step: None, verdict: Verdict::Ready, findings, base };
    let broken = result(0, CheckVerdict::Failed { reason: "r".to_owned() });
    let failures = vec![(1, broken)];
    let repeated = Event::ChecksRepeated { repeated: 1, failures, warnings: Vec::new() };
    let acted = [Event::StepStarted { step: 1 }, Event::StepActed { step: 1 }, passed(1)];
    apply(&mut run, &acted);
    apply(&mut run, &[ready, repeated]);
    apply(&mut run, &[Event::StepReopened { step: 1, reason: "again".to_owned() }]);
    apply(&mut run, &acted);
    assert_eq!(run.next(), Next::Review { step: None });
    let unreviewed = Refusal::Unfinished(Missing::Review).to_string();
    assert_eq!(refused(&mut run, &Event::RunFinalized), unreviewed);
}
