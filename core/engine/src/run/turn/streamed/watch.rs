//! Watching a turn while it runs: its transcript is written as it grows, the status line shows what
//! the agent does, and a turn that cannot succeed any more is ended.

use super::cause::{Cause, wait_reason};
use super::rollout::Rollout;

use super::{Turn, cost_left, tokens_left};
use crate::run::agent_stream::{Listener, noted};
use crate::run::forks;
use crate::run::processes::{Work, WorkError, follow_recorded};
use crate::spending::{self, Left, Spending};
use crate::state::store::{Paths, Store};
use onloop_agents::confine::Needs;
use onloop_agents::{AgentErrorKind, AgentState, Retry};
use onloop_effect::{OutputAction, ProcessEnd, ProcessSpec};
use onloop_run::{Run, WaitReason, Worker};
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;
use onloop_syntax::{limits, text};

/// A turn that runs, as far as its stream has told of it.
pub(super) struct Watch<'a> {
    turn: &'a Turn<'a>,
    /// What the stream comes to.
    pub(super) heard: Listener,
    /// Why it was ended before it had ended itself.
    pub(super) ended: Option<Cause>,
    guarded: bool,
    /// What the client writes beside its stream, where it does.
    rollout: Option<Rollout>,
    life: Life,
    bounds: Bounds,
    /// Where the run keeps its files.
    paths: Paths,
}

impl<'a> Watch<'a> {
    /// A turn that has not begun, whose transcript goes to the log of `attempt`.
    pub(super) async fn new(
        turn: &'a Turn<'a>,
        state: AgentState,
        session: Option<&str>,
        (paths, attempt): (Paths, &str),
        bounds: Bounds,
    ) -> Watch<'a> {
        let rollout = Rollout::of(turn.io, turn.client, session).await;
        // An earlier turn of the attempt may have begun the log.
        let log = paths.log(attempt);
        let heard = Listener::new(turn.io, state, log, turn.options.verbose).await;
        let heard = heard.with_times(paths.log_times(attempt));
        Watch {
            turn,
            heard,
            ended: None,
            guarded: false,
            rollout,
            life: Life { signs: 0, silent_ms: 0, seen_at: turn.io.now() },
            bounds,
            paths,
        }
    }

    /// Starts the client and follows it to its end. `None`: it was ended, see `ended`.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or it cannot be recorded which processes act.
    pub(super) async fn follow(
        &mut self,
        spec: ProcessSpec,
        needs: Needs,
        store: &mut Store,
    ) -> Result<Option<ProcessEnd>, WorkError> {
        let io = self.turn.io;
        let work = Work::new(Worker::Agent, self.turn.record.step.number, self.turn.sandbox);
        let work = Work { needs, ..work };
        let on_lines = async |bytes: &[u8]| self.look(bytes).await;
        follow_recorded(io, store, work, spec, on_lines).await
    }

    /// Takes what the client wrote, if anything.
    async fn look(&mut self, bytes: &[u8]) -> OutputAction {
        let mut said = self.heard.push(bytes);
        said += &self.read_beside().await;
        self.heard.write(said).await;
        if !self.guarded && self.turn.is_unguarded(&self.heard.state) {
            self.guarded = !self.turn.judged().await.is_empty();
            if !self.guarded {
                self.ended = Some(Cause::Unguarded);
            }
        }
        self.bounds.look_around(self.turn, &self.heard.state, &self.paths).await;
        if self.ended.is_none() {
            self.ended = self.passed_bound().map(Cause::Bound).or_else(|| self.hopeless());
        }
        match self.ended {
            Some(_) => OutputAction::End,
            None => {
                let cost = self.turn.cost(&self.heard.state);
                OutputAction::Continue(Some(self.heard.activity(cost)))
            }
        }
    }

    /// The record has what the turn cost.
    pub(super) async fn forget_cost(&self) {
        if self.bounds.noted.is_some() {
            spending::forget_turn(self.turn.io, &self.paths).await;
        }
    }

    /// Which budget of the run the turn has passed, on one line.
    pub(super) fn passed_bound(&self) -> Option<String> {
        self.bounds.passed(self.turn, &self.heard.state)
    }

    /// Why nothing good can come of the turn any more. No client can be trusted to give up.
    fn hopeless(&mut self) -> Option<Cause> {
        let now = self.turn.io.now();
        self.life.look(self.heard.state.signs(), now);
        if self.heard.state.too_long() >= limits::SAME_ERRORS {
            return Some(Cause::TooLong);
        }
        let retry = self.heard.state.retrying();
        if let Some(cause) = retry.and_then(|retry| given_up(retry, now)) {
            return Some(cause);
        }
        let stall_ms = self.turn.options.stall_ms;
        let (works, longest_ms) = match self.heard.state.current_call() {
            Some(call) => (Some(&call.tool), stall_ms.max(limits::TOOL_STALL_TIMEOUT_MS)),
            None => (None, stall_ms),
        };
        if self.life.silent_ms < longest_ms {
            return None;
        }
        if let Some(why) = retry.and_then(|retry| wait_reason(retry.error.kind)) {
            return Some(Cause::NotServed { why, resets_at: None });
        }
        let silence = text::span(longest_ms);
        let while_tool = works.map_or_else(String::new, |tool| format!(" while `{tool}` ran"));
        Some(Cause::Stalled(format!("agent ended: no sign of life for {silence}{while_tool}")))
    }

    /// Takes what is only in the capture: what came last, and all of it where the host hands no
    /// lines over.
    pub(super) async fn finish(&mut self, end: Option<&ProcessEnd>) {
        let mut said = self.heard.finish(end);
        if let Some(rollout) = &mut self.rollout {
            rollout.is_due();
        }
        said += &self.read_beside().await;
        if let Some(end) = end {
            said += &noted(&end.stderr.text());
        }
        if let Some(cause) = &self.ended {
            said += &format!("! {}\n", self.turn.told(cause));
        }
        self.heard.write(said).await;
    }

    async fn read_beside(&mut self) -> String {
        let Some(rollout) = &mut self.rollout else { return String::new() };
        match self.heard.state.session() {
            Some(session) => {
                let bytes = rollout.read(self.turn.io, session).await;
                self.heard.state.push_beside(&bytes)
            }
            None => String::new(),
        }
    }
}

/// How long a turn has given no sign of life.
struct Life {
    /// Signs that there were.
    signs: u64,
    silent_ms: u64,
    seen_at: Timestamp,
}

impl Life {
    /// A machine that was asleep has not been waiting: of the time since the last look no more
    /// counts than there can be between two of them.
    fn look(&mut self, signs: u64, now: Timestamp) {
        let since_ms = now.millis_since(self.seen_at).min(5 * limits::TURN_LOOK_MS);
        let is_silent = signs == self.signs;
        self.silent_ms = if is_silent { self.silent_ms + since_ms } else { 0 };
        (self.signs, self.seen_at) = (signs, now);
    }
}

/// Why a client need not try again: its key is refused for good, or it would wait by itself for so
/// long that it cannot be told from one that hangs.
fn given_up(retry: &Retry, now: Timestamp) -> Option<Cause> {
    if retry.error.kind == AgentErrorKind::Auth {
        return (retry.times >= limits::SAME_ERRORS).then(|| Cause::Rejected(retry.error.clone()));
    }
    let wait_ms = retry.wait_ms.filter(|wait_ms| *wait_ms > limits::CLIENT_PAUSE_MS)?;
    let why = match wait_reason(retry.error.kind) {
        Some(why @ (WaitReason::Limited | WaitReason::Overloaded)) => why,
        Some(WaitReason::Unreachable) | None => return None,
    };
    Some(Cause::NotServed { why, resets_at: Some(now.later(wait_ms)) })
}

/// What a turn may use.
pub(super) struct Bounds {
    cost: Option<Money>,
    tokens: Option<u64>,
    /// What all runs of the machine have cost, where that has a bound.
    spending: Option<Spending>,
    /// What is left of that bound, without this turn.
    left: Option<Left>,
    /// The record of the run, where steps beside it share its bounds.
    beside: Option<Run>,
    /// What the turn had cost, and how many tokens it had used, at the last look.
    noted: Option<(Money, u64)>,
}

impl Bounds {
    /// What is left of the budgets of `run`, and of that of the machine. `whole` is all that counts together
    /// with it.
    pub(super) fn of(
        run: &Run,
        whole: Option<&Run>,
        (spending, left): (Option<Spending>, Option<Left>),
    ) -> Bounds {
        let beside = whole.map(|_| run.clone());
        let all = whole.unwrap_or(run);
        let (cost, tokens) = (cost_left(all), tokens_left(all));
        Bounds { cost, tokens, spending, left, beside, noted: None }
    }

    /// Tells other runs what this turn has cost, and hears what theirs have, whenever it costs more.
    async fn look_around(&mut self, turn: &Turn<'_>, state: &AgentState, paths: &Paths) {
        if self.spending.is_none() && self.beside.is_none() {
            return;
        }
        let cost = turn.cost(state).map_or(Money::ZERO, |(cost, _)| cost);
        let used = (cost, state.tokens().map_or(0, Tokens::total));
        if self.noted == Some(used) || used == (Money::ZERO, 0) {
            return;
        }
        self.noted = Some(used);
        spending::note_turn(turn.io, paths, used.0, used.1).await;
        if let Some(spending) = &mut self.spending {
            self.left = spending.left(turn.io, paths.id()).await;
        }
        if let Some(run) = &self.beside
            && let Some(whole) = forks::beside_turn(turn.io, run).await
        {
            (self.cost, self.tokens) = (cost_left(&whole), tokens_left(&whole));
        }
    }

    /// Which bound does not hold any more, on one line.
    fn passed(&self, turn: &Turn<'_>, state: &AgentState) -> Option<String> {
        let tokens = state.tokens().map(Tokens::total);
        if let (Some(limit), Some(used)) = (self.tokens, tokens)
            && used > limit
        {
            return Some(format!("agent ended: it has used {used} tokens, and {limit} were left"));
        }
        let (cost, as_of) = turn.cost(state)?;
        let estimated =
            as_of.map_or_else(String::new, |day| format!(" (estimated, prices of {day})"));
        let of_run = self.cost.map(|left| (left, String::new()));
        let of_machine = self.left.map(|left| (left.amount, format!(" of `{}`", left.key)));
        let (left, of) = of_run.into_iter().chain(of_machine).min_by_key(|(left, _)| *left)?;
        (cost > left).then(|| {
            format!(
                "agent ended: this turn has cost {cost} USD{estimated}, and {left} USD were left{of}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sleep_of_the_machine_is_no_silence() {
        let at = |s: i64| Timestamp::from_millis(s * 1000);
        let mut life = Life { signs: 0, silent_ms: 0, seen_at: at(0) };
        for (s, signs, silent_s) in
            [(2, 0, 2), (4, 0, 4), (5, 1, 0), (7, 1, 2), (40_000, 1, 12), (39_000, 1, 12)]
        {
            life.look(signs, at(s));
            assert_eq!(life.silent_ms, silent_s * 1000, "{s}");
        }
    }
}
