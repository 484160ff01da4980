//! A pull request takes a completed run back to its agent, a bounded number of times.

use super::*;

const URL: &str = "https://example.org/pull/1";

fn followed(repair_limit: u32) -> Event {
    Event::PullRequestFollowed { url: URL.to_owned(), repair_limit }
}

fn seen(state: PullRequestState) -> Event {
    Event::PullRequestSeen { state, reason: String::new() }
}

fn left() -> Event {
    Event::PullRequestLeft { reason: "r".to_owned() }
}

fn returned(cause: RepairCause) -> Event {
    let (reason, commit) = ("it fails".to_owned(), "c".to_owned());
    let repair = Repair { cause, reason, commit, reviews: Vec::new() };
    Event::PullRequestReturned { step: 1, repair, output: "log".to_owned() }
}

fn publication() -> [Event; 2] {
    let pull_request = PullRequest::Create { target: "main".to_owned() };
    let (commit, remote) = ("c".to_owned(), "upstream".to_owned());
    let act = FinishAct::Publish { commit, remote, pull_request };
    let outcome = FinishOutcome {
        target_branch: Some("main".to_owned()),
        remote: Some("upstream".to_owned()),
        pr_url: Some(URL.to_owned()),
        ..FinishOutcome::new(Disposition::Published)
    };
    [
        Event::FinishIntended { act, notes: None, replace: false },
        Event::FinishRecorded { outcome, replace: false },
    ]
}

fn completed() -> Run {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1), Event::RunFinalized]);
    run
}

fn published() -> Run {
    let mut run = completed();
    apply(&mut run, &publication());
    run
}

/// Whether the run accepts the event, and survives storage with it.
fn takes(run: &mut Run, event: &Event) -> bool {
    let taken = run.apply(run.last_update, event).is_ok();
    assert_eq!(documents::run::read(&documents::run::write(run)).as_ref(), Ok(&*run));
    taken
}

#[test]
fn only_published_work_is_followed_and_only_while_nothing_else_happens() {
    assert!(!takes(&mut completed(), &followed(1)));
    let mut run = published();
    for event in [seen(PullRequestState::Green), left(), returned(RepairCause::Checks)] {
        assert!(!takes(&mut run, &event), "{event:?} before it is followed");
    }
    assert!(!run.pull_request_is_due() && takes(&mut run, &followed(1)));
    assert!(run.pull_request_is_due());
    assert_eq!(run.attention(), None, "a person is not needed");
    let tracked = run.pull_request.clone().expect("it is followed");
    assert_eq!((&*tracked.remote, tracked.target_branch.as_deref()), ("upstream", Some("main")));
    assert!(takes(&mut run, &seen(PullRequestState::Green)) && takes(&mut run, &left()));
    assert_eq!(run.attention().map(|attention| attention.kind()), Some(NoticeKind::PrGreen));
    assert!(!run.pull_request_is_due() && !takes(&mut run, &seen(PullRequestState::Red)));
}

#[test]
fn a_repair_runs_the_last_step_again_and_its_outcome_is_open_until_it_is_published_again() {
    let mut run = published();
    apply(&mut run, &[followed(1), seen(PullRequestState::Red)]);
    assert!(takes(&mut run, &returned(RepairCause::Checks)));
    assert_eq!((run.status, &run.finish, &run.finished_commit), (RunStatus::Running, &None, &None));
    assert_eq!(run.next(), Next::Start { step: 1, attempt: 2 });
    let failure = run.steps[0].last_failure.as_ref().expect("the agent is told why");
    assert_eq!((&*failure.reason, &*failure.output), ("it fails", "log"));
    assert!(!takes(&mut run, &seen(PullRequestState::Green)), "the agent works on it");
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1), Event::RunFinalized]);
    apply(&mut run, &publication());
    assert!(run.pull_request_is_due());
    assert!(!takes(&mut run, &returned(RepairCause::Conflict)), "one repair is used");
    assert!(takes(&mut run, &returned(RepairCause::Review)), "a review is not counted");
}

#[test]
fn a_run_that_is_to_have_a_pull_request_is_not_over_before() {
    let mut run = begin_as(vec![step(1)], Risk::Low, |beginning| beginning.pr_repairs = Some(3));
    assert!(!run.pull_request_is_due());
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1), Event::RunFinalized]);
    assert!(run.is_over() && run.is_open() && run.pull_request_is_due());
    apply(&mut run, &publication());
    assert!(run.pull_request_is_due(), "it is opened and not followed yet");
    apply(&mut run, &[followed(3), seen(PullRequestState::Merged), left()]);
    assert!(!run.is_open());
}
