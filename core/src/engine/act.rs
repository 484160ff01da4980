//! The agent's turn: start it with its prompt, keep its log, see how it ends.

use crate::agent::{self, Agent};
use crate::effect::{Command, Durability, Expect, Io, ProcessEnd, ProcessSpec, ProcessStatus};
use crate::engine::store::{Paths, Store, StoreError};
use crate::engine::verify::{private_names, recorded};
use crate::engine::work::{WorkError, run_recorded};
use crate::run::{Run, StepRecord, Worker, step_prompt};
use crate::text;

/// How the agent's turn ended.
#[derive(Debug)]
pub(crate) enum Acted {
    /// The action is done, says the agent.
    Done,
    /// The attempt failed.
    Failed {
        /// Why, on one line.
        reason: String,
        /// The end of what it said.
        output: String,
    },
    /// The person interrupted.
    Interrupted,
}

impl Acted {
    fn failed(reason: impl Into<String>) -> Acted {
        Acted::Failed { reason: reason.into(), output: String::new() }
    }
}

/// Lets `agent` act on the current attempt of a step.
///
/// # Errors
///
/// When it cannot be recorded which processes act; they have been ended.
pub(crate) async fn act(
    io: &Io,
    agent: &Agent,
    store: &mut Store,
    record: &StepRecord,
    timeout_ms: u64,
) -> Result<Acted, StoreError> {
    let (run, paths) = (store.run().clone(), store.paths().clone());
    let run = &run;
    let number = record.step.number;
    let attempt = format!("{number}-{}", record.attempts);
    match agent {
        Agent::You => Ok(act_by_person(io, record).await),
        Agent::Script => match &record.step.script {
            // A step without a script has nothing to act on; its checks decide.
            None => Ok(Acted::Done),
            Some(script) => {
                let command = Command::Shell { shell: script.shell, line: script.text.clone() };
                let spec = spec(io, run, record, command, timeout_ms, &paths, &attempt);
                ended(
                    run_recorded(io, store, Worker::Agent, number, spec).await,
                    "script",
                    timeout_ms,
                )
            }
        },
        Agent::Preset(_) | Agent::CommandLine(_) => {
            let prompt = io.redacted(&step_prompt(run, record));
            let file = paths.prompt(&attempt);
            let bytes = prompt.clone().into_bytes();
            if let Err(failure) = io.write(&file, bytes, Expect::Any, Durability::Relaxed).await {
                return Ok(Acted::failed(format!("the prompt could not be written: {failure}")));
            }
            let command = match agent {
                Agent::Preset(preset) => preset.command(&prompt),
                Agent::CommandLine(line) => agent::command_line(line),
                Agent::Script | Agent::You => unreachable!("matched above"),
            };
            let mut spec = spec(io, run, record, command, timeout_ms, &paths, &attempt);
            spec.env_set.insert("ONLOOP_PROMPT_FILE".to_owned(), file);
            spec.env_set.insert("ONLOOP_USAGE_FILE".to_owned(), paths.usage(&attempt));
            spec.stdin = Some(prompt.into_bytes().into());
            ended(run_recorded(io, store, Worker::Agent, number, spec).await, "agent", timeout_ms)
        }
    }
}

fn spec(
    io: &Io,
    run: &Run,
    record: &StepRecord,
    command: Command,
    timeout_ms: u64,
    paths: &Paths,
    attempt: &str,
) -> ProcessSpec {
    let step = &record.step;
    let env = [
        ("ONLOOP_RUN_ID", run.id.clone()),
        ("ONLOOP_STEP", step.number.to_string()),
        ("ONLOOP_STEP_NAME", step.name.clone()),
        ("ONLOOP_ATTEMPT", record.attempts.to_string()),
        ("ONLOOP_WORKFLOW", run.place.workflow_path.clone()),
    ];
    ProcessSpec::new(command)
        .in_folder(&run.place.execution_root)
        .without_env(private_names(io))
        // A NUL cannot be in the environment; a name from a file may hold anything.
        .with_env(env.map(|(name, value)| (name, value.replace('\0', ""))))
        .timeout_ms(timeout_ms)
        .stream_to(paths.log(attempt))
        .label(format!("Step {}: {}", step.number, text::one_line(&step.name)))
}

fn ended(
    end: Result<ProcessEnd, WorkError>,
    who: &str,
    timeout_ms: u64,
) -> Result<Acted, StoreError> {
    let end = match end {
        Ok(end) => end,
        Err(WorkError::Process(failure)) if failure.is_interrupted() => {
            return Ok(Acted::Interrupted);
        }
        Err(WorkError::Process(failure)) => {
            return Ok(Acted::failed(format!("{who} failed: {failure}")));
        }
        Err(WorkError::Record(error)) => return Err(error),
    };
    let reason = match end.status {
        ProcessStatus::Exited(0) => return Ok(Acted::Done),
        ProcessStatus::Interrupted => return Ok(Acted::Interrupted),
        ProcessStatus::Exited(127) => {
            format!("{who} failed: exit code 127 (a command was not found)")
        }
        ProcessStatus::Exited(code) => format!("{who} failed: exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("{who} failed: killed by signal {signal}"),
        ProcessStatus::TimedOut => {
            format!("{who} failed: timed out after {} s", timeout_ms.div_ceil(1000))
        }
    };
    let mut output = recorded(&end.stdout);
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    output += &recorded(&end.stderr);
    Ok(Acted::Failed { reason, output })
}

async fn act_by_person(io: &Io, record: &StepRecord) -> Acted {
    let step = &record.step;
    io.note(format!("\n{}\n", text::printable(&step.action))).await;
    let question = "Press Enter when it is done, or type `fail` and why: ";
    match io.ask(question).await {
        Ok(answer) => match answer.trim().strip_prefix("fail") {
            None => Acted::Done,
            Some(why) => Acted::failed(format!("you said: fail {}", why.trim())),
        },
        Err(failure) if failure.is_interrupted() => Acted::Interrupted,
        Err(failure) => Acted::failed(format!("nobody is there to act: {failure}")),
    }
}
