//! A run in a simulation goes the way that a run goes in which everything succeeds.

use super::*;
use crate::simulated::{PageChecks, SimulatedEvent, at_most, simulated_events};

fn told(run: &Run, pages: PageChecks) -> String {
    let step = |step: &u32| step.to_string();
    let word = |moment: &SimulatedEvent| match moment {
        SimulatedEvent::Act { step: number } => format!("act {}", step(number)),
        SimulatedEvent::Verify { step: number } => format!("verify {}", step(number)),
        SimulatedEvent::Look { step: number, prompt } => format!("look {} {prompt}", step(number)),
        SimulatedEvent::Review { step } => format!("review {step:?}"),
        SimulatedEvent::Approve { step: number, reason } => {
            format!("approve {} {reason:?}", step(number))
        }
        SimulatedEvent::Decide { step: number, reason } => {
            format!("decide {} {reason:?}", step(number))
        }
        SimulatedEvent::Repeat => "repeat".to_owned(),
        SimulatedEvent::Stop { step: number, bounds } => {
            format!("stop {} {}", step(number), bounds[0].name)
        }
    };
    simulated_events(run, pages, true).iter().map(word).collect::<Vec<_>>().join(", ")
}

#[test]
fn everything_that_happens_is_told_in_its_order() {
    let page = Check::Browser { url: "u".to_owned(), check: "c".to_owned() };
    let look = Check::HumanReview { prompt: "nice?".to_owned() };
    let steps = vec![
        Step { gate: Some(Gate::Auto), ..step(1) },
        Step { checks: vec![page], repeat: until(4), ..step(2) },
        Step { checks: vec![look], gate: Some(Gate::Human), ..step(3) },
        Step { gate: Some(Gate::Human), sensitive: true, ..step(4) },
    ];
    let mut run = begin(steps);
    run.0.settings.options.reverify = true;
    assert_eq!(
        told(&run, PageChecks::Command),
        "act 1, verify 1, approve 1 GateAuto, act 2, verify 2, act 3, verify 3, look 3 nice?, \
         act 4, verify 4, decide 4 Sensitive, repeat"
    );
    assert!(told(&run, PageChecks::Person).contains("verify 2, look 2 u: c, act 3"));
    run.0.settings.options.review_agent = Some("claude".to_owned());
    assert!(
        told(&run, PageChecks::Command)
            .ends_with("act 4, verify 4, review Some(4), decide 4 Sensitive, review None, repeat")
    );
    run.0.settings.budgets.agents = Some(2);
    assert_eq!(
        told(&run, PageChecks::Command),
        "act 1, verify 1, approve 1 GateAuto, act 2, verify 2, stop 3 max_agents"
    );
    let most = at_most(&run, 1000, 10);
    assert_eq!((most.attempts, most.cost, most.tokens), (2, None, None));
    // Seven attempts, one check of each by default, the page four times, and each once more.
    assert_eq!(run.steps.iter().map(StepRecord::limit).sum::<u32>(), 7);
    assert!(most.work_ms >= 7000, "{most:?}");
}
