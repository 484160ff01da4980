//! What should happen to a run now, for programs that drive it themselves.

use serde_json::{Value, json};

use onloop_run::{Blocker, Next, Question, Run};

/// The answer of [`Run::next`]. `action` is named as `onloop next` names it; the other
/// members are there when the action has them.
pub fn next(run: &Run) -> Value {
    let mut document = json!({ "run_id": run.id, "status": run.status.as_str() });
    let details = match run.next() {
        Next::Start { step, attempt } => {
            json!({ "action": "start", "step": step, "attempt": attempt })
        }
        Next::Act { step } => json!({ "action": "act", "step": step }),
        Next::Verify { step } => json!({ "action": "verify", "step": step }),
        Next::Approve { step, .. } => json!({ "action": "approve", "step": step }),
        Next::Block { step, reason } => {
            json!({ "action": "block", "step": step, "reason": reason })
        }
        Next::Review { step } => json!({ "action": "review", "step": step }),
        Next::Ask(Question::Gate { step }) => json!({ "action": "ask-gate", "step": step }),
        Next::Ask(Question::Review { step, prompt }) => {
            json!({ "action": "ask-review", "step": step, "prompt": prompt })
        }
        Next::Ask(Question::Verdict { step }) => json!({ "action": "ask-verdict", "step": step }),
        Next::Ask(Question::Interrupted { step }) => {
            json!({ "action": "ask-interrupted", "step": step })
        }
        Next::Ask(Question::Budget { step }) => json!({ "action": "ask-budget", "step": step }),
        Next::Repeat => json!({ "action": "repeat-checks" }),
        Next::Finalize => json!({ "action": "finalize" }),
        Next::Blocked(Blocker { step, reason, rejected }) => {
            json!({ "action": "blocked", "step": step, "reason": reason, "rejected": rejected })
        }
        Next::Finished => json!({ "action": "finished" }),
    };
    let (Value::Object(all), Value::Object(details)) = (&mut document, details) else {
        unreachable!("both are objects")
    };
    all.extend(details);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_run::{Beginning, Event};
    use onloop_syntax::time::Timestamp;
    use onloop_workflow as workflow;

    #[test]
    fn a_run_says_what_comes_next_until_it_is_over() {
        const FILE: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
            ### 1. One\naction: do\nloop: false\ngate: human\n";
        let plan = workflow::parse("hotl-workflow-a.md", FILE.as_bytes()).plan.unwrap();
        let mut run = Run::begin(
            &plan,
            Beginning { id: "a-1".to_owned(), reverify: true, ..Beginning::default() },
        );
        let table = [
            (
                Event::StepStarted { step: 1 },
                r#"{"run_id":"a-1","status":"running","action":"start","step":1,"attempt":1}"#,
            ),
            (
                Event::StepActed { step: 1 },
                r#"{"run_id":"a-1","status":"running","action":"act","step":1}"#,
            ),
            (
                Event::StepVerified { step: 1, results: Vec::new() },
                r#"{"run_id":"a-1","status":"running","action":"verify","step":1}"#,
            ),
        ];
        for (event, expected) in table {
            assert_eq!(next(&run).to_string(), expected);
            run.apply(Timestamp::EPOCH, &event).unwrap();
        }
        let expected = r#"{"run_id":"a-1","status":"running","action":"ask-gate","step":1}"#;
        assert_eq!(next(&run).to_string(), expected);
    }
}
