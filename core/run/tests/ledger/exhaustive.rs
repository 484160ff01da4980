//! Every state that small plans can reach, by every event, in any order.
//!
//! Two steps cover every pair of neighbours; more only repeats them.

use std::collections::{BTreeSet, VecDeque};

use super::*;

/// States visited before a plan counts as too large for this test.
const STATES: usize = 60_000;

/// Events that are tried in every state.
fn candidates(run: &Run) -> Vec<Event> {
    let mut events = vec![
        Event::VerdictAccepted,
        Event::RunResumed,
        Event::RunPaused { reason: "p".to_owned(), interrupted: false },
        Event::RunFinalized,
        repeated(Vec::new(), false),
        repeated(Vec::new(), true),
    ];
    for verdict in [Verdict::Ready, Verdict::Block] {
        let findings = String::new();
        events.push(Event::ReviewFinished { step: None, verdict, findings, base: None });
    }
    for record in &run.steps {
        let step = record.step.number;
        let (reason, output) = ("r".to_owned(), String::new());
        events.push(Event::StepStarted { step });
        events.push(Event::StepActed { step });
        events.push(Event::ActionFailed { step, reason: reason.clone(), output });
        events.push(Event::StepBlocked { step, reason: reason.clone() });
        events.push(Event::StepReopened { step, reason: reason.clone() });
        events.push(Event::StepRedone { step, reason });
        events.push(Event::FindingsReturned { step });
        events.push(Event::BaselineTaken { step, passed: Vec::new() });
        events.extend(forking(run, step));
        events.push(failed(step));
        events.push(Event::StepVerified { step, results: results_of(record) });
        let broken = result(0, CheckVerdict::Failed { reason: "r".to_owned() });
        events.extend([false, true].map(|clean| repeated(vec![(step, broken.clone())], clean)));
        for decision in [GateDecision::Approved, GateDecision::Rejected] {
            for mode in [Mode::Auto, Mode::Human] {
                events.push(Event::GateDecided { step, decision, mode });
            }
        }
    }
    events
}

/// Events about the fork of a step, where steps may work side by side.
fn forking(run: &Run, step: u32) -> Vec<Event> {
    if !run.may_fork() {
        return Vec::new();
    }
    vec![
        Event::StepForked { step, run: "f".to_owned(), base: "c".to_owned() },
        merged(step),
        Event::ForkDropped { step, reason: "r".to_owned(), used: Box::default() },
    ]
}

fn merged(step: u32) -> Event {
    let used = ForkUse { attempts: 1, ..ForkUse::default() };
    let (commit, conflicts) = ("c".to_owned(), Vec::new());
    Event::ForkMerged(Box::new(ForkMerge { step, commit, conflicts, failure: None, used }))
}

fn repeated(failures: Vec<(u32, CheckResult)>, clean: bool) -> Event {
    Event::ChecksRepeated { repeated: 1, failures, warnings: Vec::new(), clean }
}

/// Events about what becomes of the work.
fn finishing() -> Vec<Event> {
    let mut events = Vec::new();
    events.push(Event::FinishAbandoned { reason: "r".to_owned() });
    for act in acts() {
        let outcome = FinishOutcome::new(act.disposition());
        for replace in [false, true] {
            let (act, outcome) = (act.clone(), outcome.clone());
            events.push(Event::FinishIntended { act, notes: None, replace });
            events.push(Event::FinishRecorded { outcome, replace });
        }
    }
    let kept = FinishOutcome::new(Disposition::Kept);
    events.push(Event::FinishRecorded { outcome: kept.clone(), replace: false });
    events.push(Event::FinishRecorded { outcome: kept, replace: true });
    events
}

fn acts() -> [FinishAct; 3] {
    let commit = "c".to_owned();
    [
        FinishAct::Merge { commit: commit.clone(), target: "main".to_owned(), pull_request: None },
        FinishAct::Publish {
            commit: commit.clone(),
            remote: "origin".to_owned(),
            pull_request: PullRequest::Create { target: "main".to_owned() },
        },
        FinishAct::Discard { commit: Some(commit) },
    ]
}

/// Results with which the step is done, or waits for a person.
fn results_of(record: &StepRecord) -> Vec<CheckResult> {
    let verdict = |check: &Check| match check {
        Check::HumanReview { prompt } => CheckVerdict::NeedsHuman { prompt: prompt.clone() },
        Check::Shell(_) | Check::Browser { .. } | Check::Artifact { .. } => CheckVerdict::Passed,
    };
    let results = record.step.checks.iter().enumerate();
    results.map(|(index, check)| result(index as u32, verdict(check))).collect()
}

/// An event that does what `next` asks for.
fn follow(run: &Run) -> Option<Event> {
    let approved = |step, mode| Event::GateDecided { step, decision: GateDecision::Approved, mode };
    let results = |step: u32| results_of(run.step(step).expect("`next` names steps that exist"));
    if let Some(intent) = &run.finish_intent {
        let outcome = FinishOutcome::new(intent.act.disposition());
        return Some(Event::FinishRecorded { outcome, replace: false });
    }
    Some(match run.next() {
        Next::Start { step, .. } => Event::StepStarted { step },
        Next::Act { step } => match run.step(step).and_then(|r| r.fork.as_ref()).map(|f| f.state) {
            Some(ForkState::Working) => merged(step),
            Some(ForkState::Outdated) => {
                Event::ForkDropped { step, reason: "r".to_owned(), used: Box::default() }
            }
            Some(ForkState::Merging | ForkState::Merged) | None => Event::StepActed { step },
        },
        Next::Ask(Question::Interrupted { step }) => Event::StepActed { step },
        Next::Verify { step } => Event::StepVerified { step, results: results(step) },
        Next::Approve { step, .. } => approved(step, Mode::Auto),
        Next::Block { step, reason } => Event::StepBlocked { step, reason },
        Next::Review { step } => Event::ReviewFinished {
            step,
            verdict: Verdict::Ready,
            findings: String::new(),
            base: None,
        },
        Next::Ask(Question::Gate { step } | Question::Review { step, .. }) => {
            approved(step, Mode::Human)
        }
        Next::Ask(Question::Verdict { .. }) => Event::VerdictAccepted,
        Next::Ask(Question::Budget { .. }) => Event::BudgetsChanged(Budgets::default()),
        Next::Repeat => repeated(Vec::new(), run.settings.evidence.verify_clean),
        Next::Finalize => Event::RunFinalized,
        Next::Blocked(blocker) if blocker.rejected => approved(blocker.step, Mode::Human),
        Next::Blocked(_) => Event::RunResumed,
        Next::Finished => return None,
    })
}

/// What distinguishes two states; counters and times do not, beyond the first few attempts.
fn key(run: &Run) -> String {
    let mut key =
        format!("{:?}{:?}{}{}", run.status, run.reviews, run.reverified, run.verified_clean);
    key += &format!("{:?}", run.finish.as_ref().map(|finish| finish.outcome.disposition));
    key += &format!("{:?}", run.finish_intent.as_ref().map(|intent| &intent.act));
    for record in &run.steps {
        let used = record.attempts.saturating_sub(record.uncounted).min(3);
        let decision = record.gate.map(|gate| gate.decision);
        let fork = record.fork.as_ref().map(|fork| fork.state);
        key += &format!("{:?}{used}{decision:?}{}{fork:?}", record.status, record.is_stale());
    }
    key
}

fn explore(first: Run) -> usize {
    explore_with(first, &[])
}

/// Tries the events `work` as well in every state.
fn explore_with(first: Run, work: &[Event]) -> usize {
    let mut seen = BTreeSet::from([key(&first)]);
    let mut complete = BTreeSet::new();
    let mut queue = VecDeque::from([first]);
    while let Some(run) = queue.pop_front() {
        assert!(seen.len() < STATES, "too many states");
        survives_storage(&run);
        has_a_way_on(&run, &mut complete);
        let at = Timestamp::from_millis(run.last_update.as_millis() + 1000);
        let mut after = run.clone();
        for event in candidates(&run).into_iter().chain(work.iter().cloned()) {
            match after.apply(at, &event) {
                Err(_) => assert_eq!(after, run, "a refused event changes nothing: {event:?}"),
                Ok(()) => {
                    keeps_its_promises(&run, &event, &after);
                    let reached = std::mem::replace(&mut after, run.clone());
                    if seen.insert(key(&reached)) {
                        queue.push_back(reached);
                    }
                }
            }
        }
    }
    seen.len()
}

fn keeps_its_promises(before: &Run, event: &Event, after: &Run) {
    assert_eq!(after.revision, before.revision + 1, "{event:?}");
    keeps_its_outcome(before, event, after);
    for record in &after.steps {
        let used = record.attempts - record.uncounted;
        assert!(used <= record.limit(), "attempts beyond the limit after {event:?}");
    }
    keeps_forks_apart(before, event, after);
    if after.status == RunStatus::Completed {
        for record in &after.steps {
            assert_eq!(record.status, StepStatus::Done, "completed with an open step");
            let approved = record.gate.is_some_and(|g| g.decision == GateDecision::Approved);
            let open = gate_rule(after, record) == GateRule::Open;
            assert!(open || approved, "completed with an open gate");
        }
        assert!(after.reviews.blocking.is_none(), "completed against a verdict");
        assert_eq!(after.stale_step(), None, "completed with a proof older than the work");
        assert!(after.reverified || !after.settings.options.reverify, "completed unconfirmed");
        let is_clean = after.reverified && after.verified_clean;
        assert!(is_clean || !after.settings.evidence.verify_clean, "completed on the worktree");
    }
}

/// A fork begins when what it depends on is done, and nothing comes of its step before it is merged.
fn keeps_forks_apart(before: &Run, event: &Event, after: &Run) {
    if let Event::StepForked { step, .. } = event {
        for needed in before.step(*step).expect("it was accepted").depends_on() {
            let record = before.step(needed).expect("it is an earlier one");
            assert_eq!(record.status, StepStatus::Done, "step {step} forks before step {needed}");
        }
    }
    for (step, _) in after.forked_steps() {
        let status = &after.step(step).expect("it has a fork").status;
        let is_open = !matches!(status, StepStatus::Done | StepStatus::InProgress(Phase::Acted));
        assert!(is_open, "step {step} is {status:?} before its fork is merged, after {event:?}");
        assert_ne!(after.status, RunStatus::Completed, "completed with a fork");
    }
}

/// Once a run has ended, only its outcome changes, and nothing is done without being intended. Only
/// `replace` changes an outcome, except `kept`, which waits for another one.
fn keeps_its_outcome(before: &Run, event: &Event, after: &Run) {
    let recorded = before.finish.as_ref().map(|finish| finish.outcome.disposition);
    let is_open = matches!(recorded, None | Some(Disposition::Kept));
    let about_outcome = match event {
        Event::FinishIntended { act, replace, .. } => {
            assert!(is_open || *replace, "{event:?} over {:?}", before.finish);
            assert_ended_for(before, act.disposition());
            true
        }
        Event::FinishRecorded { outcome, replace } => {
            let intended = before.finish_intent.as_ref().map(|intent| intent.act.disposition());
            assert_eq!(intended.unwrap_or(Disposition::Kept), outcome.disposition);
            assert!(is_open || *replace || intended.is_some());
            assert_ended_for(before, outcome.disposition);
            true
        }
        Event::FinishAbandoned { .. } => true,
        _ => false,
    };
    if about_outcome {
        assert_eq!(before.steps, after.steps, "{event:?}");
        assert_eq!(before.status, after.status, "{event:?}");
    } else {
        // What was done can be verified or done again before it is handed on.
        let again = matches!(event, Event::ChecksRepeated { .. } | Event::StepRedone { .. })
            && before.may_be_handed_on();
        let moved = matches!(event, Event::RunMoved { .. });
        assert!(!before.is_over() || again || moved, "a finished run accepted {event:?}");
        assert!(before.finish_intent.is_none() || moved, "{event:?} while work is disposed of");
        if moved && before.status.is_finished() {
            assert_eq!((&before.steps, before.status), (&after.steps, after.status));
        }
    }
    assert!(!before.is_discarded() || after.is_discarded(), "{event:?} brought the work back");
}

fn assert_ended_for(run: &Run, disposition: Disposition) {
    let blocked_will_do = matches!(disposition, Disposition::Kept | Disposition::Discarded);
    let ended =
        run.status == RunStatus::Completed || (run.status == RunStatus::Blocked && blocked_will_do);
    assert!(ended, "{disposition:?} of a run that is {}", run.status.as_str());
}

fn survives_storage(run: &Run) {
    let read =
        documents::run::read(&documents::run::write(run)).expect("what we write we can read");
    assert_eq!(read, *run);
}

/// Following `next` from any state completes the run: there is no dead end. States of which that is
/// known are in `complete`.
fn has_a_way_on(run: &Run, complete: &mut BTreeSet<String>) {
    let mut run = run.clone();
    let mut way = Vec::new();
    for _ in 0..60 {
        let key = key(&run);
        if complete.contains(&key) {
            complete.extend(way);
            return;
        }
        way.push(key);
        // A person continues what is paused, as `onloop resume` does.
        if run.status == RunStatus::Paused
            && run.finish_intent.is_none()
            && !matches!(run.next(), Next::Ask(Question::Gate { .. } | Question::Review { .. }))
            && run.reviews.blocking.is_none()
        {
            run.apply(run.last_update, &Event::RunResumed).expect("a paused run can be resumed");
        }
        let Some(event) = follow(&run) else {
            complete.extend(way);
            return;
        };
        let next = run.next();
        run.apply(run.last_update, &event)
            .unwrap_or_else(|refusal| panic!("{next:?} in {:?}: {refusal}", way.last()));
    }
    panic!("sixty events do not complete the run; next is {:?}", run.next());
}

#[test]
fn plain_steps() {
    assert!(explore(begin(vec![step(1), Step { repeat: until(2), ..step(2) }])) > 100);
}

#[test]
#[ignore = "only with --all"]
fn gates_and_human_reviews() {
    let review = Check::HumanReview { prompt: "look".to_owned() };
    let steps =
        vec![Step { gate: Some(Gate::Human), ..step(1) }, Step { checks: vec![review], ..step(2) }];
    assert!(explore(begin(steps.clone())) > 100);
    assert!(explore(begin_as(steps, Risk::High, |_| {})) > 100);
}

#[test]
fn reviews_and_repeated_checks() {
    let steps = vec![Step { gate: Some(Gate::Auto), ..step(1) }];
    let run = begin_as(steps, Risk::Low, |beginning| {
        beginning.reverify = true;
        beginning.review_agent = Some("claude".to_owned());
    });
    assert!(explore(run) > 50);
}

#[test]
#[ignore = "only with --all"]
fn checks_on_a_clean_checkout() {
    let steps = vec![Step { repeat: until(2), ..step(1) }, step(2)];
    let plan = Plan::example("demo", steps);
    let plan = plan.with(|parts| parts.evidence.verify_clean = true);
    for reverify in [false, true] {
        let run = begin_plan(plan.clone(), |beginning| beginning.reverify = reverify);
        assert!(explore(run) > 50);
    }
}

#[test]
#[ignore = "only with --all"]
fn work_that_is_left_behind_anywhere() {
    let moved = Event::RunMoved {
        execution_root: "/x".to_owned(),
        checkout: true,
        started_in: Some("/x".to_owned()),
        lost_checkpoints: Vec::new(),
    };
    let review = Check::HumanReview { prompt: "look".to_owned() };
    let gated = Step { gate: Some(Gate::Human), repeat: until(2), ..step(1) };
    let steps = vec![gated, Step { checks: vec![review], ..step(2) }];
    let run = begin_as(steps, Risk::Low, |beginning| beginning.reverify = true);
    assert!(explore_with(run, &[moved]) > 100);
}

#[test]
fn what_becomes_of_the_work() {
    let work = finishing();
    assert!(explore_with(begin(vec![Step { repeat: until(2), ..step(1) }]), &work) > 100);
    assert!(explore_with(begin(vec![Step { gate: Some(Gate::Human), ..step(1) }]), &work) > 100);
}

#[test]
fn a_step_beside_others() {
    // A second step multiplies the states by hundreds.
    assert!(explore(side_by_side(vec![Step { repeat: until(2), ..step(1) }])) > 200);
}
