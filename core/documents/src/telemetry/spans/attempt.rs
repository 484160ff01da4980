//! The spans of one attempt: the turns of its agent and its checks.

use super::{Reading, content, turn_id};
use crate::run::{check_type, verdict_parts};
use crate::telemetry::TurnPlace;
use crate::telemetry::otlp::Attributes;
use onloop_run::{
    BlockReason, CheckResult, Run, StepStatus, ToolCall, ToolCallEnding, TurnEnding, TurnRecord,
    Wait, describe_check,
};
use onloop_syntax::time::Timestamp;

impl Reading<'_> {
    /// An attempt that is still open was cut short.
    pub(super) fn begin_attempt(&mut self, step: u32, run: &Run) {
        self.end_attempt(step, "interrupted");
        self.agents.remove(&step);
        self.checks.clear();
        let (parent, at) = (self.step(step, run), self.at);
        let span = self.add(("attempt", self.seq), parent, at);
        span.attributes.int("onloop.step.number", step);
        if let Some(record) = run.step(step) {
            span.attributes.int("onloop.attempt.number", record.attempts);
        }
        self.open.insert(step, self.trace.spans.len() - 1);
    }

    /// The span keeps its end: the time of the last event that belongs to it.
    pub(super) fn end_attempt(&mut self, step: u32, outcome: &'static str) {
        let Some(attempt) = self.open.remove(&step) else { return };
        *self.trace.attempts.entry(outcome).or_default() += 1;
        let span = &mut self.trace.spans[attempt];
        span.attributes.text("onloop.attempt.outcome", outcome);
        let is_error = ["action_failed", "check_failed", "blocked"].contains(&outcome);
        span.error = is_error.then_some(outcome);
    }

    pub(super) fn fail_attempt(&mut self, step: u32, reason: &str, output: &str) {
        if let Some(&attempt) = self.open.get(&step).filter(|_| self.trace.with_content) {
            let attributes = &mut self.trace.spans[attempt].attributes;
            attributes.text("onloop.attempt.reason", content(reason));
            attributes.text("onloop.attempt.output", content(output));
        }
        self.end_attempt(step, "action_failed");
    }

    /// The turn of a client whose stream onloop reads.
    pub(super) fn end_turn(&mut self, turn: &TurnRecord, run: &Run) {
        let parent = self.work(turn.step, run);
        let start = self.agents.remove(&turn.step).unwrap_or(self.trace.spans[parent].start);
        let (step, attempt) = (turn.step, turn.attempt);
        let earlier = run.turns_of(step, attempt).saturating_sub(1);
        let id = turn_id(&self.seed, TurnPlace { step, attempt, earlier });
        let span = self.add(("invoke_agent", self.seq), parent, start);
        span.id = id;
        span.name = format!("invoke_agent {}", turn.agent);
        span.is_client = true;
        span.attributes = turn_attributes(turn);
        span.attributes.int("onloop.attempt.number", turn.attempt);
        span.error = turn_error(turn);
        let took_ms = span.end.millis_since(span.start);
        let index = self.trace.spans.len() - 1;
        for (number, call) in turn.calls.iter().enumerate() {
            self.call(index, number, call);
        }
        let turn = TurnRecord { calls: Vec::new(), ..turn.clone() };
        self.trace.turns.push((turn, took_ms));
    }

    /// A call of a tool, within its turn.
    fn call(&mut self, turn: usize, number: usize, call: &ToolCall) {
        let (begin, end) = (self.trace.spans[turn].start, self.trace.spans[turn].end);
        let kind = format!("call {number}");
        let span = self.add((&kind, self.seq), turn, begin);
        span.name = format!("execute_tool {}", call.tool);
        span.start = call.at.max(begin).min(end);
        span.end = span.start.later(call.took_ms).min(end);
        span.error = match call.ending {
            ToolCallEnding::Failed => Some("failed"),
            ToolCallEnding::Denied => Some("denied"),
            ToolCallEnding::Done | ToolCallEnding::Open => None,
        };
        span.attributes.text("gen_ai.operation.name", "execute_tool");
        span.attributes.text("gen_ai.tool.name", &call.tool);
        span.attributes.text("onloop.tool.ending", call.ending.as_str());
    }

    /// An agent whose stream onloop does not read, a script or a person.
    pub(super) fn end_agent(&mut self, step: u32, run: &Run) {
        let parent = self.work(step, run);
        if let Some(start) = self.agents.remove(&step) {
            self.add(("agent", self.seq), parent, start);
        }
    }

    pub(super) fn wait(&mut self, wait: &Wait, run: &Run) {
        let work = self.work(wait.step, run);
        let mut attributes = Attributes::default();
        attributes.text("gen_ai.agent.name", &wait.agent);
        attributes.text("onloop.wait.reason", wait.why.as_str());
        attributes.text("onloop.wait.until", &wait.until.to_rfc3339_millis());
        self.trace.spans[work].events.push((self.at, "onloop.provider_wait", attributes));
    }

    pub(super) fn baseline(&mut self, step: u32, passed: usize, run: &Run) {
        let parent = self.work(step, run);
        let start = std::mem::take(&mut self.checks).first().copied().unwrap_or(self.at);
        let span = self.add(("baseline", self.seq), parent, start);
        span.attributes.int("onloop.checks.passed", passed as u64);
    }

    pub(super) fn verify(&mut self, step: u32, results: &[CheckResult], run: &Run) {
        let parent = self.work(step, run);
        let mut starts = std::mem::take(&mut self.checks).into_iter();
        let mut cursor = starts.as_slice().first().copied().unwrap_or(self.at);
        for result in results {
            // Only commands are started; the ledger says how long each took.
            let started = result.measured.and_then(|_| starts.next());
            let start = started.unwrap_or(cursor).max(cursor);
            let took_ms = result.measured.map_or(0, |measured| measured.duration_ms);
            cursor = start.later(took_ms).min(self.at);
            self.check(parent, step, result, (start, cursor), run);
        }
        if let Some(record) = run.step(step) {
            self.end_attempt(step, outcome(&record.status));
        }
        self.ready.insert(step, self.at);
    }

    fn check(
        &mut self,
        parent: usize,
        step: u32,
        result: &CheckResult,
        (start, end): (Timestamp, Timestamp),
        run: &Run,
    ) {
        let (verdict, _, reason) = verdict_parts(&result.verdict);
        let (verdict, reason) = (verdict.as_str(), reason.unwrap_or_default());
        *self.trace.checks.entry(verdict).or_default() += 1;
        let with_content = self.trace.with_content;
        let check = run.step(step).and_then(|record| record.step.checks.get(result.check as usize));
        let kind = format!("check {}", result.check);
        let span = self.add((&kind, self.seq), parent, start);
        "check".clone_into(&mut span.name);
        span.end = end;
        span.error = (verdict == "failed").then_some("check_failed");
        let attributes = &mut span.attributes;
        attributes.int("onloop.step.number", step);
        attributes.int("onloop.check.number", u64::from(result.check) + 1);
        let kind = check.and_then(|check| check_type(std::slice::from_ref(check)));
        attributes.texts("onloop.check.type", kind);
        attributes.text("onloop.check.verdict", verdict);
        attributes.int("onloop.check.warnings", result.warnings.len() as u64);
        if let Some(code) = result.measured.and_then(|measured| measured.exit_code) {
            attributes.int("onloop.check.exit_code", code);
        }
        if with_content {
            attributes.texts("onloop.check.subject", check.map(describe_check).as_deref());
            attributes.text("onloop.check.reason", content(reason));
            attributes.text("onloop.check.stdout", content(&result.stdout));
            attributes.text("onloop.check.stderr", content(&result.stderr));
        }
    }
}

fn outcome(status: &StepStatus) -> &'static str {
    match status {
        StepStatus::Done => "passed",
        StepStatus::Failed { .. } => "check_failed",
        StepStatus::Blocked(BlockReason::HumanReview { .. } | BlockReason::ReviewRejected) => {
            "needs_human"
        }
        StepStatus::Blocked(BlockReason::Other(_)) => "blocked",
        StepStatus::Pending | StepStatus::InProgress(_) => "unfinished",
    }
}

/// The class of the error that a turn ended with.
pub(in crate::telemetry) fn turn_error(turn: &TurnRecord) -> Option<&'static str> {
    turn.ending.filter(|ending| *ending != TurnEnding::Completed).map(TurnEnding::as_str)
}

/// What turns have in common that are counted together.
pub(in crate::telemetry) fn operation(turn: &TurnRecord) -> Attributes {
    let mut attributes = Attributes::default();
    attributes.text("gen_ai.operation.name", "invoke_agent");
    attributes.text("gen_ai.provider.name", provider(turn));
    attributes.text("gen_ai.agent.name", &turn.agent);
    attributes.texts("gen_ai.request.model", turn.model.as_deref());
    attributes
}

fn turn_attributes(turn: &TurnRecord) -> Attributes {
    let mut attributes = operation(turn);
    attributes.texts("gen_ai.agent.version", turn.client_version.as_deref());
    attributes.texts("gen_ai.conversation.id", turn.session.as_deref());
    if let Some(tokens) = turn.tokens {
        attributes.int("gen_ai.usage.input_tokens", tokens.input);
        attributes.int("gen_ai.usage.cache_read.input_tokens", tokens.cached_input);
        attributes.int("gen_ai.usage.output_tokens", tokens.output);
    }
    if let Some(cost) = turn.cost {
        attributes.double("onloop.cost_usd", cost.usd());
        attributes.flag("onloop.cost_estimated", turn.prices_as_of.is_some());
    }
    attributes.texts("onloop.turn.ending", turn.ending.map(TurnEnding::as_str));
    attributes.int("onloop.turn.denied_calls", turn.denied);
    attributes.int("onloop.turn.calls", turn.calls.len() as u64 + turn.more_calls);
    attributes
}

/// Who serves the model, as far as agent and model say it.
fn provider(turn: &TurnRecord) -> &str {
    let prefix = turn.model.as_deref().and_then(|model| model.split_once('/'));
    match (turn.agent.split(':').next(), prefix) {
        (Some("claude"), _) => "anthropic",
        (Some("codex"), _) => "openai",
        (Some("gemini"), _) => "gcp.gemini",
        (_, Some((prefix, _))) => prefix,
        (_, None) => "_OTHER",
    }
}
