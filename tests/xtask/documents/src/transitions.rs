//! The transition table. Every event is applied to a run in every state, so the document shows what
//! the code does.

use onloop_core::run::{
    Beginning, CheckResult, CheckVerdict, Disposition, Event, FinishOutcome, GateDecision, Mode,
    Next, Question, Run, Verdict,
};
use onloop_core::workflow::{self, Budgets};

/// `docs/transitions.md`.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "# Transitions\n\n\
         `cargo xtask generate` writes this page: it applies each event to a run in each state. Do not edit it.\n\n\
         Only events change a run. A run refuses an event that does not fit its state, and then nothing changes.\n\
         `onloop run`, `onloop resume` and `onloop next` ask the same function what comes next.\n\n\
         In the table, step 1 has one check and at most two attempts, and step 2 follows it.\n\n\
         | state of the run | what comes next | events that it accepts |\n| --- | --- | --- |\n",
    );
    for State { name, run } in states() {
        let accepts = |event: &Event| run.clone().apply(run.last_update, event).is_ok();
        let accepted: Vec<_> = events().into_iter().filter(|(_, event)| accepts(event)).collect();
        let accepted: Vec<_> = accepted.iter().map(|(name, _)| *name).collect();
        let (next, accepted) = (next_words(&run.next()), accepted.join(", "));
        text.push_str(&format!("| {name} | {next} | {accepted} |\n"));
    }
    text
}

/// A run in a state that has a name.
struct State {
    name: &'static str,
    run: Run,
}

/// The states, each reached by the events that lead there.
fn states() -> Vec<State> {
    use Event::{GateDecided, RunFinalized, RunPaused, RunResumed, StepActed, StepStarted};
    let started = StepStarted { step: 1 };
    let acted = StepActed { step: 1 };
    let rejected = GateDecided { step: 1, decision: GateDecision::Rejected, mode: Mode::Human };
    let paused = RunPaused { reason: "interrupted".to_owned(), interrupted: true };
    let after = |steps: &[Event]| reach(begin("", None), steps);
    let gated = |steps: &[Event]| reach(begin("gate: human\n", None), steps);
    let reviewed = |steps: &[Event]| reach(begin("", Some("reviewer")), steps);
    let with_baseline = |steps: &[Event]| reach(begin("baseline: true\n", None), steps);
    let bounded = |steps: &[Event]| {
        let budgets = Budgets { total_attempts: Some(1), ..Budgets::default() };
        let first = [Event::BudgetsChanged(budgets)];
        reach(begin("", None), &[&first, steps].concat())
    };
    let to_the_end = [started.clone(), passed(1), StepStarted { step: 2 }, passed(2)];
    let blocked = Event::ReviewFinished {
        step: None,
        verdict: Verdict::Block,
        findings: String::new(),
        base: None,
    };
    let with_end = |more: &[Event]| [to_the_end.as_slice(), more].concat();
    let repeated = Event::ChecksRepeated {
        repeated: 2,
        failures: Vec::new(),
        warnings: Vec::new(),
        clean: false,
    };
    let reopened = [
        Event::StepBlocked { step: 2, reason: "why".to_owned() },
        Event::StepReopened { step: 2, reason: "why".to_owned() },
        StepStarted { step: 2 },
        passed(2),
    ];
    let again = [&to_the_end[..3], &reopened].concat();
    let rows = [
        ("step 1 pending", after(&[])),
        ("step 1: the agent runs", after(std::slice::from_ref(&started))),
        ("step 1: its checks run before the agent", with_baseline(std::slice::from_ref(&started))),
        ("step 1: the agent ended", after(&[started.clone(), acted])),
        ("step 1 failed, attempts left", after(&[started.clone(), failed(1)])),
        (
            "step 1 failed, no attempts left",
            after(&[started.clone(), failed(1), started.clone(), failed(1)]),
        ),
        (
            "step 1 blocked",
            after(&[started.clone(), Event::StepBlocked { step: 1, reason: "why".to_owned() }]),
        ),
        ("step 1 waits for a human review", after(&[started.clone(), needs_human(1)])),
        (
            "step 1: human review rejected",
            after(&[started.clone(), needs_human(1), rejected.clone()]),
        ),
        ("step 1 done, its gate is open", gated(&[started.clone(), passed(1)])),
        ("step 1 done, its gate was rejected", gated(&[started.clone(), passed(1), rejected])),
        ("step 1 done", after(&[started.clone(), passed(1)])),
        ("step 1 done, step 2 done again", after(&again)),
        ("paused while the agent ran", after(&[started.clone(), paused.clone()])),
        ("resumed; the agent may have run", after(&[started, paused, RunResumed])),
        ("every step done", after(&to_the_end)),
        ("every step done, a review is asked for", reviewed(&to_the_end)),
        ("the final review was not ready", reviewed(&with_end(&[blocked]))),
        (
            "every step done, every check repeated",
            after(&with_end(std::slice::from_ref(&repeated))),
        ),
        ("completed", after(&with_end(&[repeated, RunFinalized]))),
        ("step 1 done, a limit of the run is reached", bounded(&to_the_end[..2])),
    ];
    rows.into_iter().map(|(name, run)| State { name, run }).collect()
}

/// Every event, with the particulars that matter.
fn events() -> Vec<(&'static str, Event)> {
    let decided = |decision, mode| Event::GateDecided { step: 1, decision, mode };
    let review = |verdict| Event::ReviewFinished {
        step: None,
        verdict,
        findings: String::new(),
        base: None,
    };
    let baseline = Event::BaselineTaken { step: 1, passed: Vec::new() };
    let broken = match failed(1) {
        Event::StepVerified { results, .. } => results.into_iter().map(|result| (1, result)),
        other => panic!("a verification, not {other:?}"),
    };
    vec![
        ("step 1 started", Event::StepStarted { step: 1 }),
        ("step 2 started", Event::StepStarted { step: 2 }),
        ("the checks of step 1 ran before its agent", baseline),
        ("the agent of step 1 ended", Event::StepActed { step: 1 }),
        (
            "the agent of step 1 failed",
            Event::ActionFailed {
                step: 1,
                reason: "agent failed".to_owned(),
                output: String::new(),
            },
        ),
        ("step 1 verified: passed", passed(1)),
        ("step 1 verified: failed", failed(1)),
        ("step 1 verified: a person has to look", needs_human(1)),
        (
            "step 1 verified: cannot be evaluated",
            verified(1, CheckVerdict::CannotEvaluate { reason: "no such folder".to_owned() }),
        ),
        ("step 1 verified: results missing", Event::StepVerified { step: 1, results: Vec::new() }),
        ("step 1 blocked", Event::StepBlocked { step: 1, reason: "why".to_owned() }),
        ("step 1 reopened", Event::StepReopened { step: 1, reason: "why".to_owned() }),
        ("gate of step 1 approved by a person", decided(GateDecision::Approved, Mode::Human)),
        ("gate of step 1 approved by the rules", decided(GateDecision::Approved, Mode::Auto)),
        ("gate of step 1 rejected by a person", decided(GateDecision::Rejected, Mode::Human)),
        ("final review: ready", review(Verdict::Ready)),
        ("final review: not ready", review(Verdict::Block)),
        ("findings returned to step 2", Event::FindingsReturned { step: 2 }),
        ("verdict accepted", Event::VerdictAccepted),
        (
            "checks repeated: all pass",
            Event::ChecksRepeated {
                repeated: 2,
                failures: Vec::new(),
                warnings: Vec::new(),
                clean: false,
            },
        ),
        (
            "checks repeated: step 1 fails",
            Event::ChecksRepeated {
                repeated: 2,
                failures: broken.collect(),
                warnings: Vec::new(),
                clean: false,
            },
        ),
        ("run paused", Event::RunPaused { reason: "interrupted".to_owned(), interrupted: true }),
        ("run resumed", Event::RunResumed),
        ("run finalized", Event::RunFinalized),
        ("run taken over", Event::TakenOver { reason: "machine lost".to_owned() }),
        ("limits changed", Event::BudgetsChanged(Budgets::default())),
        (
            "work kept",
            Event::FinishRecorded {
                outcome: FinishOutcome::new(Disposition::Kept),
                replace: false,
            },
        ),
    ]
}

fn begin(gate: &str, review_agent: Option<&str>) -> Run {
    let step = |number: u32, gate: &str| {
        format!(
            "- [ ] **Step {number}: Name {number}**\naction: act\nloop: until it works\n\
             max_iterations: 2\nverify: true\n{gate}"
        )
    };
    let file = format!(
        "---\nintent: show\nsuccess_criteria: shown\nrisk_level: low\n---\n{}{}",
        step(1, gate),
        step(2, ""),
    );
    let plan = workflow::parse("hotl-workflow-example.md", file.as_bytes()).plan;
    let plan = plan.expect("the example is valid");
    Run::begin(
        &plan,
        Beginning {
            id: "example-19700101T000000Z".to_owned(),
            reverify: true,
            review_agent: review_agent.map(str::to_owned),
            ..Beginning::default()
        },
    )
}

fn reach(mut run: Run, events: &[Event]) -> Run {
    for event in events {
        run.apply(run.last_update, event)
            .unwrap_or_else(|refusal| panic!("{event:?} leads nowhere: {refusal}"));
    }
    run
}

fn verified(step: u32, verdict: CheckVerdict) -> Event {
    let result = CheckResult {
        check: 0,
        verdict,
        stdout: String::new(),
        stderr: String::new(),
        measured: None,
        at: None,
        warnings: Vec::new(),
        inputs: None,
    };
    Event::StepVerified { step, results: vec![result] }
}

fn passed(step: u32) -> Event {
    verified(step, CheckVerdict::Passed)
}

fn failed(step: u32) -> Event {
    verified(step, CheckVerdict::Failed { reason: "exit code 1".to_owned() })
}

fn needs_human(step: u32) -> Event {
    verified(step, CheckVerdict::NeedsHuman { prompt: "look".to_owned() })
}

fn next_words(next: &Next) -> String {
    let step = |step: &Option<u32>| match step {
        Some(step) => format!("of step {step}"),
        None => "at the end".to_owned(),
    };
    match next {
        Next::Start { step, attempt } => format!("begin attempt {attempt} of step {step}"),
        Next::Act { step } => format!("the agent runs step {step}"),
        Next::Verify { step } => format!("verify step {step}"),
        Next::Approve { step, .. } => format!("the rules approve step {step}"),
        Next::Block { step, .. } => format!("give up on step {step}"),
        Next::Review { step: at } => format!("the review {}", step(at)),
        Next::Ask(Question::Gate { step }) => {
            format!("a person decides the gate of step {step}")
        }
        Next::Ask(Question::Review { step, .. }) => format!("a person looks at step {step}"),
        Next::Ask(Question::Verdict { step: at }) => {
            format!("a person answers the review {}", step(at))
        }
        Next::Ask(Question::Interrupted { step }) => {
            format!("a person says how far step {step} got")
        }
        Next::Ask(Question::Budget { step }) => {
            format!("a person raises a limit before step {step}")
        }
        Next::Repeat => "repeat every check".to_owned(),
        Next::Finalize => "finalize".to_owned(),
        Next::Blocked(blocker) if blocker.rejected => {
            format!("nothing: step {} was rejected", blocker.step)
        }
        Next::Blocked(blocker) => format!("nothing: step {} is blocked", blocker.step),
        Next::Finished => "nothing: the run is finished".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_accepted_somewhere_and_refused_somewhere() {
        for (name, event) in events() {
            let accepted = states()
                .into_iter()
                .filter(|state| state.run.clone().apply(state.run.started_at, &event).is_ok())
                .count();
            assert!(accepted < states().len(), "{name} is never refused");
            let impossible = name.ends_with("results missing");
            assert_eq!(accepted == 0, impossible, "{name} is accepted {accepted} times");
        }
    }

    #[test]
    fn every_case_of_what_comes_next_but_three_is_shown() {
        // The three depend on a gate that approves itself, a review before a gate, and a step
        // without a machine check.
        let text = document();
        for words in [
            "begin attempt",
            "the agent runs",
            "verify step",
            "give up",
            "the review at the end",
            "a person decides",
            "a person looks",
            "a person answers",
            "repeat every",
            "finalize",
            "is blocked",
            "was rejected",
            "is finished",
        ] {
            assert!(text.contains(words), "{words}");
        }
    }
}
