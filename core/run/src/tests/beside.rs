//! What people read about steps that work beside others, and about a run that nobody works on.

use super::*;
use onloop_syntax::time::Timestamp;

/// A step at its gate, one in a worktree of its own, and one that needs both.
fn at_a_gate() -> Run {
    let depends_on = |steps: &[u32]| Some(steps.to_vec());
    let steps = vec![
        Step { gate: Some(Gate::Human), ..step(1) },
        Step { depends_on: depends_on(&[]), ..step(2) },
        Step { depends_on: depends_on(&[1, 2]), ..step(3) },
    ];
    let plan = Plan::example("demo", steps).with(|parts| parts.max_parallel = 2);
    let mut run =
        begin_plan(plan, |beginning| beginning.place.worktree_path = Some("/w".to_owned()));
    let forked = Event::StepForked { step: 2, run: "f".to_owned(), base: "c".to_owned() };
    apply(&mut run, &[forked, Event::StepStarted { step: 1 }, Event::StepActed { step: 1 }]);
    run
}

#[test]
fn a_step_in_a_worktree_of_its_own_is_not_pending_while_the_run_waits() {
    let mut run = at_a_gate();
    assert_eq!(symbol_and_word(&run, &run.steps[1]), ("→", "Running"));
    apply(
        &mut run,
        &[passed(1), Event::RunPaused { reason: "its gate".to_owned(), interrupted: false }],
    );
    assert_eq!(symbol_and_word(&run, &run.steps[1]), ("→", "Running or ready to merge"));
    assert_eq!(run.status_summary().then.as_deref(), Some("the merge of step 2: Name 2"));
    assert_eq!(
        step_list(&run),
        "  ⏸ Step 1: Name 1 (waits for you)\n  → Step 2: Name 2 (running or ready to merge)\n  \
         · Step 3: Name 3 (after steps 1 and 2)\n"
    );
    assert!(render_report(&run).contains("| Name 3 (after steps 1 and 2) |"));
}

#[test]
fn nothing_runs_in_a_run_that_is_interrupted() {
    let mut run = at_a_gate();
    let killed = run.stopped();
    apply(&mut run, &[Event::RunPaused { reason: "interrupted".to_owned(), interrupted: true }]);
    for run in [run, killed] {
        assert_eq!(symbol_and_word(&run, &run.steps[0]), ("■", "Interrupted"));
        assert_eq!(symbol_and_word(&run, &run.steps[1]), ("·", "Pending"));
        assert!(step_list(&run).contains("  ■ Step 1: Name 1 (interrupted)\n"));
    }
}

#[test]
fn a_verification_that_is_due_is_due_since_the_agent_was_done() {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }]);
    let later = Timestamp::from_millis(run.last_update.as_millis() + 60_000);
    run.apply(later, &Event::StepActed { step: 1 }).expect("it acts");
    assert_eq!(run.status_summary().since, Some(later));
}
