//! Limits that hold for all steps together. Each step looks before an attempt, and while its agent works,
//! at what the records of the run and of its forks say, so that they also hold while no process drives
//! the run itself.

use crate::run::advice;
use crate::run::context::{Halt, RunContext};
use crate::run::forks::opened;
use crate::run::options::RunOptions;
use crate::spending::noted_turn;
use crate::state::store::{Paths, Store};
use onloop_agents::Agent;
use onloop_effect::{Failure, Io};
use onloop_run::{Event, Exceeded, Run, StepRecord, UnderWay, Usage, exceeded};
use onloop_syntax::limits;
use onloop_workflow::Budgets;

/// The run with what all steps have used that work beside each other; `None`: there are none. `run` is the
/// run or one of its forks, of whose own attempt `own` counts; of the others everything does.
pub(crate) async fn together(
    io: &Io,
    run: &Run,
    (others, own): (UnderWay, UnderWay),
) -> Option<Run> {
    let parent = match &run.fork_of {
        Some(fork_of) => Some(opened(io, &fork_of.run).await?),
        None => None,
    };
    let mut whole = parent.as_ref().map_or(run, Store::run).clone();
    let open: Vec<(u32, String)> =
        whole.forked_steps().map(|(step, fork)| (step, fork.run.clone())).collect();
    if open.is_empty() {
        return None;
    }
    for (step, id) in open.into_iter().filter(|(_, id)| *id != run.id) {
        if let Some(fork) = opened(io, &id).await {
            whole = whole.counting([(step, fork.run())], others);
            if others != UnderWay::Nothing {
                whole = whole.with_usage(noted_turn(io, fork.paths()).await);
            }
        }
    }
    let Some(fork_of) = &run.fork_of else { return Some(whole) };
    // An agent that resolves conflicts works in the run itself.
    if others == UnderWay::Agents && whole.is_resolving() {
        whole = whole.with_usage(Usage { agents: 1, ..Usage::default() });
    }
    Some(whole.counting([(fork_of.step, run)], own))
}

/// What counts of an attempt under way: a script is no agent.
pub(crate) fn counted(options: &RunOptions) -> UnderWay {
    match options.agents.contains(&Agent::Script) {
        true => UnderWay::Attempts,
        false => UnderWay::Agents,
    }
}

/// The run with everything that its forks have used and reserved; `None`: it has none.
pub(crate) async fn reserved(io: &Io, run: &Run, options: &RunOptions) -> Option<Run> {
    let all = counted(options);
    Box::pin(together(io, run, (all, all))).await
}

/// As [`together`], for a turn that begins or is under way, and counts itself.
pub(crate) async fn beside_turn(io: &Io, run: &Run) -> Option<Run> {
    Box::pin(together(io, run, (UnderWay::Attempts, UnderWay::Nothing))).await
}

/// Records that an attempt at a step begins, unless a limit is reached. Of two steps that look at the same
/// time, one begins after the other.
pub(crate) async fn start_attempt(cx: &mut RunContext<'_>, step: u32) -> Result<(), Halt> {
    let (io, run, event) = (cx.io, cx.run(), Event::StepStarted { step });
    let is_beside = run.fork_of.is_some() || run.forked_steps().next().is_some();
    // The attempts of a fork count there.
    let is_forked = run.step(step).is_some_and(StepRecord::is_forked);
    if !is_beside || is_forked || run.settings.budgets == Budgets::default() {
        return Ok(cx.store.apply(event)?);
    }
    let whole = run.fork_of.as_ref().map_or(&run.id, |fork_of| &fork_of.run);
    let lock = Paths::new(cx.store.home(), "", whole).budget_lock();
    let locked = io.lock(&lock, limits::LOCK_WAIT_MS).await;
    if locked.as_ref().is_err_and(Failure::is_interrupted) {
        return Err(Halt::Interrupted);
    }
    let begun = start_within(cx, event).await;
    if locked.is_ok() {
        // A lock that stays ends with this process.
        let _ = io.unlock(&lock).await;
    }
    begun
}

async fn start_within(cx: &mut RunContext<'_>, event: Event) -> Result<(), Halt> {
    let whole = reserved(cx.io, cx.run(), cx.options).await;
    if let Some(whole) = whole.filter(|whole| !exceeded(whole).is_empty()) {
        return Err(cx.pause(&advice::budget_words(&whole)).await);
    }
    cx.store.apply(event)?;
    Ok(cx.store.commit().await?)
}

/// Why no further agent works on an attempt that has begun: one has already, or it is to resolve conflicts.
pub(crate) async fn used_up(cx: &RunContext<'_>, step: u32) -> Option<String> {
    let run = cx.run();
    let record = run.step(step)?;
    if record.fork.is_none() && run.turns_of(step, record.attempts) == 0 {
        return None;
    }
    let all = (counted(cx.options), UnderWay::Nothing);
    let whole = Box::pin(together(cx.io, run, all)).await?;
    // The attempt itself and its time were looked at when it began.
    let is_of_agents =
        |bound: &Exceeded| matches!(bound.name, "max_agents" | "max_tokens" | "max_cost_usd");
    exceeded(&whole).iter().any(is_of_agents).then(|| advice::budget_words(&whole))
}
