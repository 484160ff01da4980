//! The record's behavior as tables, and every reachable state of small plans.

mod attention;
mod beside;
mod checkpoints;
mod finish;
mod gates;
mod repeated;
mod simulated;
#[path = "../tests/ledger/support.rs"]
mod support;
mod undone;

use super::*;
use onloop_workflow::*;
use support::*;

fn refused(run: &mut Run, event: &Event) -> String {
    let before = run.clone();
    let refusal = run.apply(run.last_update, event).expect_err("the event is refused");
    assert_eq!(*run, before, "a refused event changes nothing");
    refusal.to_string()
}

#[test]
fn a_plain_run_goes_from_start_to_completed() {
    let mut run = begin(vec![step(1)]);
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 1 });
    apply(&mut run, &[Event::StepStarted { step: 1 }]);
    assert_eq!(run.next(), Next::Act { step: 1 });
    apply(&mut run, &[Event::StepActed { step: 1 }]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
    apply(&mut run, &[passed(1)]);
    assert_eq!(run.next(), Next::Finalize);
    apply(&mut run, &[Event::RunFinalized]);
    assert_eq!((run.next(), run.status.as_str()), (Next::Finished, "completed"));
}

#[test]
fn a_used_up_budget_is_asked_about_before_another_attempt() {
    let mut run = begin(vec![step(1), step(2)]);
    run.0.settings.budgets.total_attempts = Some(1);
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 1 });
    apply(&mut run, &[Event::StepStarted { step: 1 }, Event::StepActed { step: 1 }, passed(1)]);
    assert_eq!(run.next(), Next::Ask(Question::Budget { step: 2 }));
    let raised = Budgets { total_attempts: Some(2), ..Budgets::default() };
    apply(&mut run, &[Event::BudgetsChanged(raised)]);
    assert_eq!(run.next(), Next::Start { step: 2, attempt: 1 });
}

#[test]
fn an_attempt_that_passes_a_budget_continues_when_it_is_raised() {
    let mut run = begin(vec![step(1)]);
    run.0.settings.budgets.tokens = Some(8);
    let over = TurnRecord { ending: Some(TurnEnding::OverBudget), ..turn(1) };
    let pause = Event::RunPaused { reason: "Budget reached".to_owned(), interrupted: false };
    apply(&mut run, &[Event::StepStarted { step: 1 }, Event::AgentEnded(over), pause]);
    assert_eq!(run.next(), Next::Ask(Question::Budget { step: 1 }));
    apply(&mut run, &[Event::RunResumed]);
    assert_eq!(run.next(), Next::Ask(Question::Budget { step: 1 }));
    let raised = Budgets { tokens: Some(9), ..Budgets::default() };
    apply(&mut run, &[Event::BudgetsChanged(raised)]);
    assert_eq!((run.next(), run.steps[0].attempts), (Next::Act { step: 1 }, 1));
    // A later turn of the attempt that passes nothing is as any other.
    apply(&mut run, &[Event::AgentEnded(turn(1)), Event::StepActed { step: 1 }]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
}

#[test]
fn a_review_comes_before_the_gate_that_warrants_it() {
    let gated = |number| Step { gate: Some(Gate::Human), sensitive: true, ..step(number) };
    let done = |step| [Event::StepStarted { step }, Event::StepActed { step }, passed(step)];
    let reviewed = |step, verdict| {
        [Event::ReviewFinished { step, verdict, findings: "see line 3".to_owned(), base: None }]
    };
    let mut run = begin(vec![gated(1), gated(2)]);
    run.0.settings.options.review_agent = Some("claude".to_owned());
    apply(&mut run, &done(1));
    assert_eq!(run.next(), Next::Review { step: Some(1) });
    apply(&mut run, &reviewed(Some(1), Verdict::Ready));
    assert_eq!(run.next(), Next::Ask(Question::Gate { step: 1 }));
    apply(&mut run, &[human(1, GateDecision::Approved)]);
    apply(&mut run, &done(2));
    apply(&mut run, &reviewed(Some(2), Verdict::Block));
    assert_eq!(run.next(), Next::Ask(Question::Verdict { step: Some(2) }));
    apply(&mut run, &[Event::VerdictAccepted]);
    assert_eq!(run.next(), Next::Ask(Question::Gate { step: 2 }));
    // A verdict about another step says nothing about this gate.
    let review = BlockingReview { step: Some(1), verdict: Verdict::Block, findings: String::new() };
    run.0.reviews.blocking = Some(review);
    assert_eq!(run.next(), Next::Ask(Question::Gate { step: 2 }));
}

#[test]
fn a_step_that_may_not_be_repeated_blocks_the_run() {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, failed(1)]);
    let Next::Block { step: 1, reason } = run.next() else { panic!("{:?}", run.next()) };
    assert_eq!(reason, "verify failed: exit code 1");
    assert_eq!(refused(&mut run, &Event::StepStarted { step: 1 }), "step 1 has used 1 attempt");
    apply(&mut run, &[Event::StepBlocked { step: 1, reason }]);
    assert!(matches!(run.next(), Next::Blocked(_)));
    assert_eq!(run.status, RunStatus::Blocked);
}

#[test]
fn a_loop_ends_at_its_limit_and_says_what_was_not_met() {
    let mut run = begin(vec![Step { repeat: until(2), ..step(1) }]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, failed(1)]);
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 2 });
    apply(&mut run, &[Event::StepStarted { step: 1 }, failed(1)]);
    let reason = |run: &Run| match run.next() {
        Next::Block { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        reason(&run),
        "Still failing after 2 attempts: verify failed: exit code 1 (loop: until it works)"
    );
    // HOTL's verbs keep its sentence.
    run.0.place.executor_mode = "loop".to_owned();
    assert_eq!(reason(&run), "Step 1 reached max iterations (2). it works not met.");
}

#[test]
fn resuming_a_blocked_run_verifies_first_and_grants_new_attempts() {
    let mut run = begin(vec![step(1)]);
    let blocked = Event::StepBlocked { step: 1, reason: "verify failed".to_owned() };
    apply(&mut run, &[Event::StepStarted { step: 1 }, failed(1), blocked, Event::RunResumed]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
    apply(&mut run, &[failed(1)]);
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 2 });
    apply(&mut run, &[Event::StepStarted { step: 1 }, failed(1)]);
    assert!(matches!(run.next(), Next::Block { .. }));
}

#[test]
fn attempts_before_a_person_went_on_move_the_limit() {
    let mut run = begin(vec![Step { repeat: until(2), ..step(1) }]);
    let start = Event::StepStarted { step: 1 };
    apply(&mut run, &[start.clone(), failed(1), start.clone(), failed(1)]);
    let blocked = Event::StepBlocked { step: 1, reason: "verify failed".to_owned() };
    apply(&mut run, &[blocked, Event::RunResumed, failed(1), start]);
    assert_eq!(step_line(&run, &run.steps[0]), "↻ Step 1: Name 1 (attempt 3/4)");
    assert_eq!(run.events.last().map(|e| e.text.as_str()), Some("↻ Step 1: Retrying (3/4)"));
}

#[test]
fn resuming_a_rejected_run_is_no_approval() {
    let gated = Step { gate: Some(Gate::Human), ..step(1) };
    let review = Check::HumanReview { prompt: "look".to_owned() };
    let reviewed = Step { checks: vec![review], ..step(1) };
    let waits = CheckVerdict::NeedsHuman { prompt: "look".to_owned() };
    for (first, result) in [(gated, result(0, CheckVerdict::Passed)), (reviewed, result(0, waits))]
    {
        let mut run = begin(vec![first, step(2)]);
        let verified = Event::StepVerified { step: 1, results: vec![result] };
        apply(&mut run, &[Event::StepStarted { step: 1 }, verified]);
        apply(&mut run, &[human(1, GateDecision::Rejected), Event::RunResumed]);
        assert_eq!(run.status, RunStatus::Blocked);
        assert!(matches!(run.next(), Next::Blocked(blocker) if blocker.rejected));
        apply(&mut run, &[human(1, GateDecision::Approved)]);
        assert_eq!(run.next(), Next::Start { step: 2, attempt: 1 });
    }
}

#[test]
fn an_interrupted_step_is_verified_before_it_is_repeated() {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, Event::RunResumed]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
    apply(&mut run, &[failed(1)]);
    // The interrupted attempt does not use up the only one.
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 2 });
}

#[test]
fn a_step_that_failed_at_its_limit_is_verified_before_it_is_repeated() {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, failed(1), Event::RunResumed]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
    apply(&mut run, &[failed(1)]);
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 2 });
}

#[test]
fn an_interrupted_step_that_nothing_verifies_is_asked_about() {
    let mut run = begin(vec![Step { checks: Vec::new(), ..step(1) }]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, Event::RunResumed]);
    assert_eq!(run.next(), Next::Ask(Question::Interrupted { step: 1 }));
    apply(&mut run, &[Event::StepActed { step: 1 }]);
    assert_eq!(run.next(), Next::Verify { step: 1 });
}

#[test]
fn a_step_is_never_done_by_fewer_checks_than_it_has() {
    let checks = vec![Check::Shell(ShellCheck::new("a")), Check::Shell(ShellCheck::new("b"))];
    let mut run = begin(vec![Step { checks, ..step(1) }]);
    apply(&mut run, &[Event::StepStarted { step: 1 }]);
    assert_eq!(refused(&mut run, &passed(1)), "step 1 has checks without a result");
    let twice = Event::StepVerified {
        step: 1,
        results: vec![result(0, CheckVerdict::Passed), result(0, CheckVerdict::Passed)],
    };
    assert_eq!(refused(&mut run, &twice), "step 1 has checks without a result");
}

#[test]
fn a_human_review_pauses_and_needs_a_person() {
    let check = Check::HumanReview { prompt: "look".to_owned() };
    let mut run = begin(vec![Step { checks: vec![check], ..step(1) }, step(2)]);
    run.0.settings.auto_approve = true;
    let needs = CheckVerdict::NeedsHuman { prompt: "look".to_owned() };
    let verified = Event::StepVerified { step: 1, results: vec![result(0, needs)] };
    apply(&mut run, &[Event::StepStarted { step: 1 }, verified]);
    assert_eq!(run.status, RunStatus::Paused);
    assert_eq!(run.next(), Next::Ask(Question::Review { step: 1, prompt: "look".to_owned() }));
    let auto = Event::GateDecided { step: 1, decision: GateDecision::Approved, mode: Mode::Auto };
    assert_eq!(refused(&mut run, &auto), "the gate of step 1 needs a human decision");
    apply(&mut run, &[human(1, GateDecision::Rejected)]);
    assert!(matches!(run.next(), Next::Blocked(Blocker { rejected: true, .. })));
    // Resuming is not changing one's mind.
    apply(&mut run, &[Event::RunResumed]);
    assert_eq!(run.status, RunStatus::Blocked);
    assert!(matches!(run.next(), Next::Blocked(Blocker { rejected: true, .. })));
    apply(&mut run, &[human(1, GateDecision::Approved)]);
    assert_eq!(run.next(), Next::Start { step: 2, attempt: 1 });
}

#[test]
fn completion_needs_the_checks_to_hold_at_the_end() {
    let mut run = begin(vec![step(1), step(2)]);
    run.0.settings.options.reverify = true;
    let start = |step| Event::StepStarted { step };
    apply(&mut run, &[start(1), passed(1), start(2), passed(2)]);
    assert_eq!(run.next(), Next::Repeat);
    assert_eq!(
        refused(&mut run, &Event::RunFinalized),
        "the run cannot be finalized: its checks were not repeated"
    );
    let broken = result(0, CheckVerdict::Failed { reason: "exit code 1".to_owned() });
    apply(
        &mut run,
        &[Event::ChecksRepeated {
            repeated: 2,
            failures: vec![(1, broken)],
            warnings: Vec::new(),
            clean: false,
        }],
    );
    assert_eq!(run.status, RunStatus::Blocked);
    let Next::Blocked(blocker) = run.next() else { panic!("{:?}", run.next()) };
    assert_eq!(blocker.step, 1);
    apply(&mut run, &[Event::RunResumed, passed(1)]);
    assert_eq!(run.next(), Next::Repeat);
}

#[test]
fn a_verdict_that_does_not_pass_holds_the_run_up() {
    let mut run = begin(vec![step(1)]);
    run.0.settings.options.review_agent = Some("claude".to_owned());
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1)]);
    assert_eq!(run.next(), Next::Review { step: None });
    let review = |verdict| Event::ReviewFinished {
        step: None,
        verdict,
        findings: "BLOCK: x".to_owned(),
        base: None,
    };
    apply(&mut run, &[review(Verdict::Missing)]);
    assert_eq!(
        (run.status.as_str(), run.next()),
        ("paused", Next::Ask(Question::Verdict { step: None }))
    );
    assert!(refused(&mut run, &Event::RunFinalized).contains("its last review has not passed"));
    apply(&mut run, &[Event::RunResumed]);
    assert_eq!(run.next(), Next::Review { step: None });
    apply(&mut run, &[review(Verdict::Block), Event::VerdictAccepted]);
    assert_eq!(run.next(), Next::Finalize);
}

#[test]
fn approving_one_gate_does_not_unblock_another_step() {
    let mut run = begin(vec![Step { gate: Some(Gate::Human), ..step(1) }, step(2)]);
    let start = |step| Event::StepStarted { step };
    apply(&mut run, &[start(1), passed(1), human(1, GateDecision::Approved), start(2), failed(2)]);
    apply(&mut run, &[Event::StepBlocked { step: 2, reason: "no".to_owned() }]);
    apply(&mut run, &[human(1, GateDecision::Rejected), human(1, GateDecision::Approved)]);
    assert_eq!(run.status, RunStatus::Blocked);
}

#[test]
fn hostile_names_stay_inside_their_cells() {
    let name = "a | b \\ c `d` <e>".to_owned();
    let mut run = begin(vec![Step { name, ..step(1) }]);
    apply(&mut run, &[Event::StepStarted { step: 1 }]);
    let report = render_report(&run);
    let row = report.lines().find(|line| line.starts_with("|  1")).expect("a row");
    assert_eq!(row, "|  1   | a \\| b \\\\ c `d` <e> | → Running | 1 |");
    assert!(report.contains("→ Step 1: a | b \\\\ c \\`d\\` \\<e>"));
}

#[test]
fn summaries_follow_the_contract_of_each_platform() {
    let mut run = begin(vec![
        Step { repeat: until(3), ..step(1) },
        Step { gate: Some(Gate::Auto), name: "a|b".to_owned(), ..step(2) },
        step(3),
        step(4),
    ]);
    let start = |step| Event::StepStarted { step };
    let auto = Event::GateDecided { step: 2, decision: GateDecision::Approved, mode: Mode::Auto };
    apply(&mut run, &[start(1), failed(1), start(1), passed(1), start(2), passed(2), auto]);
    apply(&mut run, &[start(3), failed(3)]);
    assert_eq!(
        render_summary(&run, Platform::Codex),
        "Execution Summary\n\n✓ Step 1: Name 1 - Done (2 attempts)\n\
         ⚡ Step 2: a|b - Auto-approved (1 attempt)\n✗ Step 3: Name 3 - Failed (1 attempt)\n\
         · Step 4: Name 4 - Pending (0 attempts)\n"
    );
    assert_eq!(
        render_summary(&run, Platform::Claude),
        "| Step | Name | Status | Iterations |\n|------|------|--------|------------|\n\
         | 1 | Name 1 | ✓ Done | 2 |\n| 2 | a\\|b | ⚡ Auto-approved | - |\n\
         | 3 | Name 3 | ✗ Failed | 1 |\n| 4 | Name 4 | · Pending | 0 |\n"
    );
}

#[test]
fn a_step_whose_gate_is_undecided_waits_for_a_person() {
    let mut run = begin(vec![Step { gate: Some(Gate::Human), ..step(1) }, step(2)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1)]);
    let summary = render_summary(&run, Platform::Codex);
    assert!(summary.contains("⏸ Step 1: Name 1 - Waiting for you (1 attempt)\n"), "{summary}");
    assert!(step_list(&run).starts_with("  ⏸ Step 1: Name 1 (waits for you)\n"));
    let mut abandoned = run.clone();
    apply(&mut abandoned, &[Event::RunAbandoned { reason: "a".to_owned() }]);
    assert!(render_summary(&abandoned, Platform::Codex).contains("✓ Step 1: Name 1 - Done"));
    apply(&mut run, &[human(1, GateDecision::Approved)]);
    assert!(render_summary(&run, Platform::Codex).contains("✓ Step 1: Name 1 - Approved"));
}

#[test]
fn a_step_that_nothing_verified_is_shown_as_unchecked() {
    let unchecked = |number| Step { checks: Vec::new(), ..step(number) };
    let mut run = begin(vec![
        unchecked(1),
        Step { gate: Some(Gate::Auto), ..unchecked(2) },
        Step { gate: Some(Gate::Human), ..unchecked(3) },
        step(4),
    ]);
    let start = |step| Event::StepStarted { step };
    let done = |step| Event::StepVerified { step, results: Vec::new() };
    let auto = Event::GateDecided { step: 2, decision: GateDecision::Approved, mode: Mode::Auto };
    apply(&mut run, &[start(1), done(1), start(2), done(2), auto, start(3), done(3)]);
    apply(&mut run, &[human(3, GateDecision::Approved), start(4), passed(4)]);
    let lines: Vec<String> = run.steps.iter().map(|record| step_line(&run, record)).collect();
    assert_eq!(
        lines,
        [
            "○ Step 1: Name 1 (Done, unchecked)",
            "⚡ Step 2: Name 2 (auto-approved, unchecked)",
            "✓ Step 3: Name 3",
            "✓ Step 4: Name 4",
        ]
    );
    let summary = render_summary(&run, Platform::Codex);
    assert!(summary.contains("○ Step 1: Name 1 - Done, unchecked (1 attempt)\n"), "{summary}");
    assert!(summary.contains("⚡ Step 2: Name 2 - Auto-approved, unchecked (1 attempt)\n"));
    assert_eq!(run.unchecked_line().as_deref(), Some("2 of 4 steps unchecked"));
    apply(&mut run, &[Event::RunFinalized]);
    let report = render_report(&run);
    assert!(report.contains("**Steps:** 4 of 4 done, 2 of 4 steps unchecked"), "{report}");
    assert!(report.contains("- Step 1: unchecked\n- Step 2: unchecked\n- Step 3: no check;"));
    // A reviewer at a checkpoint counts for the steps up to it.
    run.0.reviews.reviewed_step = 1;
    assert!(run.is_checked(&run.steps[0]) && !run.is_checked(&run.steps[1]));
}

#[test]
fn a_record_that_no_run_can_have_is_not_restored() {
    let sound = begin(vec![step(1), step(2)]).0;
    assert_eq!(Run::restore(sound.clone()).map(|run| run.0), Ok(sound.clone()));
    let stray = CheckResult {
        check: 1,
        verdict: CheckVerdict::Passed,
        stdout: String::new(),
        stderr: String::new(),
        measured: None,
        at: None,
        warnings: Vec::new(),
        inputs: None,
    };
    type Change = Box<dyn Fn(&mut Record)>;
    let table: [(Change, &str); 7] = [
        (Box::new(|r| "../x".clone_into(&mut r.id)), "`run_id` is \"../x\""),
        (Box::new(|r| r.steps.clear()), "`steps` is empty, expected at least one step"),
        (Box::new(|r| r.steps.swap(0, 1)), "the step at place 1 has the number 2"),
        (
            Box::new(|r| r.steps[1].uncounted = 1),
            "step 2 has more uncounted attempts than attempts",
        ),
        (
            Box::new(|r| r.steps[1].step.depends_on = Some(vec![1, 2])),
            "step 2 depends on a step that does not come before it",
        ),
        (Box::new(|r| r.settings.max_parallel = 0), "`max_parallel` is 0, expected 1 to 16"),
        (
            Box::new(move |r| r.steps[0].results = vec![stray.clone()]),
            "step 1 has results that do not belong to its checks",
        ),
    ];
    for (change, expected) in table {
        let mut record = sound.clone();
        change(&mut record);
        assert_eq!(Run::restore(record).unwrap_err().to_string(), expected);
    }
}
