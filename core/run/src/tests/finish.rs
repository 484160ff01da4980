//! What becomes of the work after a run.

use super::*;

#[test]
fn older_generations_wait_for_their_disposition_with_what_they_proved() {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1), Event::RunFinalized]);
    run.0.status = RunStatus::ReadyToFinish;
    run.0.completed_at = None;
    run.0.settings.options.reverify = true;
    let kept = FinishOutcome::new(Disposition::Kept);
    let record = Event::FinishRecorded { outcome: kept, replace: false };
    assert_eq!(
        refused(&mut run, &record),
        "the work cannot be kept: the record does not prove that it is complete \
         (verification_missing_or_failed)"
    );
    run.0.settings.plan_digest = String::new();
    apply(&mut run, &[record]);
    assert_eq!((run.status.as_str(), run.completed_at), ("completed", Some(run.last_update)));
}

#[test]
fn a_blocked_run_that_was_kept_can_go_on_and_one_that_was_discarded_cannot() {
    let mut run = begin(vec![step(1)]);
    let blocked = Event::StepBlocked { step: 1, reason: "r".to_owned() };
    let kept = FinishOutcome::new(Disposition::Kept);
    let keep = Event::FinishRecorded { outcome: kept, replace: false };
    apply(&mut run, &[blocked.clone(), keep, Event::RunResumed]);
    assert_eq!(run.finish, None, "its outcome is open again");
    let discard = |replace| Event::FinishIntended {
        act: FinishAct::Discard { commit: None },
        notes: None,
        replace,
    };
    apply(&mut run, &[blocked, discard(false)]);
    assert_eq!(
        refused(&mut run, &Event::RunResumed),
        "the work is being discarded, and that has not ended"
    );
    let outcome = FinishOutcome::new(Disposition::Discarded);
    apply(&mut run, &[Event::FinishRecorded { outcome, replace: false }]);
    assert_eq!(run.next(), Next::Finished);
    assert_eq!(run.has_no_files(), Some(FinishRefusal::Discarded));
    let restored = Event::WorkRestored { to: "0".to_owned() };
    for event in [Event::RunResumed, restored, discard(true)] {
        assert_eq!(refused(&mut run, &event), "the work was discarded, and nothing of it is left");
    }
}
