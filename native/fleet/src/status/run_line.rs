//! The status of one run, from its journal and the engine.

use onloop_core::documents::ledger;
use onloop_core::run::{Next, Question, Run};
use onloop_core::text;
use serde_json::{Value, json};

use super::{COLUMNS, moment};
use crate::engine::{QueueState, RunView};
use crate::queue_state;

/// A run with its status.
#[derive(Debug)]
pub(super) struct RunLine {
    view: RunView,
    /// The run of its journal; `None`: the journal is empty.
    run: Option<Result<Run, String>>,
}

impl RunLine {
    /// Reads the journal of a run.
    pub(super) fn of(view: RunView, lines: &str) -> RunLine {
        let run = match ledger::read(lines.as_bytes(), None) {
            Ok(ledger) => Some(Ok(ledger.run)),
            Err(ledger::LedgerError::Empty) => None,
            Err(error) => Some(Err(error.to_string())),
        };
        RunLine { view, run }
    }

    fn run(&self) -> Option<&Run> {
        self.run.as_ref()?.as_ref().ok()
    }

    /// Returns the text for people: name, place, activity and next command.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{} {}\n", self.mark(), text::one_line(&self.view.run_id));
        let mut say = |line: String| {
            text += &(text::wrapped(&format!("    {line}"), COLUMNS, 6) + "\n");
        };
        let (workflow, repository) = (&self.view.workflow, &self.view.repository);
        say(format!("{} in {}", text::one_line(workflow), text::one_line(repository)));
        if let Some(Err(error)) = &self.run {
            say(format!("its journal cannot be read: {error}"));
        }
        if let Some(place) = self.run().map(place) {
            say(place);
        }
        say(self.now());
        if let Some(command) = self.command() {
            // The command is not wrapped, so that it can be copied.
            text += &format!("    {command}\n");
        }
        text
    }

    fn mark(&self) -> &'static str {
        match (&self.view.holder, &self.view.state) {
            (Some(_), _) => "→",
            (None, QueueState::NeedsPerson { .. }) => "⏸",
            (None, QueueState::RateLimited { .. }) => "⏳",
            (None, QueueState::Ready | QueueState::Retry { .. }) => "·",
            (None, QueueState::Finished { status: how }) if how == "abandoned" => "⊘",
            (None, QueueState::Finished { .. } | QueueState::Local { .. }) => "✓",
        }
    }

    /// Returns the activity on one line.
    fn now(&self) -> String {
        let said = self.run().map(|run| run.status_summary().now);
        let now = match (&self.view.holder, &self.view.state) {
            (Some(holder), _) => match said {
                Some(said) => format!("{said}, on {holder}"),
                None => format!("running on {holder}"),
            },
            (None, QueueState::Ready) => "waiting for a worker".to_owned(),
            // The record does not say why the worker could not continue; the engine does.
            (None, QueueState::NeedsPerson { reason: what }) => {
                said.filter(|_| self.asks_itself()).unwrap_or_else(|| what.clone())
            }
            (None, QueueState::RateLimited { at_ms, agent }) => {
                format!("{agent} is rate limited until {}", moment(*at_ms))
            }
            (None, QueueState::Retry { at_ms, reason: what }) => {
                format!("next try at {}: {what}", moment(*at_ms))
            }
            (None, QueueState::Finished { status: how }) => how.clone(),
            (None, QueueState::Local { host }) => format!("moved to {host}"),
        };
        text::one_line(&now)
    }

    /// Whether the record itself waits for a person.
    fn asks_itself(&self) -> bool {
        let state = self.run().map(|run| queue_state::of_run(run, queue_state::now(), 0));
        matches!(state, Some(QueueState::NeedsPerson { .. }))
    }

    /// Returns the command that a person runs next.
    fn command(&self) -> Option<String> {
        if !matches!((&self.view.holder, &self.view.state), (None, QueueState::NeedsPerson { .. }))
        {
            return None;
        }
        let id = text::shell_word(&self.view.run_id);
        Some(match self.run().map(|run| run.next()) {
            Some(Next::Ask(Question::Gate { .. } | Question::Review { .. })) => {
                format!("onloop approve {id}")
            }
            _ => format!("onloop resume {id}"),
        })
    }

    /// Returns the JSON value.
    pub(super) fn document(&self) -> Value {
        let mut document = serde_json::to_value(&self.view).expect("only string keys");
        document["now"] = self.now().into();
        document["command"] = self.command().into();
        document["problem"] = match &self.run {
            Some(Err(error)) => error.as_str().into(),
            Some(Ok(_)) | None => Value::Null,
        };
        document["progress"] = self.run().map_or(Value::Null, |run| {
            let number = step_of(run);
            let step = run.step(number);
            json!({
                "status": run.status.as_str(),
                "step": number,
                "steps": run.steps.len(),
                "step_name": step.map(|step| step.step.name.as_str()),
                "attempt": step.map(|step| step.attempts),
                "usage": onloop_core::documents::summary::summary(run)["usage"],
            })
        });
        document
    }
}

/// Returns the step that waits for a person, else the current one.
fn step_of(run: &Run) -> u32 {
    let attention = run.attention();
    attention.and_then(|attention| attention.step()).unwrap_or_else(|| run.current_step())
}

/// Returns the place of a run and its cost.
fn place(run: &Run) -> String {
    let number = step_of(run);
    let mut place = format!("step {number}/{}", run.steps.len());
    if let Some(step) = run.step(number) {
        place += &format!(" {}", text::one_line(&step.step.name));
        if step.attempts > 0 && step.limit() > 1 {
            place += &format!(", attempt {}", step.attempt_of_limit());
        }
    }
    if let Some(cost) = run.usage.cost.known().filter(|_| run.usage.agents > 0) {
        place += &format!(", {cost} USD");
    }
    place
}

#[cfg(test)]
mod tests {
    use onloop_core::documents::ledger::Origin;
    use onloop_core::run::{Beginning, CheckResult, CheckVerdict, Event, Place};
    use onloop_core::time::Timestamp;
    use onloop_core::workflow;

    use super::*;

    const WORKFLOW: &str = "---\nintent: Greet\nsuccess_criteria: There is a greeting\n\
        risk_level: low\n---\n- [ ] **Step 1: Greet**\naction: Write it.\nloop: until it is there\n\
        max_iterations: 3\nverify: test -s greeting.txt\ngate: human\n\
        - [ ] **Step 2: Leave**\naction: Go.\nloop: false\nverify: true\n";

    /// Returns the journal of a run with these events.
    fn journal(events: &[Event]) -> String {
        let plan = workflow::parse("hotl-workflow-greet.md", WORKFLOW.as_bytes()).plan;
        let beginning = Beginning {
            id: "greet-20260320T212315Z".to_owned(),
            place: Place { execution_root: "/w".to_owned(), ..Place::default() },
            ..Beginning::default()
        };
        let run = Run::begin(&plan.expect("a plan"), beginning);
        let (mut bytes, mut head) = ledger::begin(Timestamp::EPOCH, &run, &Origin::Begun, None);
        for event in events {
            head = ledger::append(&mut bytes, &head, Timestamp::EPOCH, event, None);
        }
        String::from_utf8(bytes).expect("text")
    }

    fn view(holder: Option<&str>, state: QueueState) -> RunView {
        RunView {
            run_id: "greet-20260320T212315Z".to_owned(),
            repository: "git@example.com:greet".to_owned(),
            workflow: "hotl-workflow-greet.md".to_owned(),
            user: None,
            at_ms: 0,
            holder: holder.map(str::to_owned),
            state,
            head: None,
        }
    }

    #[test]
    fn a_run_at_its_gate_names_the_command_that_decides() {
        let passed = CheckResult {
            check: 0,
            verdict: CheckVerdict::Passed,
            stdout: String::new(),
            stderr: String::new(),
            measured: None,
            at: None,
            warnings: Vec::new(),
            inputs: None,
        };
        let mut events = vec![Event::StepStarted { step: 1 }];
        let working = RunLine::of(view(Some("tower"), QueueState::Ready), &journal(&events));
        assert_eq!(
            working.text(),
            "→ greet-20260320T212315Z\n    \
             hotl-workflow-greet.md in git@example.com:greet\n    \
             step 1/2 Greet, attempt 1/3\n    \
             step 1 is worked on, on tower\n"
        );
        let what = "on tower: error: the run could not go on: its lease is lost".to_owned();
        let stopped = RunLine::of(
            view(None, QueueState::NeedsPerson { reason: what.clone() }),
            &journal(&events),
        );
        assert_eq!(
            stopped.text(),
            "⏸ greet-20260320T212315Z\n    \
             hotl-workflow-greet.md in git@example.com:greet\n    \
             step 1/2 Greet, attempt 1/3\n    \
             on tower: error: the run could not go on: its lease is lost\n    \
             onloop resume greet-20260320T212315Z\n"
        );
        assert_eq!(stopped.document()["now"], what);
        events.extend([
            Event::StepActed { step: 1 },
            Event::StepVerified { step: 1, results: vec![passed] },
        ]);
        let state = QueueState::NeedsPerson { reason: "a gate".to_owned() };
        let waiting = RunLine::of(view(None, state.clone()), &journal(&events));
        assert_eq!(
            waiting.text(),
            "⏸ greet-20260320T212315Z\n    \
             hotl-workflow-greet.md in git@example.com:greet\n    \
             step 1/2 Greet, attempt 1/3\n    \
             the gate of step 1 waits for you\n    \
             onloop approve greet-20260320T212315Z\n"
        );
        let document = waiting.document();
        assert_eq!(document["command"], "onloop approve greet-20260320T212315Z");
        assert_eq!(document["progress"]["step"], 1);
        assert_eq!(document["progress"]["steps"], 2);

        let cut = journal(&events).replacen("greet", "gr\u{e9}et", 1);
        let damaged = RunLine::of(view(None, state), &cut);
        assert!(damaged.text().contains("cannot be read: line 1: its checksum"), "{damaged:?}");
        assert_eq!(damaged.document()["progress"], Value::Null);
    }
}
