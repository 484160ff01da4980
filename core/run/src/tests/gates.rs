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

#[test]
fn a_file_that_requires_checks_has_a_person_decide_about_an_unchecked_step() {
    let mut run = begin(vec![Step { gate: Some(Gate::Human), checks: Vec::new(), ..step(1) }]);
    run.0.settings.auto_approve = true;
    run.0.settings.evidence.require_checks = true;
    assert_eq!(gate_rule(&run, &run.steps[0]), GateRule::Human(HumanReason::Unchecked));
    run.0.steps[0].step.checks = step(1).checks;
    assert!(matches!(gate_rule(&run, &run.steps[0]), GateRule::Automatic(_)));
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
    run.0.settings.options.reverify = true;
    run.0.settings.options.review_agent = Some("claude".to_owned());
    let (findings, base) = (String::new(), None);
    let ready = Event::ReviewFinished { step: None, verdict: Verdict::Ready, findings, base };
    let broken = result(0, CheckVerdict::Failed { reason: "r".to_owned() });
    let failures = vec![(1, broken)];
    let repeated =
        Event::ChecksRepeated { repeated: 1, failures, warnings: Vec::new(), clean: false };
    let acted = [Event::StepStarted { step: 1 }, Event::StepActed { step: 1 }, passed(1)];
    apply(&mut run, &acted);
    apply(&mut run, &[ready, repeated]);
    apply(&mut run, &[Event::StepReopened { step: 1, reason: "again".to_owned() }]);
    apply(&mut run, &acted);
    assert_eq!(run.next(), Next::Review { step: None });
    let unreviewed = Refusal::Unfinished(Missing::Review).to_string();
    assert_eq!(refused(&mut run, &Event::RunFinalized), unreviewed);
}

#[test]
fn a_step_that_is_done_again_makes_earlier_proof_stale() {
    let gated = Step { gate: Some(Gate::Human), ..step(2) };
    let mut run = begin(vec![Step { repeat: until(3), ..step(1) }, gated, step(3)]);
    let start = |step| Event::StepStarted { step };
    apply(&mut run, &[start(1), passed(1), start(2), passed(2)]);
    assert_eq!(run.next(), Next::Ask(Question::Gate { step: 2 }));
    let redone = Event::StepRedone { step: 2, reason: "shorter".to_owned() };
    apply(&mut run, &[redone, start(2), passed(2)]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
    let approved = human(2, GateDecision::Approved);
    assert_eq!(
        refused(&mut run, &approved),
        "step 1 has to be verified again first: files changed since"
    );
    let (mut holds, mut broken) = (run.clone(), run);
    apply(&mut holds, &[passed(1)]);
    assert_eq!(holds.next(), Next::Ask(Question::Gate { step: 2 }));
    assert_eq!(holds.steps[0].attempts, 1, "it was not done again");
    // What does not hold any more is done again, and so is the verification of the other step.
    apply(&mut broken, &[failed(1)]);
    let failure = broken.steps[0].last_failure.as_ref().map(|failure| failure.reason.as_str());
    assert_eq!(
        failure,
        Some("passed before, but not after a later change: verify failed: exit code 1")
    );
    assert_eq!(broken.next(), Next::Start { step: 1, attempt: 2 });
    apply(&mut broken, &[start(1), passed(1)]);
    assert_eq!(broken.next(), Next::Verify { step: 2 });
    apply(&mut broken, &[passed(2), approved, start(3), passed(3), Event::RunFinalized]);
    assert_eq!(broken.status, RunStatus::Completed);
}

#[test]
fn a_completed_run_takes_a_request_for_changes_until_its_work_is_handed_on() {
    let mut run = begin(vec![step(1), step(2)]);
    let start = |step| Event::StepStarted { step };
    apply(&mut run, &[start(1), passed(1), start(2), passed(2), Event::RunFinalized]);
    let redone = |step| Event::StepRedone { step, reason: "shorter".to_owned() };
    assert_eq!(refused(&mut run, &redone(1)), "steps after step 1 have begun");
    let kept = FinishOutcome::new(Disposition::Kept);
    let kept = Event::FinishRecorded { outcome: kept, replace: false };
    apply(&mut run, &[kept.clone(), redone(2)]);
    assert_eq!(run.next(), Next::Start { step: 2, attempt: 2 });
    assert_eq!((&run.finish, run.completed_at), (&None, None));
    apply(&mut run, &[start(2), passed(2), passed(1), Event::RunFinalized]);
    let act =
        FinishAct::Merge { commit: "c".to_owned(), target: "main".to_owned(), pull_request: None };
    let merged = FinishOutcome::new(Disposition::Merged);
    let merging = Event::FinishIntended { act, notes: None, replace: false };
    apply(&mut run, &[merging, Event::FinishRecorded { outcome: merged, replace: true }]);
    assert_eq!(
        refused(&mut run, &redone(2)),
        "the run is `completed` and cannot repeat a step now"
    );
}

#[test]
fn findings_go_back_to_the_agent_as_often_as_the_file_allows() {
    let mut run = begin(vec![step(1)]);
    run.0.settings.options.review_agent = Some("claude".to_owned());
    let reviewed = |verdict| {
        let findings = "BLOCK: it deletes data".to_owned();
        Event::ReviewFinished { step: None, verdict, findings, base: None }
    };
    let back = Event::FindingsReturned { step: 1 };
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1)]);
    for round in 1..=2 {
        assert_eq!(run.next(), Next::Review { step: None });
        apply(&mut run, &[reviewed(Verdict::Block), back.clone()]);
        assert_eq!(run.next(), Next::Start { step: 1, attempt: round + 1 });
        let failure = run.steps[0].last_failure.as_ref().expect("the findings");
        assert_eq!(failure.output, "BLOCK: it deletes data");
        apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1)]);
    }
    apply(&mut run, &[reviewed(Verdict::Block)]);
    assert_eq!(refused(&mut run, &back), "no findings go back to the agent of step 1");
    assert_eq!(run.next(), Next::Ask(Question::Verdict { step: None }));
    // Without a verdict there are no findings to work on.
    run.0.reviews.rounds = 0;
    run.0.reviews.blocking.as_mut().expect("it blocks").verdict = Verdict::Missing;
    assert_eq!(run.returnable_findings(), None);
}

#[test]
fn a_baseline_is_taken_once_before_the_first_turn() {
    let mut run = begin(vec![Step { baseline: true, repeat: until(2), ..step(1) }]);
    let taken = Event::BaselineTaken { step: 1, passed: vec![0] };
    assert!(run.apply(run.last_update, &taken).is_err(), "it has not begun");
    apply(&mut run, &[Event::StepStarted { step: 1 }]);
    assert!(run.steps[0].baseline_is_due());
    apply(&mut run, std::slice::from_ref(&taken));
    assert!(!run.steps[0].baseline_is_due());
    apply(&mut run, &[Event::StepActed { step: 1 }, failed(1), Event::StepStarted { step: 1 }]);
    assert!(run.apply(run.last_update, &taken).is_err(), "an agent has run");
    assert_eq!(run.steps[0].baseline, Some(vec![0]));
}
