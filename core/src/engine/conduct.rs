//! Conducting a run: a loop over [`Run::next`], used by `run` and `resume` alike.
//!
//! Changes are stored before anything acts on them, and said after they are stored. Several
//! transitions between two effects share one durable write.

use crate::agent::Agent;
use crate::effect::{Exit, FailureKind, Io};
use crate::engine::act::{self, Turn, act};
use crate::engine::stall::Stall;
use crate::engine::store::{Store, StoreError};
use crate::engine::verify::{Conditions, Verification, repeat_checks, verify_step};
use crate::engine::{ask, ending, review, usage};
use crate::run::{
    Decision, Event, Mode, Next, Platform, Refusal, RunStatus, StepStatus, step_line, step_list,
};

/// How a run is conducted by this process.
#[derive(Debug)]
pub(crate) struct Conduct {
    /// Who acts.
    pub(crate) agent: Agent,
    /// Time for one attempt.
    pub(crate) agent_timeout_ms: u64,
    /// How checks are evaluated.
    pub(crate) conditions: Conditions,
    /// Print the whole list at each transition.
    pub(crate) verbose: bool,
    /// Form of the final summary.
    pub(crate) platform: Platform,
    /// The final summary is JSON.
    pub(crate) json: bool,
    /// Options with which the run is conducted like this again, each after a space.
    pub(crate) again: String,
}

/// Why the loop ended.
pub(crate) enum Stop {
    /// The run is over, blocked or paused; its record says which.
    AtRest,
    /// The person interrupted.
    Interrupted,
    /// The host or another process stood in the way.
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        match error {
            StoreError::Failed(failure) if failure.kind == FailureKind::Interrupted => {
                Stop::Interrupted
            }
            error @ (StoreError::Missing
            | StoreError::Unreadable(_)
            | StoreError::Failed(_)
            | StoreError::Overtaken(_)) => Stop::Failed(error),
        }
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Failed(StoreError::Overtaken(refusal))
    }
}

/// Works on a run until it is over, blocked, paused or interrupted, and says how it ended.
pub(crate) async fn conduct(io: &Io, mut store: Store, how: &Conduct) -> Exit {
    let mut stall = Stall::default();
    let stop = loop {
        if let Err(stop) = take_turn(io, &mut store, how, &mut stall).await {
            break stop;
        }
    };
    let stop = match stop {
        Stop::Interrupted => match pause(&mut store, "interrupted").await {
            Ok(()) => Stop::Interrupted,
            Err(stop) => stop,
        },
        Stop::AtRest | Stop::Failed(_) => stop,
    };
    ending::tell(io, &store, how, stop).await
}

async fn take_turn(
    io: &Io,
    store: &mut Store,
    how: &Conduct,
    stall: &mut Stall,
) -> Result<(), Stop> {
    match store.run().next() {
        Next::Start { step, attempt } => {
            if attempt > 1
                && let Some(why) = stall.look(io, store, &how.agent, step).await
            {
                return Err(pause(store, &why).await.err().unwrap_or(Stop::AtRest));
            }
            store.apply(Event::StepStarted { step })?;
            say_step(store, how, step);
        }
        Next::Act { step } => {
            store.commit().await?;
            let record = store.run().step(step).expect("`next` names steps that exist");
            let turn = act(io, &how.agent, store.run(), record, how.agent_timeout_ms).await;
            report_usage(io, store, how, step).await?;
            record_turn(store, how, step, turn)?;
        }
        Next::Verify { step } => {
            let record = store.run().step(step).expect("`next` names steps that exist");
            match verify_step(io, store.run(), record, &how.conditions).await {
                Verification::Interrupted => return Err(Stop::Interrupted),
                Verification::Finished(results) => {
                    store.apply(Event::StepVerified { step, results })?;
                }
            }
            say_verified(store, how, step);
        }
        Next::Approve { step, .. } => {
            let (decision, mode) = (Decision::Approved, Mode::Auto);
            store.apply(Event::GateDecided { step, decision, mode })?;
            say_step(store, how, step);
        }
        Next::Block { step, reason } => {
            store.apply(Event::StepBlocked { step, reason })?;
        }
        Next::Review { step } => {
            store.commit().await?;
            let event = review::perform(io, store.run(), step, how.agent_timeout_ms).await;
            store.apply(event.ok_or(Stop::Interrupted)?)?;
        }
        Next::Repeat => {
            store.commit().await?;
            let repeated = repeat_checks(io, store.run(), &how.conditions).await;
            let (repeated, failures) = repeated.ok_or(Stop::Interrupted)?;
            store.apply(Event::ChecksRepeated { repeated, failures })?;
        }
        Next::Finalize => store.apply(Event::RunFinalized)?,
        Next::Ask(question) => {
            store.commit().await?;
            match ask::person(io, store, &question).await? {
                ask::Answer::Event(event) => answer(store, how, event)?,
                ask::Answer::Nobody => {
                    let reason = ask::reason(store.run(), &question);
                    return Err(pause(store, &reason).await.err().unwrap_or(Stop::AtRest));
                }
            }
        }
        Next::Blocked(_) | Next::Finished => {
            store.commit().await?;
            return Err(Stop::AtRest);
        }
    }
    Ok(())
}

/// Records a person's answer and says what it means.
fn answer(store: &mut Store, how: &Conduct, event: Event) -> Result<(), Stop> {
    let gate = match &event {
        Event::GateDecided { step, .. } => Some(*step),
        _ => None,
    };
    store.apply(event)?;
    if let Some(step) = gate {
        say_step(store, how, step);
    }
    Ok(())
}

/// Records what the agent of the attempt says it used.
async fn report_usage(io: &Io, store: &mut Store, how: &Conduct, step: u32) -> Result<(), Stop> {
    match &how.agent {
        Agent::Preset(_) | Agent::CommandLine(_) => {}
        Agent::Script | Agent::You => return Ok(()),
    }
    let attempts = store.run().step(step).map_or(0, |record| record.attempts);
    let file = store.paths().usage(&format!("{step}-{attempts}"));
    let usage = usage::read(io, &file).await;
    Ok(store.apply(Event::UsageReported(usage))?)
}

fn record_turn(store: &mut Store, how: &Conduct, step: u32, turn: Turn) -> Result<(), Stop> {
    match turn {
        act::Turn::Done => store.apply(Event::StepActed { step })?,
        act::Turn::Failed { reason, output } => {
            store.apply(Event::ActionFailed { step, reason, output })?;
            say_failure(store, how, step);
        }
        act::Turn::Interrupted => return Err(Stop::Interrupted),
    }
    Ok(())
}

/// Makes the run wait for a person, durably.
async fn pause(store: &mut Store, reason: &str) -> Result<(), Stop> {
    if store.run().status == RunStatus::Running {
        store.apply(Event::RunPaused { reason: reason.to_owned() })?;
    }
    store.commit().await?;
    Ok(())
}

fn say_verified(store: &mut Store, how: &Conduct, step: u32) {
    match &store.run().step(step).expect("it was just verified").status {
        StepStatus::Failed { .. } => say_failure(store, how, step),
        // The approval says both: done, and approved.
        StepStatus::Done if matches!(store.run().next(), Next::Approve { .. }) => {}
        StepStatus::Done
        | StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Blocked(_) => say_step(store, how, step),
    }
}

fn say_step(store: &mut Store, how: &Conduct, step: u32) {
    let run = store.run();
    let line = if how.verbose || run.terms.progress_verbose {
        step_list(run)
    } else {
        step_line(run.step(step).expect("callers name steps that exist"))
    };
    store.note(line);
}

/// A failure is worth its reason and the end of what was said.
fn say_failure(store: &mut Store, how: &Conduct, step: u32) {
    const LINES: usize = 12;
    say_step(store, how, step);
    let record = store.run().step(step).expect("callers name steps that exist");
    let Some(failure) = &record.last_failure else { return };
    let mut said = format!("    {}\n", failure.reason);
    let lines: Vec<&str> = failure.output.lines().collect();
    let hidden = lines.len().saturating_sub(LINES);
    if hidden > 0 {
        said += &format!("    | … {hidden} more lines in the report\n");
    }
    for line in &lines[hidden..] {
        said += &format!("    | {}\n", crate::text::ellipsis(line, 400));
    }
    store.note(said);
}
