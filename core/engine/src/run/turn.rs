//! The agent's turn: start it with its prompt, keep its log, see how it ends.

mod line;
mod start;
mod streamed;
mod version;

pub(crate) use line::first_turn;

use crate::run::checks::{private_names, recorded};
use crate::run::options::TurnConditions;
use crate::run::processes::{Work, WorkError, own_needs, run_recorded};
use crate::run::usage;
use crate::sandbox::run::Confining;
use crate::state::store::{Paths, Store, StoreError};
use onloop_agents::{self as agent, Agent};
use onloop_effect::{
    Command, Durability, Expect, Failure, Io, ProcessEnd, ProcessSpec, ProcessStatus,
};
use onloop_run::{Event, Refused, Run, StepRecord, Worker, step_prompt};
use onloop_syntax::text;

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
    /// Nobody can go on before a person has looked: why, on one line.
    Stuck(String),
    /// The agent wanted something that a person has to decide: what, on one line.
    Undecided(String),
    /// The agent's provider did not serve it, which is no attempt.
    Refused {
        /// Whom, and until when.
        refused: Refused,
        /// Whether it had done something before.
        went_on: bool,
    },
    /// The client cannot start: why and what mends it, on one line. Nobody has acted.
    NotStarted(String),
    /// The person interrupted.
    Interrupted,
}

impl Acted {
    fn failed(reason: impl Into<String>) -> Acted {
        Acted::Failed { reason: reason.into(), output: String::new() }
    }

    /// Whether the agent has done what it is going to do before it is started again.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Acted::Done | Acted::Failed { .. } | Acted::Refused { went_on: true, .. } => true,
            Acted::Refused { went_on: false, .. }
            | Acted::Stuck(_)
            | Acted::Undecided(_)
            | Acted::NotStarted(_)
            | Acted::Interrupted => false,
        }
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
    (conditions, confining): (TurnConditions, &Confining),
) -> Result<Acted, StoreError> {
    match agent {
        Agent::You => Ok(act_by_person(io, record).await),
        Agent::Script => match &record.step.script {
            // A step without a script has nothing to act on; its checks decide.
            None => Ok(Acted::Done),
            Some(script) => {
                let command = Command::Shell { shell: script.shell, line: script.text.clone() };
                let log = store.paths().log(&attempt_name(record));
                let spec = spec(io, store.run(), record, command, conditions.timeout_ms);
                let (number, spec) = (record.step.number, spec.stream_to(log));
                let work = Work::new(Worker::Agent, number, confining);
                let end = run_recorded(io, store, work, spec).await;
                let end = followed(end, "script")?;
                Ok(end
                    .map_or_else(|acted| acted, |end| ended(&end, "script", conditions.timeout_ms)))
            }
        },
        Agent::Preset(preset) => match preset.stream() {
            Some(client) => {
                let version = match version::of(io, store.home(), preset).await {
                    Ok(version) => version,
                    Err(_) => return Ok(Acted::Interrupted),
                };
                if let Some(why) = start::too_old(preset, client, version.as_deref()) {
                    return Ok(Acted::NotStarted(why));
                }
                let acting = (client, version.clone());
                let acted =
                    streamed::take(io, acting, store, record, (conditions, confining)).await?;
                let who = (*preset, client, version.as_deref());
                Ok(start::explained(io, who, store, record, acted).await)
            }
            None => {
                let work = Work::new(Worker::Agent, record.step.number, confining);
                let root = &store.run().place.execution_root;
                let needs = own_needs(io, confining, preset.name, root).await;
                let work = Work { needs, ..work };
                act_by_prompt(io, store, record, (conditions, work), |p| preset.command(p)).await
            }
        },
        Agent::CommandLine(line) => {
            let work = Work::new(Worker::Agent, record.step.number, confining);
            act_by_prompt(io, store, record, (conditions, work), |_| agent::command_line(line))
                .await
        }
    }
}

/// Lets a program act that reads a prompt and tells by its exit code whether it did its work.
async fn act_by_prompt(
    io: &Io,
    store: &mut Store,
    record: &StepRecord,
    (conditions, mut work): (TurnConditions, Work<'_>),
    command: impl FnOnce(&str) -> Command,
) -> Result<Acted, StoreError> {
    let (attempt, paths) = (attempt_name(record), store.paths().clone());
    let prompt = io.redacted(&step_prompt(store.run(), record));
    if let Err(failure) = write_prompt(io, &paths, &attempt, &prompt).await {
        return Ok(Acted::failed(format!("the prompt could not be written: {failure}")));
    }
    let command = command(&prompt);
    let mut spec = spec(io, store.run(), record, command, conditions.timeout_ms);
    spec = spec.stream_to(paths.log(&attempt));
    spec.env_set.insert("ONLOOP_PROMPT_FILE".to_owned(), paths.prompt(&attempt));
    spec.env_set.insert("ONLOOP_USAGE_FILE".to_owned(), paths.usage(&attempt));
    spec.stdin = Some(prompt.into_bytes().into());
    // Only what is there can be written by somebody who is confined.
    let usage = paths.usage(&attempt);
    let empty = io.write(&usage, Vec::new(), Expect::Any, Durability::Relaxed).await;
    if let Err(failure) = empty {
        return Ok(Acted::failed(format!("the report of its use cannot be prepared: {failure}")));
    }
    work.needs.may_read.push(paths.prompt(&attempt));
    work.needs.may_write.push(usage.clone());
    let end = run_recorded(io, store, work, spec).await;
    let end = followed(end, "agent")?;
    let acted = end.map_or_else(|acted| acted, |end| ended(&end, "agent", conditions.timeout_ms));
    let usage = usage::read(io, &usage).await;
    store.apply(Event::UsageReported(usage)).map_err(StoreError::Overtaken)?;
    Ok(acted)
}

/// Names the files of an attempt.
pub(crate) fn attempt_name(record: &StepRecord) -> String {
    format!("{}-{}", record.step.number, record.attempts)
}

/// Keeps the prompt of an attempt where its agent can read it.
async fn write_prompt(io: &Io, paths: &Paths, attempt: &str, prompt: &str) -> Result<(), Failure> {
    let bytes = prompt.as_bytes().to_vec();
    io.write(&paths.prompt(attempt), bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
}

fn spec(io: &Io, run: &Run, record: &StepRecord, command: Command, timeout_ms: u64) -> ProcessSpec {
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
        .label(format!("Step {}: {}", step.number, text::one_line(&step.name)))
}

/// The end of a process that was announced, or what its failure comes to.
fn followed<T>(end: Result<T, WorkError>, who: &str) -> Result<Result<T, Acted>, StoreError> {
    match end {
        Ok(end) => Ok(Ok(end)),
        Err(WorkError::Process(failure)) if failure.is_interrupted() => Ok(Err(Acted::Interrupted)),
        Err(WorkError::Process(failure)) => {
            Ok(Err(Acted::failed(format!("{who} failed: {failure}"))))
        }
        Err(WorkError::Record(error)) => Err(error),
    }
}

/// What the end of a process means that tells by its exit code whether it did its work.
fn ended(end: &ProcessEnd, who: &str, timeout_ms: u64) -> Acted {
    let reason = match why_ended(end.status, who, timeout_ms) {
        Ended::Well => return Acted::Done,
        Ended::Interrupted => return Acted::Interrupted,
        Ended::Badly(reason) => reason,
    };
    let mut output = recorded(&end.stdout);
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    output += &recorded(&end.stderr);
    Acted::Failed { reason, output }
}

/// What the end of a process tells by itself.
enum Ended {
    /// It ended with 0.
    Well,
    /// The person interrupted.
    Interrupted,
    /// It failed: why, on one line.
    Badly(String),
}

/// What the status of a process tells.
fn why_ended(status: ProcessStatus, who: &str, timeout_ms: u64) -> Ended {
    Ended::Badly(match status {
        ProcessStatus::Exited(0) => return Ended::Well,
        ProcessStatus::Interrupted => return Ended::Interrupted,
        ProcessStatus::Exited(127) => {
            format!("{who} failed: exit code 127 (a command was not found)")
        }
        ProcessStatus::Exited(code) => format!("{who} failed: exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("{who} failed: killed by signal {signal}"),
        ProcessStatus::TimedOut => {
            format!("{who} failed: timed out after {} s", timeout_ms.div_ceil(1000))
        }
    })
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
