//! Which checkpoints lie around a step, and what is left of a run that comes elsewhere without some.

use super::*;
use crate::{Checkpoint, CheckpointMoment, Event, GateDecision, Next, Run};
use onloop_effect::KeptWork;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Gate, Step};

pub(super) fn taken(moment: CheckpointMoment, commit: &str) -> Event {
    let left_out = Vec::new();
    let (tree, programs) = (format!("tree of {commit}"), "p".to_owned());
    let kept = KeptWork { commit: commit.to_owned(), tree, programs, left_out };
    Event::CheckpointTaken(Checkpoint::of(moment, kept))
}

#[test]
fn a_step_lies_between_the_checkpoint_before_it_and_its_last_one() {
    use CheckpointMoment::{Acted, Begun, Undone, Verified};
    let mut run = begin(vec![step(1), step(2)]);
    for (moment, commit) in [
        (Begun, "a"),
        (Acted { step: 1, attempt: 1 }, "b"),
        (Acted { step: 1, attempt: 2 }, "c"),
        (Verified { step: 1, attempt: 2 }, "d"),
        (Acted { step: 2, attempt: 1 }, "e"),
        (Undone { number: 1 }, "f"),
    ] {
        run.apply(Timestamp::EPOCH, &taken(moment, commit)).expect("steps that exist");
    }
    let table = [
        (None, Some(("a", "f"))),
        (Some("0"), Some(("a", "a"))),
        (Some("1"), Some(("a", "d"))),
        (Some("1-1"), Some(("a", "b"))),
        (Some("1-2"), Some(("b", "d"))),
        (Some("2"), Some(("d", "e"))),
        (Some("undo-1"), Some(("e", "f"))),
        (Some("3"), None),
        (Some("1-3"), None),
        (Some(""), None),
    ];
    for (name, expected) in table {
        let found = run.checkpoints_around(name);
        let found = found.map(|(from, to)| (from.commit.as_str(), to.commit.as_str()));
        assert_eq!(found, expected, "{name:?}");
    }
    assert_eq!(run.checkpoint_named("1").map(|c| c.commit.as_str()), Some("d"));
    assert_eq!(run.verified_checkpoint().map(|c| c.commit.as_str()), Some("d"));
    assert_eq!(run.next_undone(), Undone { number: 2 });
    let stray = taken(Acted { step: 3, attempt: 1 }, "x");
    assert!(run.apply(Timestamp::EPOCH, &stray).is_err());
}

/// The files that an attempt leaves, what its check or its agent says, and the exit code.
type Attempt = (&'static str, &'static str, u32);

/// Whether an attempt after these would be the same again, where the events of one end with `failing`.
fn repeats(attempts: &[Attempt], failing: impl Fn(&str, u32) -> Vec<Event>) -> bool {
    let mut run = begin(vec![Step { repeat: until(5), ..step(1) }]);
    apply(&mut run, &[taken(CheckpointMoment::Begun, "a")]);
    for (attempt, (left, output, code)) in (1..).zip(attempts) {
        let acted = taken(CheckpointMoment::Acted { step: 1, attempt }, left);
        apply(&mut run, &[Event::StepStarted { step: 1 }, acted]);
        apply(&mut run, &failing(output, *code));
    }
    run.steps[0].repeats().is_some()
}

#[test]
fn attempts_that_change_nothing_and_fail_alike_are_repetitions() {
    let check = |output: &str, code: u32| {
        let verdict = CheckVerdict::Failed { reason: format!("exit code {code}") };
        let result = CheckResult { stdout: output.to_owned(), ..result(0, verdict) };
        vec![Event::StepActed { step: 1 }, Event::StepVerified { step: 1, results: vec![result] }]
    };
    let agent = |output: &str, code: u32| {
        let (reason, output) = (format!("exit code {code}"), output.to_owned());
        vec![Event::ActionFailed { step: 1, reason, output }]
    };
    let table: [(&str, &[Attempt], bool); 5] = [
        ("nothing changed", &[("a", "12 ms: no", 1), ("a", "7 ms: no", 1)], true),
        ("the first changed", &[("b", "no", 1), ("b", "no", 1)], false),
        ("then nothing changed", &[("b", "no", 1), ("b", "no", 1), ("b", "no", 1)], true),
        ("other words", &[("a", "no", 1), ("a", "not yet", 1)], false),
        ("another exit code", &[("a", "no", 1), ("a", "no", 2)], false),
    ];
    for (why, attempts, expected) in table {
        assert_eq!(repeats(attempts, check), expected, "a check: {why}");
        assert_eq!(repeats(attempts, agent), expected, "the agent: {why}");
    }
}

#[test]
fn a_done_step_lacks_its_checkpoint_until_that_is_taken_after_its_verification() {
    use CheckpointMoment::{Acted, Verified};
    let mut run = begin(vec![step(1), Step { repeat: until(2), ..step(2) }]);
    let acted = taken(Acted { step: 1, attempt: 1 }, "a");
    apply(&mut run, &[Event::StepStarted { step: 1 }, Event::StepActed { step: 1 }, acted]);
    assert_eq!((run.done_without_checkpoint(), run.is_changing_its_worktree()), (vec![], true));
    apply(&mut run, &[passed(1)]);
    assert_eq!((run.done_without_checkpoint(), run.is_changing_its_worktree()), (vec![1], false));
    let restored = Event::WorkRestored { to: "1-1".to_owned() };
    let mut undone = run.clone();
    apply(&mut undone, &[restored]);
    assert_eq!(undone.done_without_checkpoint(), [] as [u32; 0], "its work may be gone");
    apply(&mut run, &[Event::StepStarted { step: 2 }]);
    assert_eq!((run.done_without_checkpoint(), run.is_changing_its_worktree()), (vec![1], true));
    apply(&mut run, &[taken(Verified { step: 1, attempt: 1 }, "b")]);
    assert_eq!(run.done_without_checkpoint(), [] as [u32; 0]);
    // A failed attempt stays in the worktree.
    apply(&mut run, &[Event::StepActed { step: 2 }, failed(2)]);
    assert!(run.is_changing_its_worktree());
}

fn arrived(run: &mut Run, lost: &[&str]) {
    let lost_checkpoints = lost.iter().map(|name| (*name).to_owned()).collect();
    let (execution_root, started_in) = ("/y".to_owned(), Some("/y".to_owned()));
    apply(run, &[Event::RunMoved { execution_root, checkout: true, started_in, lost_checkpoints }]);
    if !run.is_over() {
        apply(run, &[Event::RunResumed]);
    }
}

#[test]
fn what_was_verified_and_left_behind_is_verified_again_and_decided_anew() {
    use CheckpointMoment::{Acted, Begun, Verified};
    let start = |step| Event::StepStarted { step };
    let mut run = begin(vec![
        Step { gate: Some(Gate::Human), repeat: until(2), ..step(1) },
        Step { repeat: until(2), ..step(2) },
    ]);
    apply(&mut run, &[taken(Begun, "a"), start(1), Event::StepActed { step: 1 }]);
    let acted = run.clone();
    apply(&mut run, &[passed(1), human(1, GateDecision::Approved)]);
    for mut run in [acted, run.clone()] {
        arrived(&mut run, &[]);
        assert_eq!(run.next(), Next::Verify { step: 1 });
        assert_eq!((run.steps[0].gate, run.steps[0].completed_at), (None, None));
        assert!(run.steps[0].results.is_empty());
        // The attempt that was cut short is none.
        for attempt in [2, 3] {
            apply(&mut run, &[failed(1)]);
            assert_eq!(run.next(), Next::Start { step: 1, attempt });
            apply(&mut run, &[start(1), Event::StepActed { step: 1 }]);
        }
        apply(&mut run, &[failed(1)]);
        assert!(matches!(run.next(), Next::Block { step: 1, .. }), "{:?}", run.next());
    }
    // What a checkpoint has stays, and so does what was decided about it.
    let verified = Verified { step: 1, attempt: 1 };
    apply(&mut run, &[taken(Acted { step: 1, attempt: 1 }, "b"), taken(verified, "c"), start(2)]);
    apply(&mut run, &[Event::StepActed { step: 2 }]);
    apply(&mut run, &[taken(Acted { step: 2, attempt: 1 }, "d"), passed(2)]);
    let (mut with, mut without) = (run.clone(), run);
    arrived(&mut with, &[]);
    assert_eq!((with.next(), with.checkpoints.len()), (Next::Finalize, 3));
    arrived(&mut without, &["2-1"]);
    assert_eq!((without.next(), without.checkpoints.len()), (Next::Verify { step: 2 }, 2));
    assert!(without.steps[0].gate.is_some());
    let said = without.events.iter().rev().nth(1).map(|entry| entry.text.as_str());
    assert_eq!(said, Some("↻ Step 2: To be verified again: its work was left behind"));
    // Of a run that is over nothing is said any more.
    apply(&mut with, &[Event::RunFinalized]);
    arrived(&mut with, &["2-1"]);
    assert_eq!((with.next(), with.status.as_str()), (Next::Finished, "completed"));
}
