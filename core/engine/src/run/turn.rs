//! The agent's turn: start it with its prompt, keep its log, see how it ends.

mod line;
mod start;
mod streamed;
mod version;

pub(crate) use line::first_turn;

use crate::run::checks::{private_names, recorded};
use crate::run::context::RunContext;
use crate::run::processes::{Work, WorkError, run_recorded};
use crate::state::store::{Paths, StoreError};
use onloop_agents::confine::refused_line;
use onloop_agents::{self as agent, Agent, Client};
use onloop_effect::{Command, Durability, Expect, Io, ProcessEnd, ProcessSpec, ProcessStatus};
use onloop_run::{Amount, Event, Refused, Run, StepRecord, Usage, Worker, step_prompt};
use onloop_syntax::money::Money;
use onloop_syntax::text;
use serde_json::Value;
use start::Starter;

/// What came of running the action of a step.
#[derive(Debug)]
pub(crate) enum ActionOutcome {
    /// The action is done, says the agent.
    Done,
    /// The attempt failed.
    Failed {
        /// Why, on one line.
        reason: String,
        /// The end of what it said.
        output: String,
    },
    /// A person has to look before the run continues: why, on one line.
    Stuck(String),
    /// The agent wanted something that a person has to decide: what, on one line.
    Undecided(String),
    /// A budget of the run was passed in the middle of the turn. The attempt continues when it is raised.
    OverBudget,
    /// The agent's provider refused it, which does not count as an attempt.
    Refused {
        /// Which agent, and until when.
        refused: Refused,
        /// Whether the agent had done some work before.
        had_started: bool,
    },
    /// The client cannot start: why and what fixes it, on one line. Nothing has run.
    NotStarted(String),
    /// The person interrupted.
    Interrupted,
}

impl TurnStop {
    fn failed(reason: impl Into<String>) -> TurnStop {
        TurnStop::Outcome(ActionOutcome::failed(reason))
    }
}

impl ActionOutcome {
    fn failed(reason: impl Into<String>) -> ActionOutcome {
        ActionOutcome::Failed { reason: reason.into(), output: String::new() }
    }

    /// The outcome with what the agent was refused, if it failed.
    fn naming(self, refused: Option<String>) -> ActionOutcome {
        match (self, refused) {
            (ActionOutcome::Failed { reason, output }, Some(line)) => {
                ActionOutcome::Failed { reason: format!("{reason} ({line})"), output }
            }
            (outcome, _) => outcome,
        }
    }

    /// Whether the agent has done what it is going to do before it is started again.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            ActionOutcome::Done
            | ActionOutcome::Failed { .. }
            | ActionOutcome::OverBudget
            | ActionOutcome::Refused { had_started: true, .. } => true,
            ActionOutcome::Refused { had_started: false, .. }
            | ActionOutcome::Stuck(_)
            | ActionOutcome::Undecided(_)
            | ActionOutcome::NotStarted(_)
            | ActionOutcome::Interrupted => false,
        }
    }
}

/// Why a turn stopped before its process ended.
pub(crate) enum TurnStop {
    /// The turn has this outcome.
    Outcome(ActionOutcome),
    /// The ledger does not have the processes that ran; they have been ended.
    Record(StoreError),
}

impl From<StoreError> for TurnStop {
    fn from(error: StoreError) -> TurnStop {
        TurnStop::Record(error)
    }
}

/// Runs `agent` for the current attempt of a step.
///
/// # Errors
///
/// When the ledger does not take the processes that run; they have been ended.
pub(crate) async fn run_agent(
    cx: &mut RunContext<'_>,
    agent: &Agent,
    record: &StepRecord,
) -> Result<ActionOutcome, StoreError> {
    let taken = match agent {
        Agent::You => Ok(ask_person(cx.io, record).await),
        Agent::Script => run_script(cx, record).await,
        Agent::Preset(..) | Agent::Acp(_) => run_client(cx, agent, record).await,
        Agent::CommandLine(line) => run_command(cx, record, agent::command_line(line)).await,
    };
    match taken {
        Ok(outcome) | Err(TurnStop::Outcome(outcome)) => Ok(outcome),
        Err(TurnStop::Record(error)) => Err(error),
    }
}

/// Runs the script of a step.
async fn run_script(
    cx: &mut RunContext<'_>,
    record: &StepRecord,
) -> Result<ActionOutcome, TurnStop> {
    // The checks of a step without a script decide alone.
    let Some(script) = &record.step.script else { return Ok(ActionOutcome::Done) };
    let (sandbox, timeout_ms) = (cx.sandbox(), cx.options.turns.timeout_ms);
    let command = Command::Shell { shell: script.shell, line: script.text.clone() };
    let log = cx.store.paths().log(&attempt_name(record));
    let spec = spec(cx.io, cx.run(), record, command, timeout_ms).stream_to(log);
    let work = Work::new(Worker::Agent, record.step.number, sandbox);
    let end = run_recorded(cx.io, cx.store, work, spec).await;
    Ok(outcome_of(&ended(end, "script")?, "script", timeout_ms))
}

/// Runs a client whose stream onloop reads.
async fn run_client(
    cx: &mut RunContext<'_>,
    agent: &Agent,
    record: &StepRecord,
) -> Result<ActionOutcome, TurnStop> {
    let turn = agent.turn_client().expect("presets and agents of the protocol have a client");
    let version = match turn.preset {
        // The protocol tells it.
        _ if turn.client == Client::Acp => None,
        None => None,
        Some(preset) => version::of(cx.io, cx.store.home(), preset)
            .await
            .map_err(|_| TurnStop::Outcome(ActionOutcome::Interrupted))?,
    };
    let who = Starter { agent, turn: &turn, version: version.as_deref() };
    if let Some(why) = start::too_old(&who) {
        return Ok(ActionOutcome::NotStarted(why));
    }
    let model = agent.model().or(record.step.model.as_deref());
    let outcome = match streamed::take(cx, &turn, model, version.clone(), record).await {
        Ok(outcome) | Err(TurnStop::Outcome(outcome)) => outcome,
        Err(stop @ TurnStop::Record(_)) => return Err(stop),
    };
    Ok(start::explained(cx, &who, record, outcome).await)
}

/// Runs a program that reads a prompt and reports by its exit code whether it did its work.
async fn run_command(
    cx: &mut RunContext<'_>,
    record: &StepRecord,
    command: Command,
) -> Result<ActionOutcome, TurnStop> {
    let (io, sandbox, timeout_ms) = (cx.io, cx.sandbox(), cx.options.turns.timeout_ms);
    let (attempt, paths) = (attempt_name(record), cx.store.paths().clone());
    let prompt = step_prompt(cx.run(), record);
    write_prompt(io, &paths, &attempt, &prompt).await?;
    let relative = relative_program(&command).map(text::one_line);
    let mut spec = spec(io, cx.run(), record, command, timeout_ms).stream_to(paths.log(&attempt));
    spec.env_set.insert("ONLOOP_PROMPT_FILE".to_owned(), paths.prompt(&attempt));
    spec.env_set.insert("ONLOOP_USAGE_FILE".to_owned(), paths.usage(&attempt));
    spec.stdin = Some(prompt.into_bytes().into());
    // A confined program can write only files that exist.
    let usage = paths.usage(&attempt);
    let empty = io.write(&usage, Vec::new(), Expect::Any, Durability::Relaxed).await;
    empty.map_err(|failure| {
        TurnStop::failed(format!("the report of its use cannot be prepared: {failure}"))
    })?;
    let mut work = Work::new(Worker::Agent, record.step.number, sandbox);
    work.needs.may_read.push(paths.prompt(&attempt));
    work.needs.may_write.push(usage.clone());
    let end = run_recorded(io, cx.store, work, spec).await;
    let outcome = match ended(end, "agent") {
        Ok(end) => {
            let missing = relative.filter(|_| end.status == ProcessStatus::Exited(127));
            let note = missing.map(|program| {
                format!("`{program}` is looked up in the worktree, which has only committed files")
            });
            outcome_of(&end, "agent", timeout_ms).naming(note)
        }
        Err(TurnStop::Outcome(outcome)) => outcome,
        Err(stop @ TurnStop::Record(_)) => return Err(stop),
    };
    let usage = read_usage(io, &usage).await;
    cx.store.apply(Event::UsageReported(usage)).map_err(StoreError::Overtaken)?;
    Ok(outcome)
}

/// Names the files of an attempt.
pub(crate) fn attempt_name(record: &StepRecord) -> String {
    format!("{}-{}", record.step.number, record.attempts)
}

/// Writes the prompt of an attempt where its agent can read it.
async fn write_prompt(io: &Io, paths: &Paths, attempt: &str, prompt: &str) -> Result<(), TurnStop> {
    let bytes = prompt.as_bytes().to_vec();
    match io.write(&paths.prompt(attempt), bytes, Expect::Any, Durability::Relaxed).await {
        Ok(_) => Ok(()),
        Err(failure) => {
            Err(TurnStop::failed(format!("the prompt could not be written: {failure}")))
        }
    }
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

/// The program at the beginning of a line of shell, where it is a path relative to the folder of the run.
fn relative_program(command: &Command) -> Option<&str> {
    let Command::Shell { line, .. } = command else { return None };
    let word = line.split_whitespace().next()?;
    (word.contains('/') && !word.starts_with(['/', '~', '$', '"', '\''])).then_some(word)
}

/// The end of a recorded process, or what its failure comes to.
fn ended<T>(end: Result<T, WorkError>, who: &str) -> Result<T, TurnStop> {
    end.map_err(|error| match error {
        WorkError::Process(failure) if failure.is_interrupted() => {
            TurnStop::Outcome(ActionOutcome::Interrupted)
        }
        WorkError::Process(failure) => TurnStop::failed(format!("{who} failed: {failure}")),
        WorkError::Record(error) => TurnStop::Record(error),
    })
}

/// The outcome of a process that reports by its exit code whether it did its work.
fn outcome_of(end: &ProcessEnd, who: &str, timeout_ms: u64) -> ActionOutcome {
    let reason = match why_ended(end.status, who, timeout_ms) {
        Ended::Well => return ActionOutcome::Done,
        Ended::Interrupted => return ActionOutcome::Interrupted,
        Ended::Badly(reason) => reason,
    };
    let mut output = recorded(&end.stdout);
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    output += &recorded(&end.stderr);
    ActionOutcome::Failed { reason, output }.naming(refused_line(&end.refused))
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

async fn ask_person(io: &Io, record: &StepRecord) -> ActionOutcome {
    let step = &record.step;
    io.note(format!("\n{}\n", text::printable(&step.action))).await;
    let question = "Press Enter when it is done, or type `fail` and why: ";
    match io.ask(question).await {
        Ok(answer) => match answer.trim().strip_prefix("fail") {
            None => ActionOutcome::Done,
            Some(why) => ActionOutcome::failed(format!("you said: fail {}", why.trim())),
        },
        Err(failure) if failure.is_interrupted() => ActionOutcome::Interrupted,
        Err(failure) => ActionOutcome::failed(format!("nobody is there to act: {failure}")),
    }
}

/// Largest usage report that is read.
const REPORT_BYTES: u64 = 64 * 1024;

/// What an agent says that it used, in the file named by `ONLOOP_USAGE_FILE`:
/// `{"cost_usd": 0.12, "tokens": 3400}`. What is missing or not an amount is unknown.
async fn read_usage(io: &Io, path: &str) -> Usage {
    let report: Value = match io.read(path, REPORT_BYTES).await {
        Ok((bytes, _)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    let cost = report.get("cost_usd").and_then(Value::as_f64);
    let tokens = report.get("tokens").and_then(Value::as_u64);
    Usage {
        agents: 1,
        cost: cost.and_then(Money::from_usd).map_or(Amount::Unknown, Amount::Known),
        tokens: tokens.map_or(Amount::Unknown, Amount::Known),
    }
}
