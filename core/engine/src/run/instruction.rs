//! What should happen to a run now, as commands that can be typed.

use crate::run::adopt::edit_of;
use crate::run::advice::{raise_options, resume_command};
use crate::run::driver_lock::driver_of;
use crate::state::store::{Paths, Store};
use onloop_effect::{Io, LockHolder};
use onloop_run::{Next, Question, Run, RunStatus, StepRecord};
use onloop_syntax::text;

/// What should happen to a run now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its name, as `onloop next` prints it.
    pub action: &'static str,
    /// The step that it is about.
    pub step: Option<u32>,
    /// One command line for each choice. A shell executes each of them as it is meant.
    pub commands: Vec<String>,
    /// Whether only a person may do it. An agent is then told to wait, and no command.
    pub needs_person: bool,
    /// The process that drives the run and does this itself; no command is named then.
    pub driver: Option<u32>,
}

impl Instruction {
    /// The command, where there is nothing to choose and no person to wait for.
    pub fn command(&self) -> Option<&str> {
        match self.commands.as_slice() {
            [command] if !self.needs_person => Some(command),
            _ => None,
        }
    }
}

/// What should happen to a stored run now. While another process drives the run, only its decisions
/// can be taken from outside: everything else is that process's work, and no command is named.
/// After an edit of the workflow file, `resume` is named with each choice that it accepts.
pub async fn instruction_of(io: &Io, store: &Store) -> Instruction {
    let (run, paths) = (store.run(), store.paths());
    let instruction = instruction(run);
    if let Some(driver) = driver_beside(io, paths, run).await {
        let driver = Some(driver.process.pid);
        let (action, needs_person) = match run.next() {
            // Its agent works, whatever a person would be asked if the driver were gone.
            Next::Act { .. } => ("act", false),
            _ => (instruction.action, instruction.needs_person),
        };
        return Instruction { action, needs_person, commands: Vec::new(), driver, ..instruction };
    }
    let resume = resume_command(run);
    let resumes = |command: &String| command.starts_with(&resume);
    if !instruction.commands.iter().any(resumes) {
        return instruction;
    }
    let Some(edit) = edit_of(io, paths, run).await else { return instruction };
    let choices = instruction.commands.iter().flat_map(|command| match resumes(command) {
        true => edit.choices().iter().map(|word| format!("{command} {word}")).collect(),
        false => vec![command.clone()],
    });
    Instruction { commands: choices.collect(), needs_person: true, ..instruction }
}

/// The other process that drives the run; `None` also where a decision is due, which can be taken
/// beside it.
pub(crate) async fn driver_beside(io: &Io, paths: &Paths, run: &Run) -> Option<LockHolder> {
    let is_decision =
        matches!(run.next(), Next::Ask(Question::Gate { .. } | Question::Review { .. }));
    driver_of(io, paths).await.filter(|_| !is_decision)
}

/// What should happen to `run` now, if no process drives it. Each command that is named is accepted
/// and changes the run. Only a person's choice skips a problem that nobody has looked at, such as a
/// bad verdict or an interrupted step without checks.
pub fn instruction(run: &Run) -> Instruction {
    let id = &run.id;
    if let Some(intent) = &run.finish_intent {
        return anybody("finish", None, intent.act.command(id));
    }
    let step = |step: u32, verb: &str| format!("onloop step {step} {verb} --run-id {id}");
    let gate = |step: u32, words: &str| format!("onloop gate {step} {words} --run-id {id}");
    let redo = |step: u32| run.may_redo(step).then(|| gate(step, "rejected --redo --reason TEXT"));
    let choices = |step: u32| {
        let mut choices = vec![gate(step, "approved"), gate(step, "rejected")];
        choices.extend(redo(step));
        choices
    };
    let abandon = || format!("onloop abandon {id} --reason TEXT");
    let resume = || resume_command(run);
    let is_by_verbs = run.is_driven_by_verbs();
    // An agent that drives a run by verbs must not start another agent inside itself. `resume` gives
    // the run back to it.
    let finalize = || match is_by_verbs {
        true => format!("onloop finalize --run-id {id}"),
        false => resume(),
    };
    // The verbs change a run only while it is running.
    let work = |action, n: Option<u32>, command| match run.status {
        RunStatus::Running => anybody(action, n, command),
        _ => person(action, n, vec![resume()]),
    };
    match run.next() {
        Next::Start { step: n, .. } => work("start", Some(n), step(n, "start")),
        Next::Act { step: n } if !is_by_verbs && waits_for_provider(run, n) => {
            person("act", Some(n), vec![resume()])
        }
        // Its driver is gone, and no check can tell how far the agent got.
        Next::Act { step: n } if !is_by_verbs && !has_checks(run, n) => interrupted(run, n),
        Next::Act { step: n } => work("act", Some(n), step(n, "verify")),
        Next::Verify { step: n } => work("verify", Some(n), step(n, "verify")),
        Next::Approve { step: n, .. } => work("approve", Some(n), gate(n, "approved --mode auto")),
        Next::Block { step: n, reason } => {
            let reason = text::shell_word(&reason);
            work("block", Some(n), step(n, &format!("block --reason {reason}")))
        }
        Next::Review { step: Some(n) } => work("review", Some(n), step(n, "verify")),
        Next::Review { step: None } => work("review", None, finalize()),
        Next::Ask(Question::Gate { step: n }) => person("ask-gate", Some(n), choices(n)),
        Next::Ask(Question::Review { step: n, .. }) => person("ask-review", Some(n), choices(n)),
        // Reviews again what was fixed since, or accepts the verdict.
        Next::Ask(Question::Verdict { step: n }) => {
            person("ask-verdict", n, vec![resume(), format!("onloop approve {id}")])
        }
        Next::Ask(Question::Budget { step: n }) => {
            person("ask-budget", Some(n), vec![resume() + &raise_options(run)])
        }
        Next::Ask(Question::Interrupted { step: n }) => interrupted(run, n),
        Next::Repeat => work("repeat-checks", None, finalize()),
        Next::Finalize => work("finalize", None, finalize()),
        Next::Blocked(blocker) if blocker.rejected => {
            let n = blocker.step;
            let commands = [Some(gate(n, "approved")), redo(n), Some(abandon())];
            person("blocked", Some(n), commands.into_iter().flatten().collect())
        }
        Next::Blocked(blocker) => {
            let reopen = step(blocker.step, "reopen --reason TEXT");
            let commands = match is_by_verbs {
                true => vec![reopen, abandon()],
                false => vec![resume(), reopen, abandon()],
            };
            person("blocked", Some(blocker.step), commands)
        }
        Next::Finished => Instruction {
            action: "finished",
            step: None,
            commands: Vec::new(),
            needs_person: false,
            driver: None,
        },
    }
}

fn has_checks(run: &Run, step: u32) -> bool {
    run.step(step).is_some_and(StepRecord::has_machine_checks)
}

fn waits_for_provider(run: &Run, step: u32) -> bool {
    run.step(step).is_some_and(|record| run.waits_for_provider(record))
}

fn interrupted(run: &Run, step: u32) -> Instruction {
    let choice = |word: &str| format!("{} --interrupted {word}", resume_command(run));
    person("ask-interrupted", Some(step), vec![choice("redo"), choice("done")])
}

fn anybody(action: &'static str, step: Option<u32>, command: String) -> Instruction {
    Instruction { action, step, commands: vec![command], needs_person: false, driver: None }
}

fn person(action: &'static str, step: Option<u32>, commands: Vec<String>) -> Instruction {
    Instruction { action, step, commands, needs_person: true, driver: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_permission::shell;
    use onloop_run::{Beginning, Event, Place, Verdict};
    use onloop_syntax::time::Timestamp;
    use onloop_workflow as workflow;

    /// A run of one step without checks, which an agent drives by verbs, after these events.
    fn after(events: impl IntoIterator<Item = Event>) -> Instruction {
        const FILE: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: high\n---\n\
            ### 1. One\naction: do\nloop: false\ngate: human\n";
        let plan = workflow::parse("hotl-workflow-a.md", FILE.as_bytes()).plan.unwrap();
        let beginning = Beginning {
            id: "a-1".to_owned(),
            place: Place { executor_mode: "loop".to_owned(), ..Place::default() },
            reverify: true,
            review_agent: Some("codex".to_owned()),
            ..Beginning::default()
        };
        let mut run = Run::begin(&plan, beginning);
        for event in events {
            run.apply(Timestamp::EPOCH, &event).unwrap();
        }
        instruction(&run)
    }

    #[test]
    fn a_run_that_is_driven_by_verbs_starts_no_other_agent() {
        const FILE: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
            ### 1. One\naction: do\nloop: false\n";
        let plan = workflow::parse("hotl-workflow-a.md", FILE.as_bytes()).plan.unwrap();
        for (mode, blocked, finalize) in [
            (
                "loop",
                "onloop step 1 reopen --reason TEXT --run-id a-1",
                "onloop finalize --run-id a-1",
            ),
            ("worktree", "onloop resume a-1", "onloop resume a-1"),
        ] {
            let place = Place { executor_mode: mode.to_owned(), ..Place::default() };
            let beginning =
                Beginning { id: "a-1".to_owned(), place, reverify: true, ..Beginning::default() };
            let begun = Run::begin(&plan, beginning);
            let after = |events: &[Event]| {
                let mut run = begun.clone();
                events.iter().for_each(|event| {
                    run.apply(Timestamp::EPOCH, event).unwrap();
                });
                instruction(&run).commands[0].clone()
            };
            let started = Event::StepStarted { step: 1 };
            let reason = "no key".to_owned();
            let block = Event::StepBlocked { step: 1, reason };
            assert_eq!(after(&[started.clone(), block]), blocked, "{mode}");
            let verified = Event::StepVerified { step: 1, results: Vec::new() };
            assert_eq!(
                after(&[started, Event::StepActed { step: 1 }, verified]),
                finalize,
                "{mode}"
            );
        }
    }

    fn verdict(verdict: Verdict) -> Event {
        Event::ReviewFinished { step: Some(1), verdict, findings: String::new(), base: None }
    }

    #[test]
    fn each_choice_is_a_command_that_a_shell_understands_as_it_is_meant() {
        let started = || [Event::StepStarted { step: 1 }];
        let done = || {
            let verified = Event::StepVerified { step: 1, results: Vec::new() };
            started().into_iter().chain([Event::StepActed { step: 1 }, verified])
        };
        let table: Vec<(Vec<Event>, &str, &[&str])> = vec![
            (Vec::new(), "start", &["onloop step 1 start --run-id a-1"]),
            (started().to_vec(), "act", &["onloop step 1 verify --run-id a-1"]),
            // Nothing for an agent.
            (
                started().into_iter().chain([Event::RunResumed]).collect(),
                "ask-interrupted",
                &["onloop resume a-1 --interrupted redo", "onloop resume a-1 --interrupted done"],
            ),
            (done().collect(), "review", &["onloop step 1 verify --run-id a-1"]),
            (
                done().chain([verdict(Verdict::Missing)]).collect(),
                "ask-verdict",
                &["onloop resume a-1", "onloop approve a-1"],
            ),
            (
                done().chain([verdict(Verdict::Ready)]).collect(),
                "ask-gate",
                &[
                    "onloop gate 1 approved --run-id a-1",
                    "onloop gate 1 rejected --run-id a-1",
                    "onloop gate 1 rejected --redo --reason TEXT --run-id a-1",
                ],
            ),
        ];
        for (events, action, commands) in table {
            let instruction = after(events);
            assert_eq!(
                (instruction.action, &instruction.commands[..]),
                (action, &owned(commands)[..])
            );
            assert_eq!(instruction.needs_person, action.starts_with("ask-"), "{action}");
            assert_eq!(instruction.command().is_none(), instruction.needs_person, "{action}");
            for command in &instruction.commands {
                let read = shell::read(command);
                assert!(read.commands.len() == 1 && read.unparsed.is_none(), "{command}");
                assert!(read.commands[0].redirections.is_empty(), "{command}");
            }
        }
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }
}
