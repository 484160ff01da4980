//! The turn of a client whose stream onloop reads: how it starts, and its outcome.

mod cause;
mod guard;
mod opening;
mod rollout;
mod verdict;
mod watch;

use guard::GuardFiles;
use opening::Opening;
use verdict::TurnVerdict;
use watch::{Bounds, Watch};

use super::{ActionOutcome, TurnStop, attempt_name, ended, spec, write_prompt};
use crate::run::agent_stream;
use crate::run::context::RunContext;
use crate::run::forks;
use crate::run::options::TurnOptions;
use crate::run::telemetry;
use crate::sandbox::choice::Sandbox;
use crate::spending::Spending;
use crate::state::store::{Store, StoreError};
use onloop_agents::confine::refused_line;
use onloop_agents::{AgentState, CallEnd, Client, SeenCall, TurnClient, TurnSettings};
use onloop_documents::turn_policy::{JudgedCall, TURN_POLICY_VARIABLE};
use onloop_effect::{Io, Mechanism, ProcessSpec};
use onloop_run::{
    Event, Run, StepRecord, ToolCall, ToolCallEnding, TurnEnding, TurnRecord, WaitReason,
};
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::tokens::Tokens;

/// Lets `client` act on the current attempt of a step, with `model` where that is not its own.
pub(super) async fn take(
    cx: &mut RunContext<'_>,
    client: &TurnClient<'_>,
    model: Option<&str>,
    version: Option<String>,
    record: &StepRecord,
) -> Result<ActionOutcome, TurnStop> {
    let (io, step) = (cx.io, record.step.number);
    let mut opening = opening::of(cx.run(), record, client.name, cx.options.turns.fresh_session);
    if let Some(why) = opening.anew {
        cx.store.note(format!("    a new conversation about step {step} begins: {why}"));
    }
    loop {
        let guard = guard::prepare(cx, client, record)
            .await
            .map_err(|failure| TurnStop::failed(format!("the agent was not started: {failure}")))?;
        let (version, options, sandbox) = (version.clone(), cx.options.turns, cx.sandbox());
        let (agent, client) = (client.name, client.client);
        let turn = Turn { io, agent, client, model, version, record, options, sandbox, guard };
        match Box::pin(turn.perform(cx.store, &opening)).await? {
            Performed::Outcome(outcome) => return Ok(outcome),
            Performed::NotResumed(why) => {
                cx.store.note(format!(
                    "    the conversation about step {step} cannot continue ({why}); a new one begins"
                ));
                opening = Opening::default();
            }
        }
    }
}

/// Names the files of the next turn: those of its attempt, with a number where its provider had
/// stopped serving an earlier turn of it.
fn turn_name(run: &Run, record: &StepRecord) -> String {
    let attempt = attempt_name(record);
    match run.turns_of(record.step.number, record.attempts) {
        0 => attempt,
        earlier => format!("{attempt}.{}", earlier + 1),
    }
}

/// What came of starting a client.
enum Performed {
    /// It ran, or could not start.
    Outcome(ActionOutcome),
    /// It ended without continuing its conversation: why, on one line.
    NotResumed(String),
}

struct Turn<'a> {
    io: &'a Io,
    /// Its name in the record.
    agent: &'a str,
    client: Client,
    model: Option<&'a str>,
    /// What it said about its version before.
    version: Option<String>,
    record: &'a StepRecord,
    options: TurnOptions,
    sandbox: &'a Sandbox,
    guard: GuardFiles,
}

impl Turn<'_> {
    async fn perform(&self, store: &mut Store, opening: &Opening) -> Result<Performed, TurnStop> {
        let (io, record) = (self.io, self.record);
        let (name, paths) = (turn_name(store.run(), record), store.paths().clone());
        let mut spending = Spending::of(io, store.run()).await;
        let left = match &mut spending {
            Some(spending) => spending.left(io, &store.run().id).await,
            None => None,
        };
        let whole = forks::beside_turn(io, store.run()).await;
        let prompt = opening.prompt(store.run(), record);
        write_prompt(io, &paths, &name, &prompt).await?;
        let settings = TurnSettings {
            guard: self.guard.form.clone(),
            model: self.model.map(str::to_owned),
            acp: self.guard.acp.clone(),
            session: opening.session.clone(),
            max_cost: least(
                cost_left(whole.as_ref().unwrap_or(store.run())),
                left.map(|left| left.amount),
            ),
            is_repository: store.run().place.repo_root.is_some(),
            has_own_sandbox: self.has_own_sandbox(store.run()).await,
            opencode_config: io.env("OPENCODE_CONFIG_CONTENT").map(str::to_owned),
        };
        let launch = self.client.launch(&settings);
        let mut spec = spec(io, store.run(), record, launch.command, self.options.timeout_ms)
            .with_env(launch.env)
            .with_env([("ONLOOP_PROMPT_FILE", paths.prompt(&name))])
            .with_env([(TURN_POLICY_VARIABLE, paths.policy(&name))])
            .with_env(telemetry::context(io, store, record).await)
            .stream_to(paths.stream(&name))
            .with_stdin(prompt);
        spec.capture_bytes = limits::AGENT_LINE_BYTES;
        let mut needs = self.guard.needs.clone();
        needs.may_read.push(paths.prompt(&name));
        let state = AgentState::new(self.client, opening.used);
        let attempt = attempt_name(record);
        let session = opening.session.as_deref();
        let bounds = Bounds::of(store.run(), whole.as_ref(), (spending, left));
        let mut watch = Watch::new(self, state, session, (paths.clone(), &attempt), bounds).await;
        let end = ended(watch.follow(spec, needs, store).await, "agent")?;
        watch.finish(end.as_ref()).await;
        let judged = self.judged().await;
        let TurnVerdict { ending, outcome } = match (&end, watch.ended.take()) {
            (_, Some(cause)) => self.of_cause(cause, &watch),
            (Some(end), None) => self.of_end(end.status, &judged, &watch),
            (None, None) => self.interrupted(),
        };
        let refused = end.as_ref().and_then(|end| refused_line(&end.refused));
        let outcome = outcome.naming(refused);
        self.book(store, &watch.heard.state, &judged, ending)?;
        watch.forget_cost().await;
        Ok(match outcome {
            ActionOutcome::Failed { reason, output: _ }
                if opening.session.is_some() && end.is_some() && watch.heard.state.is_idle() =>
            {
                Performed::NotResumed(reason)
            }
            outcome => Performed::Outcome(outcome),
        })
    }

    /// Whether the client can set up a sandbox of its own, which only Codex has. Inside of another one
    /// it takes namespaces in namespaces, which root for one does not get.
    async fn has_own_sandbox(&self, run: &Run) -> bool {
        match (self.client, self.sandbox.mechanism()) {
            (Client::Codex, Some(Mechanism::Bubblewrap)) => {
                let spec = ProcessSpec::argv(["unshare", "--user", "--map-root-user", "true"]);
                self.sandbox.succeeds(self.io, &run.place.execution_root, spec).await
            }
            (_, Some(Mechanism::Landlock | Mechanism::Seatbelt)) => false,
            (_, Some(Mechanism::Bubblewrap) | None) => true,
        }
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

    /// What a turn has cost, as its client says, else by the user's prices, whose date comes with
    /// it; `None`: unknown.
    fn cost(&self, state: &AgentState) -> Option<(Money, Option<&str>)> {
        agent_stream::cost(state, self.guard.prices.as_ref())
    }

    /// The calls of tools, without what they were about.
    fn calls(&self, state: &AgentState) -> Vec<ToolCall> {
        let now = self.io.now();
        let call = |seen: &SeenCall| {
            let (ended, ending) = match seen.ended {
                None => (now, ToolCallEnding::Open),
                Some((at, CallEnd::Done)) => (at, ToolCallEnding::Done),
                Some((at, CallEnd::Failed)) => (at, ToolCallEnding::Failed),
                Some((at, CallEnd::Denied)) => (at, ToolCallEnding::Denied),
            };
            let tool = self.io.redacted(&text::one_line(&seen.tool));
            ToolCall { tool, at: seen.begun, took_ms: ended.millis_since(seen.begun), ending }
        };
        state.seen_calls().0.iter().map(call).collect()
    }

    /// Records what the turn came to, whatever it was.
    fn book(
        &self,
        store: &mut Store,
        state: &AgentState,
        judged: &[JudgedCall],
        ending: TurnEnding,
    ) -> Result<(), StoreError> {
        let denied = judged.iter().filter(|call| call.is_denied()).count() as u64;
        // A provider that refused the only request has counted nothing.
        let refusals = [WaitReason::Limited, WaitReason::Overloaded].map(TurnEnding::Refused);
        let is_free = state.is_idle() && refusals.contains(&ending);
        let cost = self.cost(state).or(is_free.then_some((Money::ZERO, None)));
        let turn = TurnRecord {
            step: self.record.step.number,
            attempt: self.record.attempts,
            agent: self.agent.to_owned(),
            client_version: state.version().map(str::to_owned).or_else(|| self.version.clone()),
            session: state.session().map(str::to_owned),
            model: state.model().map(str::to_owned),
            tokens: state.tokens().or(is_free.then(Tokens::default)),
            session_tokens: state.session_tokens(),
            cost: cost.map(|(cost, _)| cost),
            prices_as_of: cost.and_then(|(_, as_of)| as_of.map(str::to_owned)),
            // Not every client tells of calls that a hook refused, and ours does not see those
            // that the client refuses itself.
            denied: denied.max(state.denied()),
            ending: Some(ending),
            is_idle: state.is_idle(),
            ended_at: None,
            calls: self.calls(state),
            more_calls: state.seen_calls().1,
        };
        store.apply(Event::AgentEnded(turn)).map_err(StoreError::Overtaken)
    }
}

/// The smaller of two bounds.
fn least(one: Option<Money>, two: Option<Money>) -> Option<Money> {
    one.into_iter().chain(two).min()
}

/// What the run may still cost.
fn cost_left(run: &Run) -> Option<Money> {
    let limit = run.settings.budgets.cost?;
    Some(limit.saturating_sub(run.usage.cost.known()?))
}

/// The tokens that agents of the run may still use.
fn tokens_left(run: &Run) -> Option<u64> {
    Some(run.settings.budgets.tokens?.saturating_sub(run.usage.tokens.known()?))
}
