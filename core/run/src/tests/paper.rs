//! A run on paper goes the way that a run goes in which everything succeeds.

use super::*;
use crate::paper::{PageChecks, PaperMoment, at_most, on_paper};

fn told(run: &Run, pages: PageChecks) -> String {
    let step = |step: &u32| step.to_string();
    let word = |moment: &PaperMoment| match moment {
        PaperMoment::Act { step: number } => format!("act {}", step(number)),
        PaperMoment::Verify { step: number } => format!("verify {}", step(number)),
        PaperMoment::Look { step: number, prompt } => format!("look {} {prompt}", step(number)),
        PaperMoment::Review { step } => format!("review {step:?}"),
        PaperMoment::Approve { step: number, reason } => {
            format!("approve {} {reason:?}", step(number))
        }
        PaperMoment::Decide { step: number, reason } => {
            format!("decide {} {reason:?}", step(number))
        }
        PaperMoment::Repeat => "repeat".to_owned(),
        PaperMoment::Stop { step: number, bounds } => {
            format!("stop {} {}", step(number), bounds[0].name)
        }
    };
    on_paper(run, pages, true).iter().map(word).collect::<Vec<_>>().join(", ")
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
    run.0.terms.reverify = true;
    assert_eq!(
        told(&run, PageChecks::Command),
        "act 1, verify 1, approve 1 GateAuto, act 2, verify 2, act 3, verify 3, look 3 nice?, \
         act 4, verify 4, decide 4 Sensitive, repeat"
    );
    assert!(told(&run, PageChecks::Person).contains("verify 2, look 2 u: c, act 3"));
    run.0.terms.review_agent = Some("claude".to_owned());
    assert!(
        told(&run, PageChecks::Command)
            .ends_with("act 4, verify 4, review Some(4), decide 4 Sensitive, review None, repeat")
    );
    run.0.terms.budgets.agents = Some(2);
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
