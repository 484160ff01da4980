//! A person went back to a checkpoint: nothing works, or is verified, on work that is gone.

use super::checkpoints::taken;
use super::*;
use crate::{CheckpointMoment, Event, ForkUse, Next, Phase, Run, Stale, StepStatus};

/// A run that goes back to its beginning and continues.
fn go_back(run: &mut Run) {
    let pause = Event::RunPaused { reason: "stop".to_owned(), interrupted: false };
    apply(run, &[pause, Event::WorkRestored { to: "0".to_owned() }, Event::RunResumed]);
}

/// Step 1 is done, and step 3 needs it through step 2.
fn done_and_failed() -> Run {
    let retried = |number| Step { repeat: until(3), ..step(number) };
    let mut run = begin(vec![retried(1), retried(2), retried(3)]);
    let start = |step| Event::StepStarted { step };
    apply(&mut run, &[taken(CheckpointMoment::Begun, "a")]);
    apply(&mut run, &[start(1), passed(1), start(2), passed(2), start(3)]);
    run
}

#[test]
fn what_a_step_needs_is_verified_first_however_far_it_is() {
    let acted = Event::StepActed { step: 3 };
    let over = TurnRecord { ending: Some(TurnEnding::OverBudget), ..turn(3) };
    let table: [(&str, &[Event]); 4] = [
        ("it acts", &[]),
        ("its agent waits for a higher budget", &[Event::AgentEnded(over)]),
        ("its agent has ended", std::slice::from_ref(&acted)),
        ("it has failed", &[acted.clone(), failed(3)]),
    ];
    for (what, events) in table {
        let mut run = done_and_failed();
        apply(&mut run, events);
        go_back(&mut run);
        assert_eq!(run.stale_steps().collect::<Vec<_>>(), [1, 2], "{what}");
        assert_eq!(run.next(), Next::Verify { step: 1 }, "{what}");
        // Step 1 holds still, and step 2 is done again, with as many attempts as at first.
        apply(&mut run, &[passed(1)]);
        assert_eq!(run.next(), Next::Verify { step: 2 }, "{what}");
        apply(&mut run, &[failed(2)]);
        assert_eq!(run.next(), Next::Start { step: 2, attempt: 2 }, "{what}");
        assert_eq!(run.steps[1].counted_attempts(), 0, "{what}");
        apply(&mut run, &[Event::StepStarted { step: 2 }, passed(2)]);
        assert!(run.steps[2].stale.is_none() && run.next() != Next::Finalize, "{what}");
        assert!(!matches!(run.next(), Next::Act { .. }), "{what}: {:?}", run.next());
    }
}

#[test]
fn a_step_that_is_done_again_is_not_undone() {
    let mut run = done_and_failed();
    apply(&mut run, &[failed(3)]);
    let redone = Event::StepReopened { step: 3, reason: "r".to_owned() };
    apply(&mut run, &[redone]);
    assert_eq!(run.steps[0].stale, Some(Stale::Again));
    assert_eq!(run.next(), Next::Start { step: 3, attempt: 2 });
}

#[test]
fn a_step_whose_fork_is_dropped_begins_anew_beside_others_and_its_attempts_count() {
    let free = |number| Step { depends_on: Some(Vec::new()), ..step(number) };
    let plan = Plan::example("demo", vec![free(1), free(2)]).with(|parts| parts.max_parallel = 2);
    let mut run =
        begin_plan(plan, |beginning| beginning.place.worktree_path = Some("/w".to_owned()));
    let forked = |step| Event::StepForked { step, run: "f".to_owned(), base: "c".to_owned() };
    let dropped = |step| Event::ForkDropped {
        step,
        reason: "r".to_owned(),
        used: Box::new(ForkUse { attempts: 2, ..ForkUse::default() }),
    };
    apply(&mut run, &[taken(CheckpointMoment::Begun, "a")]);
    apply(&mut run, &[forked(1), forked(2), Event::StepStarted { step: 1 }]);
    go_back(&mut run);
    assert_eq!(run.steps[0].status, StepStatus::InProgress(Phase::Interrupted));
    apply(&mut run, &[dropped(1), dropped(2)]);
    assert_eq!(run.ready_to_fork(), [1, 2]);
    for record in &run.steps {
        let counts = (record.attempts, record.counted_attempts(), record.has_begun());
        assert_eq!(counts, (2, 0, false), "step {}", record.step.number);
    }
    assert!(!run.is_changing_its_worktree());
    apply(&mut run, &[forked(1)]);
    assert_eq!(run.steps[0].fork.as_ref().map(|fork| fork.run.as_str()), Some("f"));
}
