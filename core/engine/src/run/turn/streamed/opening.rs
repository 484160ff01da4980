//! How a turn begins: the conversation that it continues, and its prompt.

use onloop_run::{
    Run, StepRecord, TurnEnding, TurnRecord, continue_prompt, retry_prompt, step_prompt,
};
use onloop_syntax::tokens::Tokens;

/// With what a turn begins.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Opening {
    /// The conversation that continues; `None`: a new one.
    pub(super) session: Option<String>,
    /// What has been used in it, where its client counts so.
    pub(super) used: Tokens,
    /// Why an existing conversation does not continue.
    pub(super) anew: Option<&'static str>,
    words: Words,
}

/// What is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Words {
    /// Everything about the step.
    #[default]
    Step,
    /// What failed.
    Retry,
    /// That the attempt continues.
    Continue,
}

impl Opening {
    fn anew(why: &'static str) -> Opening {
        Opening { anew: Some(why), ..Opening::default() }
    }

    /// The prompt.
    pub(super) fn prompt(&self, run: &Run, record: &StepRecord) -> String {
        match self.words {
            Words::Step => step_prompt(run, record),
            Words::Retry => retry_prompt(record).unwrap_or_else(|| step_prompt(run, record)),
            Words::Continue => continue_prompt(record),
        }
    }
}

/// The conversation of the turn before, where the same client had it and something came of it. An
/// attempt continues its own conversation even where retries begin new ones.
pub(super) fn of(run: &Run, record: &StepRecord, agent: &str, is_fresh: bool) -> Opening {
    let is_of_step = |turn: &&TurnRecord| turn.step == record.step.number && !turn.is_idle;
    let mut turns = run.turns.iter().rev().filter(is_of_step);
    let Some(last) = turns.next() else { return Opening::default() };
    let goes_on = last.attempt == record.attempts;
    let is_retry = record.last_failure.is_some() && !is_fresh;
    if last.agent != agent || !(goes_on || is_retry) {
        return Opening::default();
    }
    let Some(session) = last.session.clone() else {
        return Opening::anew("the client did not name the one before");
    };
    let stalled = |turn: &TurnRecord| turn.ending == Some(TurnEnding::Stalled);
    if last.ending == Some(TurnEnding::TooLong) {
        return Opening::anew("the one before does not fit into its model any more");
    }
    if stalled(last)
        && turns.next().is_some_and(|turn| stalled(turn) && turn.session == last.session)
    {
        return Opening::anew("the one before stalled twice");
    }
    let words = if goes_on { Words::Continue } else { Words::Retry };
    let used = last.session_tokens.unwrap_or_default();
    Opening { session: Some(session), used, anew: None, words }
}
