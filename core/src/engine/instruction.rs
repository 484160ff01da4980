//! What should happen next with a run, for whoever drives it from outside.

use crate::run::{Next, Question, Run};
use crate::text;

/// The name of what should happen, the step and the command.
pub fn instruction(run: &Run) -> (&'static str, Option<u32>, Option<String>) {
    let id = &run.id;
    let step = |step: u32, verb: &str| Some(format!("onloop step {step} {verb} --run-id {id}"));
    let gate = |step: u32, words: &str| Some(format!("onloop gate {step} {words} --run-id {id}"));
    let resume = || Some(format!("onloop resume {id}"));
    if let Some(intent) = &run.finish_intent {
        return ("finish", None, Some(intent.act.command(id)));
    }
    match run.next() {
        Next::Start { step: n, .. } => ("start", Some(n), step(n, "start")),
        Next::Act { step: n } => ("act", Some(n), step(n, "verify")),
        Next::Verify { step: n } => ("verify", Some(n), step(n, "verify")),
        Next::Approve { step: n, .. } => ("approve", Some(n), gate(n, "approved --mode auto")),
        Next::Block { step: n, reason } => {
            let reason = text::shell_word(&reason);
            ("block", Some(n), step(n, &format!("block --reason {reason}")))
        }
        Next::Review { step: n } => ("review", n, resume()),
        Next::Ask(Question::Gate { step: n }) => {
            ("ask-gate", Some(n), gate(n, "approved|rejected"))
        }
        Next::Ask(Question::Review { step: n, .. }) => {
            ("ask-review", Some(n), gate(n, "approved|rejected"))
        }
        Next::Ask(Question::Verdict { step: n }) => {
            ("ask-verdict", n, Some(format!("onloop resume {id} --accept-review")))
        }
        Next::Ask(Question::Budget { step: n }) => {
            ("ask-budget", Some(n), Some(format!("onloop resume {id} --raise NAME=VALUE")))
        }
        Next::Ask(Question::Interrupted { step: n }) => (
            "ask-interrupted",
            Some(n),
            Some(format!("onloop resume {id} --interrupted redo|done")),
        ),
        Next::Repeat => ("repeat-checks", None, resume()),
        Next::Finalize => ("finalize", None, resume()),
        Next::Blocked(blocker) => ("blocked", Some(blocker.step), resume()),
        Next::Finished => ("finished", None, None),
    }
}
