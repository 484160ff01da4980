//! Conducting a run: a loop over [`Run::next`], used by `run` and `resume` alike.
//!
//! Changes are stored before anything acts on them, and said after they are stored. Several
//! transitions between two effects share one durable write.

use crate::agent::Agent;
use crate::effect::{Exit, Io};
use crate::engine::act::{Acted, act};
use crate::engine::ask::Consulted;
use crate::engine::conduct_args::{Conduct, remember_options};
use crate::engine::decide::decider;
use crate::engine::ending::Halt;
use crate::engine::error::CommandError;
use crate::engine::gate_in_chat::gate_in_chat;
use crate::engine::keep::{Keeping, keep_acted, keep_beginning, keep_verified, keep_whole};
use crate::engine::patience::{Actor, record_refusal, whose_turn};
use crate::engine::protect::{self, Guarded};
use crate::engine::setup::{Readiness, make_ready};
use crate::engine::stall::Stall;
use crate::engine::store::{Store, StoreError};
use crate::engine::verify::{Verification, repeat_checks, verify_step};
use crate::engine::{advice, ask, ending, review};
use crate::limits;
use crate::run::{
    Decider, Door, Event, GateDecision, INTERRUPTED, Mode, Next, Phase, RunStatus, StepStatus,
    approval_line, checked_lines, step_line, step_list,
};
use crate::text;

/// Works on a run until it is over, blocked, paused or interrupted, and says how it ended.
///
/// # Errors
///
/// The run could not continue.
pub(crate) async fn conduct(
    io: &Io,
    mut store: Store,
    how: &Conduct,
) -> Result<Exit, CommandError> {
    let mut stall = Stall::default();
    let mut merges = store.merges();
    remember_options(io, store.paths(), &how.again).await;
    let begun = begin(io, &mut store, how).await.err();
    let halt = loop {
        if let Some(halt) = begun {
            break halt;
        }
        merges = store.merges();
        if let Err(halt) = take_turn(io, &mut store, how, &mut stall).await {
            break halt;
        }
    };
    let halt = match halt {
        Halt::Interrupted => match pause(&mut store, INTERRUPTED).await {
            Ok(()) => Halt::Interrupted,
            Err(halt) => halt,
        },
        Halt::AtRest | Halt::Failed(_) | Halt::Refused(_) => halt,
    };
    // `next` names only what `apply` accepts: a refusal has to come from a record that somebody
    // else changed during this turn. Otherwise it is our own mistake.
    let halt = match halt {
        Halt::Refused(refusal) => match store.was_changed_since(merges).await {
            Ok(true) => Halt::Failed(StoreError::Overtaken(refusal)),
            Ok(false) => Halt::Refused(refusal),
            Err(error) => Halt::Failed(error),
        },
        Halt::AtRest | Halt::Interrupted | Halt::Failed(_) => halt,
    };
    ending::tell(io, &store, how, halt).await
}

/// What comes before the first turn.
async fn begin(io: &Io, store: &mut Store, how: &Conduct) -> Result<(), Halt> {
    // Only a run that goes on now; one that waits for a person does not need its worktree yet.
    if matches!(store.run().next(), Next::Start { .. }) {
        match make_ready(io, store, &how.conditions.confining).await? {
            Readiness::Ready => {}
            Readiness::Interrupted => return Err(Halt::Interrupted),
            Readiness::Failed(error) => {
                store.note(error.render());
                return Err(pause(store, &error.to_string()).await.err().unwrap_or(Halt::AtRest));
            }
        }
    }
    going_on(keep_beginning(io, store).await)
}

async fn take_turn(
    io: &Io,
    store: &mut Store,
    how: &Conduct,
    stall: &mut Stall,
) -> Result<(), Halt> {
    match store.run().next() {
        Next::Start { step, attempt } => {
            if attempt > 1
                && let Some(why) = stall.look(io, store, &how.agents, step).await
            {
                return Err(pause(store, &why).await.err().unwrap_or(Halt::AtRest));
            }
            store.apply(Event::StepStarted { step })?;
            say_step(store, how, step);
        }
        Next::Act { step } => {
            store.commit().await?;
            let agent = match whose_turn(io, store, how).await? {
                Actor::Served(agent) => agent,
                Actor::Nobody(reason) => {
                    return Err(pause(store, &reason).await.err().unwrap_or(Halt::AtRest));
                }
            };
            take_step(io, store, how, &agent, step).await?;
        }
        Next::Verify { step } => {
            // Of a turn that was cut short nobody has looked at what it did.
            if is_cut_short(store, step)
                && let Err(acted) = guarded(protect::after_turn(io, store, step).await)?
            {
                return record_acted(io, store, how, step, acted).await;
            }
            match verify_step(io, store, step, &how.conditions).await? {
                Verification::Interrupted => return Err(Halt::Interrupted),
                Verification::Finished(results) => {
                    store.apply(Event::StepVerified { step, results })?;
                }
            }
            say_verified(store, how, step);
            say_remarks(store, Some(step));
            going_on(keep_verified(io, store, step).await?)?;
        }
        Next::Approve { step, reason } => {
            let (decision, mode) = (GateDecision::Approved, Mode::Auto);
            store.apply(Event::GateDecided { step, decision, mode })?;
            store.note(approval_line(step, reason, store.run().terms.risk));
            say_step(store, how, step);
        }
        Next::Block { step, reason } => {
            store.apply(Event::StepBlocked { step, reason })?;
        }
        Next::Review { step } => {
            store.commit().await?;
            let terms = (how.turns.timeout_ms, &how.conditions.confining);
            let event = review::perform(io, store, step, terms).await?;
            store.apply(event.ok_or(Halt::Interrupted)?)?;
        }
        Next::Repeat => {
            store.commit().await?;
            let repeated = repeat_checks(io, store, &how.conditions).await?;
            let before = store.run().remark_lines(None);
            store.apply(repeated.ok_or(Halt::Interrupted)?)?;
            if store.run().remark_lines(None) != before {
                say_remarks(store, None);
            }
        }
        Next::Finalize => {
            going_on(keep_whole(io, store).await?)?;
            store.apply(Event::RunFinalized)?;
        }
        Next::Ask(question) => {
            store.commit().await?;
            let (consulted, door) = match ask::is_attended(io) {
                true => (ask::person(io, store, &question).await, Door::Terminal),
                false => (gate_in_chat(io, store, &question).await, Door::Telegram),
            };
            let is_answer = !matches!(consulted, Consulted::Interrupted);
            if is_answer && store.look_again().await? {
                io.note("The run has changed since it was asked about; it goes on as it is now.")
                    .await;
                return Ok(());
            }
            match consulted {
                Consulted::Decided(event) => {
                    record_decision(store, how, event, decider(io, door))?;
                }
                Consulted::Nobody => {
                    let reason = advice::reason(store.run(), &question);
                    return Err(pause(store, &reason).await.err().unwrap_or(Halt::AtRest));
                }
                Consulted::Interrupted => return Err(Halt::Interrupted),
            }
        }
        Next::Blocked(_) | Next::Finished => {
            store.commit().await?;
            return Err(Halt::AtRest);
        }
    }
    Ok(())
}

/// The turn of `agent`, with what it leaves kept, and without what it must not change.
async fn take_step(
    io: &Io,
    store: &mut Store,
    how: &Conduct,
    agent: &Agent,
    step: u32,
) -> Result<(), Halt> {
    if let Err(acted) = guarded(protect::before_turn(io, store, step).await)? {
        return record_acted(io, store, how, step, acted).await;
    }
    store.commit().await?;
    let record = store.run().step(step).expect("`next` names steps that exist").clone();
    let acted = act(io, agent, store, &record, (how.turns, &how.conditions.confining)).await?;
    if let Acted::Refused { went_on: false, .. } = acted {
        // Nobody has changed anything.
        return record_acted(io, store, how, step, acted).await;
    }
    if store.run().protection().is_empty() || !acted.is_over() {
        record_acted(io, store, how, step, acted).await?;
        return going_on(keep_acted(io, store, step).await);
    }
    let guarded = guarded(protect::after_turn(io, store, step).await)?;
    record_acted(io, store, how, step, guarded.map_or_else(|broken| broken, |()| acted)).await
}

/// What protected files mean for the turn of an agent; otherwise how the turn ended because of them.
fn guarded(guarded: Guarded) -> Result<Result<(), Acted>, Halt> {
    match guarded {
        Guarded::Fine => Ok(Ok(())),
        Guarded::Broken { reason, output } => Ok(Err(Acted::Failed { reason, output })),
        Guarded::Stuck(why) => Ok(Err(Acted::Stuck(why))),
        Guarded::Interrupted => Err(Halt::Interrupted),
    }
}

fn is_cut_short(store: &Store, step: u32) -> bool {
    let run = store.run();
    let status = run.step(step).map(|record| &record.status);
    status == Some(&StepStatus::InProgress(Phase::Interrupted)) && !run.protection().is_empty()
}

/// A checkpoint that could not be taken stops nothing.
fn going_on(keeping: Keeping) -> Result<(), Halt> {
    match keeping {
        Keeping::Kept | Keeping::NoRepository | Keeping::Missed(_) => Ok(()),
        Keeping::Interrupted => Err(Halt::Interrupted),
    }
}

/// Records a person's answer and says what it means.
fn record_decision(
    store: &mut Store,
    how: &Conduct,
    event: Event,
    by: Decider,
) -> Result<(), Halt> {
    let gate = match &event {
        Event::GateDecided { step, .. } => Some(*step),
        _ => None,
    };
    store.apply_by(event, Some(by))?;
    if let Some(step) = gate {
        say_step(store, how, step);
    }
    Ok(())
}

async fn record_acted(
    io: &Io,
    store: &mut Store,
    how: &Conduct,
    step: u32,
    acted: Acted,
) -> Result<(), Halt> {
    match acted {
        Acted::Done => store.apply(Event::StepActed { step })?,
        Acted::Failed { reason, output } => {
            store.apply(Event::ActionFailed { step, reason, output })?;
            say_failure(store, how, step);
        }
        Acted::Stuck(reason) => {
            store.apply(Event::StepBlocked { step, reason })?;
            say_step(store, how, step);
        }
        Acted::Undecided(what) => {
            let reason = format!("the agent of step {step} needs a decision: {what}");
            return Err(pause(store, &reason).await.err().unwrap_or(Halt::AtRest));
        }
        Acted::Refused { refused, went_on } => record_refusal(io, store, refused, went_on)?,
        Acted::NotStarted(why) => {
            return Err(pause(store, &why).await.err().unwrap_or(Halt::AtRest));
        }
        Acted::Interrupted => return Err(Halt::Interrupted),
    }
    Ok(())
}

/// Makes the run wait for a person, durably.
async fn pause(store: &mut Store, reason: &str) -> Result<(), Halt> {
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

/// What a person may want to know about checks that passed.
fn say_remarks(store: &mut Store, step: Option<u32>) {
    for line in store.run().remark_lines(step) {
        store.note(format!("    ⚠ {line}"));
    }
}

/// A failure is worth its reason and the end of what was said.
fn say_failure(store: &mut Store, how: &Conduct, step: u32) {
    say_step(store, how, step);
    let record = store.run().step(step).expect("callers name steps that exist");
    let Some(failure) = &record.last_failure else { return };
    let output = text::quoted_end(&failure.output, limits::FAILURE_LINES, "in the report");
    let checks = checked_lines(record);
    store.note(format!("    {}\n{checks}{output}", failure.reason));
}
