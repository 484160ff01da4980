//! The attempts at one step, as the ledger has them.

use serde::{Deserialize, Serialize};

use super::run::CheckView;
use super::{check_view, line, moment, moment_if};
use onloop_run::{CheckResult, Event, Run, StepRecord, TurnRecord, checks};
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// One attempt at a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AttemptView {
    /// Its number, from 1; its log and prompt are named by it.
    pub number: u32,
    /// When it began.
    #[serde(serialize_with = "moment")]
    pub started_at: Timestamp,
    /// When its agent was done.
    #[serde(serialize_with = "moment_if")]
    pub acted_at: Option<Timestamp>,
    /// When its checks were done, or it failed.
    #[serde(serialize_with = "moment_if")]
    pub ended_at: Option<Timestamp>,
    /// `passed`, `failed` or `open`.
    pub result: &'static str,
    /// Why it failed, on one line.
    pub reason: Option<String>,
    /// The end of what the agent said, where it failed.
    pub output: String,
    /// Its agent.
    pub agent: Option<String>,
    /// The model of the agent.
    pub model: Option<String>,
    /// Tokens of its turns; `None`: unknown.
    pub tokens: Option<u64>,
    /// What its turns cost, in USD; `None`: unknown.
    pub cost_usd: Option<f64>,
    /// The date of the prices by which the cost was estimated; `None`: the client said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices_as_of: Option<String>,
    /// Calls of tools that were refused.
    pub refused: u64,
    /// Its checks.
    pub checks: Vec<EvaluatedCheck>,
    /// The checkpoint of the run that holds its work, as `onloop undo` takes it; `None`: there is none, as
    /// of an attempt in a worktree of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
}

/// A check and what its command wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvaluatedCheck {
    /// The check and its result.
    #[serde(flatten)]
    pub view: CheckView,
    /// The exit code of its command.
    pub exit_code: Option<i32>,
    /// The end of what the command wrote.
    pub output: String,
}

/// When a line of a ledger was written.
#[derive(Deserialize)]
struct Moment {
    at: String,
}

/// The attempts at a step of `run`, oldest first, from the lines of its ledger, which was read before. A
/// step has fewer than it counts where the record began elsewhere.
pub fn attempts(run: &Run, step: u32, ledger: &[u8]) -> Vec<AttemptView> {
    let Some(record) = run.step(step) else { return Vec::new() };
    let mut found = Vec::new();
    let of_step = format!("\"step\":{step}");
    for bytes in ledger.split(|byte| *byte == b'\n') {
        // Most lines are about something else, and few are worth reading twice.
        if memchr::memmem::find(bytes, of_step.as_bytes()).is_none() {
            continue;
        }
        let (Ok(event), Ok(moment)) =
            (serde_json::from_slice(bytes), serde_json::from_slice(bytes))
        else {
            continue;
        };
        let Moment { at } = moment;
        if let Some(at) = Timestamp::parse(&at) {
            take(&mut found, record, &event, at);
        }
    }
    let before = record.attempts.saturating_sub(found.len() as u32);
    for (attempt, number) in found.iter_mut().zip(before + 1..) {
        attempt.number = number;
        let of_attempt = |turn: &&TurnRecord| turn.step == step && turn.attempt == number;
        let turns: Vec<&TurnRecord> = run.turns.iter().filter(of_attempt).collect();
        attempt.add_turns(&turns);
    }
    found
}

/// The attempts at a step that had forks: those of each fork, oldest first, and those of the run. The
/// first one of the run after a fork is the last one of the fork: its merge.
pub fn joined(
    run: &Run,
    step: u32,
    forks: Vec<Vec<AttemptView>>,
    own: Vec<AttemptView>,
) -> Vec<AttemptView> {
    let mut all: Vec<AttemptView> = forks.into_iter().flatten().collect();
    for (attempt, number) in all.iter_mut().zip(1..) {
        attempt.number = number;
    }
    for attempt in own {
        match all.iter_mut().find(|known| known.number == attempt.number) {
            Some(known) if attempt.ended_at.is_some() => known.end_as(attempt),
            Some(_) => {}
            None => all.push(attempt),
        }
    }
    for attempt in &mut all {
        let name = format!("{step}-{}", attempt.number);
        attempt.checkpoint = run.checkpoint_named(&name).map(|_| name);
    }
    all
}

/// Takes an event of the step of `record`.
fn take(found: &mut Vec<AttemptView>, record: &StepRecord, event: &Event, at: Timestamp) {
    let number = record.step.number;
    match event {
        Event::StepStarted { step } if *step == number => found.push(AttemptView::begun(at)),
        Event::StepActed { step } if *step == number => {
            if let Some(attempt) = found.last_mut() {
                attempt.acted_at = Some(at);
            }
        }
        Event::ActionFailed { step, reason, output } if *step == number => {
            if let Some(attempt) = found.last_mut() {
                (attempt.ended_at, attempt.result) = (Some(at), "failed");
                attempt.reason = Some(line(reason));
                attempt.output = shown(output);
            }
        }
        Event::StepVerified { step, results } if *step == number => {
            if let Some(attempt) = found.last_mut() {
                attempt.ended_at = Some(at);
                attempt.checks = evaluated(record, results);
                let failed = attempt.checks.iter().find(|check| check.view.result == "failed");
                attempt.result = if failed.is_some() { "failed" } else { "passed" };
                attempt.reason = failed.and_then(|check| check.view.reason.clone());
            }
        }
        _ => {}
    }
}

impl AttemptView {
    fn begun(at: Timestamp) -> AttemptView {
        AttemptView { started_at: at, result: "open", ..AttemptView::default() }
    }

    /// Its work was merged, and this came of it in the run.
    fn end_as(&mut self, merged: AttemptView) {
        (self.ended_at, self.result, self.reason) = (merged.ended_at, merged.result, merged.reason);
        if !merged.checks.is_empty() {
            self.checks = merged.checks;
        }
        if !merged.output.is_empty() {
            self.output = merged.output;
        }
    }

    fn add_turns(&mut self, turns: &[&TurnRecord]) {
        let Some(last) = turns.last() else { return };
        self.agent = Some(line(&last.agent));
        self.model = last.model.as_deref().map(line);
        self.tokens = turns.iter().map(|turn| turn.tokens.map(|tokens| tokens.total())).sum();
        self.prices_as_of =
            turns.iter().filter_map(|turn| turn.prices_as_of.as_deref()).min().map(line);
        self.refused = turns.iter().fold(0, |sum, turn| sum.saturating_add(turn.denied));
        let add = |sum: Money, turn: &&TurnRecord| Some(sum.saturating_add(turn.cost?));
        self.cost_usd = turns.iter().try_fold(Money::default(), add).map(Money::usd);
    }
}

fn evaluated(record: &StepRecord, results: &[CheckResult]) -> Vec<EvaluatedCheck> {
    let as_then = StepRecord { results: results.to_vec(), ..record.clone() };
    let views = checks(&as_then).into_iter().enumerate().map(|(index, fact)| {
        let result = results.iter().find(|result| result.check as usize == index);
        EvaluatedCheck {
            view: check_view(&fact),
            exit_code: result.and_then(|result| result.measured?.exit_code),
            output: result.map_or_else(String::new, |result| {
                let parts = [result.stdout.trim_end(), result.stderr.trim_end()];
                let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                shown(&said.join("\n"))
            }),
        }
    });
    views.collect()
}

/// The end of an output, fit for a screen.
fn shown(output: &str) -> String {
    text::suffix(&text::printable(output), limits::BOARD_LOG_BYTES as usize).to_owned()
}
