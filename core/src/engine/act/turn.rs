//! The turn of a client whose stream is understood: what it is started with, and what came of it.

mod watch;

use watch::Watch;

use super::line::guard as guard_of;
use super::{Acted, Ended, attempt_name, followed, spec, why_ended, write_prompt};
use crate::agent::{AgentError, AgentState, Client, TurnOutcome, TurnTerms};
use crate::documents::turn_policy;
use crate::documents::turn_policy::{JudgedCall, TurnGuard};
use crate::effect::{Durability, Expect, Failure, FailureKind, Io, ProcessStatus};
use crate::engine::choose_agent::on_path;
use crate::engine::conduct_args::TurnConditions;
use crate::engine::config;
use crate::engine::store::{Store, StoreError};
use crate::install::{TurnHook, Waits};
use crate::money::Money;
use crate::permission::{OnAsk, TurnPolicy};
use crate::run::{Event, Run, StepRecord, TurnRecord, retry_prompt, step_prompt};
use crate::tokens::Tokens;
use crate::workflow::Check;
use crate::{limits, text};

/// Lets `client` act on the current attempt of a step.
pub(super) async fn take(
    io: &Io,
    client: Client,
    store: &mut Store,
    record: &StepRecord,
    conditions: TurnConditions,
) -> Result<Acted, StoreError> {
    let guard = match prepare(io, client, store, record, conditions).await {
        Ok(guard) => guard,
        Err(failure) => return Ok(Acted::failed(format!("the agent was not started: {failure}"))),
    };
    let before = match conditions.fresh_session {
        true => None,
        false => conversation(store.run(), record, client),
    };
    let resumed = before.is_some();
    let turn = Turn { io, client, record, conditions, guard };
    let acted = match turn.perform(store, before).await? {
        Performed::NotResumed(why) if resumed => {
            let step = record.step.number;
            store.note(format!(
                "    the conversation about step {step} cannot go on ({why}); a new one begins"
            ));
            turn.perform(store, None).await?
        }
        performed => performed,
    };
    Ok(match acted {
        Performed::Acted(acted) => acted,
        Performed::NotResumed(why) => Acted::failed(format!("agent failed: {why}")),
    })
}

/// The files that one turn needs, written.
struct Guard {
    /// Our hook in the client's own form, see [`TurnTerms::guard`].
    form: String,
    /// Where the hook logs.
    calls: String,
}

/// Writes what the hook is told, before anybody can call it.
async fn prepare(
    io: &Io,
    client: Client,
    store: &Store,
    record: &StepRecord,
    conditions: TurnConditions,
) -> Result<Guard, Failure> {
    let mut program = io.start().program.clone();
    if program.is_empty() {
        if !on_path(io, "onloop").await {
            let why = "onloop runs inside another program here, and `onloop`, which would judge \
                       the agent's calls, is not on PATH";
            return Err(Failure::new(FailureKind::Unsupported, why));
        }
        program.push("onloop".to_owned());
    }
    let (paths, attempt) = (store.paths(), attempt_name(record));
    let guard = TurnGuard {
        policy: TurnPolicy {
            verification: verification(record),
            allowed: store.run().terms.allow.clone(),
            on_ask: conditions.on_ask,
        },
        state_home: store.home().folder().to_owned(),
        calls: paths.calls(&attempt),
    };
    let put = async |path: &str, bytes: Vec<u8>| {
        io.write(path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
    };
    let policy = paths.policy(&attempt);
    put(&policy, turn_policy::write(&guard)).await?;
    put(&guard.calls, Vec::new()).await?;
    let config = config::load(io, &store.run().place.execution_root).await.config;
    let hook = TurnHook { program, policy, wait_s: Waits::of(&config).call_s };
    let plugin = paths.plugin(&attempt);
    if client == Client::Opencode {
        put(&plugin, hook.opencode_plugin().into_bytes()).await?;
    }
    Ok(Guard { form: guard_of(client, &hook, &plugin), calls: guard.calls })
}

/// The lines of shell that verify a step.
fn verification(record: &StepRecord) -> Vec<String> {
    let lines = record.step.checks.iter().filter_map(|check| match check {
        Check::Shell(shell) => Some(shell.command.clone()),
        Check::Browser { .. } | Check::HumanReview { .. } | Check::Artifact { .. } => None,
    });
    lines.collect()
}

/// A conversation that a retry goes on with.
struct Conversation {
    session: String,
    /// What has been used in it, where its client counts so.
    used: Tokens,
}

/// The conversation of the attempt before, where the same client had it.
fn conversation(run: &Run, record: &StepRecord, client: Client) -> Option<Conversation> {
    record.last_failure.as_ref()?;
    let turn = run.turns.iter().rev().find(|turn| turn.step == record.step.number)?;
    let session = turn.session.clone().filter(|_| turn.agent == client.as_str())?;
    Some(Conversation { session, used: turn.session_tokens.unwrap_or_default() })
}

/// What came of starting a client.
enum Performed {
    /// It acted, or tried to.
    Acted(Acted),
    /// It ended without doing anything: why, on one line.
    NotResumed(String),
}

struct Turn<'a> {
    io: &'a Io,
    client: Client,
    record: &'a StepRecord,
    conditions: TurnConditions,
    guard: Guard,
}

impl Turn<'_> {
    async fn perform(
        &self,
        store: &mut Store,
        before: Option<Conversation>,
    ) -> Result<Performed, StoreError> {
        let (io, record) = (self.io, self.record);
        let (attempt, paths) = (attempt_name(record), store.paths().clone());
        let again = before.as_ref().and_then(|_| retry_prompt(record));
        let prompt = again.unwrap_or_else(|| step_prompt(store.run(), record));
        let prompt = io.redacted(&prompt);
        if let Err(failure) = write_prompt(io, &paths, &attempt, &prompt).await {
            let why = format!("the prompt could not be written: {failure}");
            return Ok(Performed::Acted(Acted::failed(why)));
        }
        let terms = TurnTerms {
            guard: self.guard.form.clone(),
            session: before.as_ref().map(|before| before.session.clone()),
            max_cost: cost_left(store.run()),
            is_repository: store.run().place.repo_root.is_some(),
            opencode_config: io.env("OPENCODE_CONFIG_CONTENT").map(str::to_owned),
        };
        let launch = self.client.launch(&terms).expect("its stream is read, so it can be started");
        let mut spec = spec(io, store.run(), record, launch.command, self.conditions.timeout_ms)
            .with_env(launch.env)
            .with_env([("ONLOOP_PROMPT_FILE", paths.prompt(&attempt))])
            .stream_to(paths.stream(&attempt))
            .with_stdin(prompt);
        spec.capture_bytes = limits::AGENT_LINE_BYTES;
        let used = before.as_ref().map_or_else(Tokens::default, |before| before.used);
        let mut watch = Watch::new(self, AgentState::new(self.client, used), paths.log(&attempt));
        let end = followed(watch.follow(spec, store).await, "agent")?;
        let end = match end {
            Ok(end) => end,
            Err(acted) => return Ok(Performed::Acted(acted)),
        };
        watch.finish(end.as_ref()).await;
        let judged = self.judged().await;
        self.book(store, &watch.state, &judged)?;
        let Some(end) = end else {
            let why = watch.ended.unwrap_or_default();
            return Ok(Performed::Acted(self.failed(why, &watch.transcript)));
        };
        let did_nothing = watch.state.judged_calls() == 0 && watch.state.said().is_empty();
        Ok(match self.verdict(&watch.state, end.status, &judged, &watch.transcript) {
            Acted::Failed { reason, output: _ } if before.is_some() && did_nothing => {
                Performed::NotResumed(reason)
            }
            acted => Performed::Acted(acted),
        })
    }

    /// A failed attempt, with the end of its transcript.
    fn failed(&self, reason: String, transcript: &str) -> Acted {
        let output = text::suffix(transcript, limits::RECORDED_OUTPUT_BYTES).to_owned();
        Acted::Failed { reason: self.io.redacted(&reason), output }
    }

    /// The calls that our hook judged.
    async fn judged(&self) -> Vec<JudgedCall> {
        let read = self.io.read_tail(&self.guard.calls, limits::HOOK_LOG_BYTES).await;
        read.map(|(bytes, _)| JudgedCall::read_log(&bytes)).unwrap_or_default()
    }

    /// Whether the client has used tools about which it should have asked our hook. Claude Code
    /// itself refuses what no hook allows.
    fn is_unguarded(&self, state: &AgentState) -> bool {
        state.judged_calls() > 0 && self.client != Client::Claude
    }

    fn unguarded(&self) -> String {
        format!(
            "agent failed: `{}` used tools without asking onloop; its hooks are switched off or \
             broken",
            self.client.as_str()
        )
    }

    /// Records what the turn came to, whatever it was.
    fn book(
        &self,
        store: &mut Store,
        state: &AgentState,
        judged: &[JudgedCall],
    ) -> Result<(), StoreError> {
        let denied = judged.iter().filter(|call| call.is_denied()).count() as u64;
        let turn = TurnRecord {
            step: self.record.step.number,
            attempt: self.record.attempts,
            agent: self.client.as_str().to_owned(),
            session: state.session().map(str::to_owned),
            model: state.model().map(str::to_owned),
            tokens: state.tokens(),
            session_tokens: state.session_tokens(),
            cost: state.cost(),
            // Not every client tells of calls that a hook refused, and ours does not see those
            // that the client refuses itself.
            denied: denied.max(state.denied()),
        };
        store.apply(Event::AgentEnded(turn)).map_err(StoreError::Overtaken)
    }

    fn verdict(
        &self,
        state: &AgentState,
        status: ProcessStatus,
        judged: &[JudgedCall],
        transcript: &str,
    ) -> Acted {
        let failed = |reason: String| self.failed(reason, transcript);
        if status == ProcessStatus::Interrupted {
            return Acted::Interrupted;
        }
        if judged.is_empty() && self.is_unguarded(state) {
            return failed(self.unguarded());
        }
        if let Some(call) = judged.iter().rev().find(|call| !call.decided && call.is_denied())
            && self.conditions.on_ask == OnAsk::Pause
        {
            return Acted::Undecided(format!("`{}: {}`: {}", call.tool, call.about, call.reason));
        }
        match state.outcome(status) {
            TurnOutcome::Completed => Acted::Done,
            TurnOutcome::Limited(limit) => {
                let until = limit
                    .resets_at
                    .map_or_else(String::new, |at| format!(", until {}", at.to_rfc3339()));
                failed(format!("agent failed: its limit on usage is reached{until}"))
            }
            TurnOutcome::Failed(AgentError { message, .. }) => {
                failed(format!("agent failed: {}", text::ellipsis(&text::one_line(&message), 300)))
            }
            TurnOutcome::NoFinalEvent => {
                failed(match why_ended(status, "agent", self.conditions.timeout_ms) {
                    Ended::Badly(reason) => reason,
                    Ended::Well | Ended::Interrupted => {
                        "agent failed: it ended without saying how its turn ended".to_owned()
                    }
                })
            }
        }
    }
}

/// What the run may still cost.
fn cost_left(run: &Run) -> Option<Money> {
    let limit = run.terms.budgets.cost?;
    Some(limit.saturating_sub(run.usage.cost.known()?))
}

/// The tokens that agents of the run may still use.
fn tokens_left(run: &Run) -> Option<u64> {
    Some(run.terms.budgets.tokens?.saturating_sub(run.usage.tokens.known()?))
}
