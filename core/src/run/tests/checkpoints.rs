//! Which checkpoints lie around a step.

use super::{begin, step};
use crate::effect::KeptWork;
use crate::run::{Checkpoint, CheckpointMoment, Event};
use crate::time::Timestamp;

fn taken(moment: CheckpointMoment, commit: &str) -> Event {
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
