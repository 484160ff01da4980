//! Drives a run: a loop over [`Run::next`], used by `run` and `resume` alike.
//!
//! Changes are stored before anything acts on them, and said after they are stored. Several
//! transitions between two effects share one durable write.

use crate::approval::gate_in_chat::gate_in_chat;
use crate::error::CommandError;
use crate::run::background::is_for_driver;
use crate::run::checkpoint::{
    CheckpointOutcome, checkpoint_end, checkpoint_left_out, checkpoint_start, checkpoint_turn,
    checkpoint_verified,
};
use crate::run::checks::{Verification, repeat_checks, take_baseline, verify_step};
use crate::run::context::{Halt, RunContext};
use crate::run::decider::{decided_by, decider};
use crate::run::forks::{self, Merged};
use crate::run::options::{RunOptions, remember_options};
use crate::run::private_git;
use crate::run::protect::{self, Guarded};
use crate::run::provider_wait::{AgentChoice, next_available_agent, record_refusal};
use crate::run::setup::{Readiness, make_ready};
use crate::run::turn::{ActionOutcome, run_agent};
use crate::spending::Spending;
use crate::state::store::{Store, StoreError};
use crate::terminal::ask::Consulted;
use crate::{run::advice, run::ending, run::review, terminal::ask};
use onloop_agents::Agent;
use onloop_effect::{Exit, Io};
use onloop_run::{
    Decider, DecisionChannel, Event, ForkFailure, GateDecision, Mode, Next, Phase, StepRecord,
    StepStatus, approval_line, checked_lines, rejected_at, step_line, step_list,
};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Drives a run until it is finished, blocked, paused or interrupted, and prints how it ended.
///
/// # Errors
///
/// The run could not continue.
pub(crate) async fn drive_run(
    io: &Io,
    store: &mut Store,
    options: &RunOptions,
) -> Result<Exit, CommandError> {
    remember_options(io, store.paths(), &options.words).await;
    loop {
        let (exit, revision) = Box::pin(drive_until_halt(io, store, options)).await?;
        // The program that records a decision leaves the rest to a driver that lives.
        if exit != Exit::Paused || !store.was_changed_since(revision).await.unwrap_or(false) {
            return Ok(exit);
        }
        store.look_again().await?;
        if !is_for_driver(store.run()) {
            return Ok(exit);
        }
        store.apply(Event::RunResumed)?;
    }
}

/// Also returns the revision of the record before the last turn.
async fn drive_until_halt(
    io: &Io,
    store: &mut Store,
    options: &RunOptions,
) -> Result<(Exit, u32), CommandError> {
    let mut revision = store.revision();
    let forks = forks::prepare(io, store, options).await;
    let mut cx = RunContext { io, store, options, forks };
    let halt = match before_first_turn(&mut cx).await {
        Err(halt) => halt,
        Ok(()) => loop {
            revision = cx.store.revision();
            match Box::pin(take_turn(&mut cx)).await {
                Ok(()) | Err(Halt::Again) => {}
                Err(halt) => break halt,
            }
        },
    };
    let halt = match halt {
        Halt::Interrupted => {
            forks::stop(io, cx.run()).await;
            match cx.record_pause("interrupted", true).await {
                Ok(()) => Halt::Interrupted,
                Err(halt) => halt,
            }
        }
        Halt::Stopped | Halt::Again | Halt::Failed(_) | Halt::Refused(_) => halt,
    };
    // `next` names only what `apply` accepts: a refusal has to come from a record that somebody
    // else changed during this turn. Otherwise it is our own mistake.
    let halt = match halt {
        Halt::Refused(refusal) => match cx.store.was_changed_since(revision).await {
            Ok(true) => Halt::Failed(StoreError::Overtaken(refusal)),
            Ok(false) => Halt::Refused(refusal),
            Err(error) => Halt::Failed(error),
        },
        Halt::Stopped | Halt::Again | Halt::Interrupted | Halt::Failed(_) => halt,
    };
    if matches!(halt, Halt::Stopped) {
        // A job takes its processes along when it ends.
        match io.env("CI").is_some() || cx.run().is_over() {
            true => drop(forks::stop(io, cx.run()).await),
            false => forks::tell_rest(io, cx.run()).await,
        }
    }
    let is_interrupted = matches!(halt, Halt::Interrupted);
    let exit = ending::tell(&cx, halt).await?;
    // A person who interrupts wants an end now; the next process removes them.
    if !is_interrupted {
        forks::remove_merged(io, cx.store.run(), &mut cx.forks).await;
    }
    Ok((exit, revision))
}

/// What comes before the first turn.
async fn before_first_turn(cx: &mut RunContext<'_>) -> Result<(), Halt> {
    // Only a run that continues now: one that waits for a person does not need its worktree yet.
    if matches!(cx.store.run().next(), Next::Start { .. }) {
        match make_ready(cx.io, cx.store, cx.sandbox()).await? {
            Readiness::Ready => {}
            Readiness::Interrupted => return Err(Halt::Interrupted),
            Readiness::Failed(error) => {
                cx.store.note(error.render());
                return Err(cx.pause(&error.to_string()).await);
            }
        }
    }
    let imported = private_git::import_rest(cx.io, cx.store, cx.sandbox()).await;
    imported.map_err(StoreError::from)?;
    going_on(checkpoint_start(cx.io, cx.store).await)?;
    going_on(checkpoint_left_out(cx.io, cx.store).await?)
}

async fn take_turn(cx: &mut RunContext<'_>) -> Result<(), Halt> {
    forks::tend(cx).await?;
    match cx.store.run().next() {
        Next::Start { step, .. } => {
            if let Some(reason) = repeats(cx, step) {
                return block(cx, step, reason).await;
            }
            forks::start_attempt(cx, step).await?;
            // That it works beside others was said when its worktree was made.
            if !cx.run().step(step).is_some_and(StepRecord::is_forked) {
                forks::remove_unrecorded(cx.io, cx.store.home(), cx.run(), step).await;
                say_step(cx, step);
            }
        }
        Next::Act { step } => {
            cx.store.commit().await?;
            if cx.run().step(step).is_some_and(StepRecord::has_unmerged_fork)
                && take_merge(cx, step).await?
            {
                return Ok(());
            }
            if cx.store.run().step(step).is_some_and(StepRecord::baseline_is_due) {
                let taken = take_baseline(cx.io, cx.store, step, &cx.options.checks).await?;
                cx.store.apply(taken.ok_or(Halt::Interrupted)?)?;
                return Ok(());
            }
            if can_change(cx)
                && let Some(mut spending) = Spending::of(cx.io, cx.run()).await
                && let Some(left) = spending.left(cx.io, &cx.run().id).await
                && let Some(reason) = left.used_up()
            {
                return Err(cx.pause(&reason).await);
            }
            if let Some(reason) = forks::used_up(cx, step).await {
                return Err(cx.pause(&reason).await);
            }
            let agent = match next_available_agent(cx).await? {
                AgentChoice::Available(agent) => agent,
                AgentChoice::GaveUp { reason } => {
                    return Err(cx.pause(&reason).await);
                }
            };
            take_step(cx, &agent, step).await?;
        }
        Next::Verify { step } => {
            // The changes of an interrupted turn were not examined.
            if is_cut_short(cx.store, step)
                && let Some(outcome) = ended_by(protect::after_turn(cx.io, cx.store, step).await)
            {
                return record_acted(cx, step, outcome).await;
            }
            if let Some(reason) = forks::unresolved(cx, step).await {
                return record_acted(cx, step, ActionOutcome::Stuck(reason)).await;
            }
            let is_stale = cx.store.run().step(step).is_some_and(StepRecord::is_stale);
            match verify_step(cx.io, cx.store, step, &cx.options.checks).await? {
                Verification::Interrupted => return Err(Halt::Interrupted),
                Verification::Finished(results) => {
                    cx.store.apply(Event::StepVerified { step, results })?;
                }
            }
            if !is_stale || cx.options.verbose || !is_done(cx, step) {
                say_verified(cx, step);
            }
            say_warnings(cx, Some(step));
            // What a step did ends at the checkpoint of its own attempt.
            if !is_stale {
                going_on(checkpoint_verified(cx.io, cx.store, step).await?)?;
            }
        }
        Next::Approve { step, reason } => {
            let (decision, mode) = (GateDecision::Approved, Mode::Auto);
            cx.store.apply(Event::GateDecided { step, decision, mode })?;
            cx.store.note(approval_line(step, reason, cx.store.run().settings.risk));
            say_step(cx, step);
        }
        Next::Block { step, reason } => block(cx, step, reason).await?,
        Next::Review { step } => {
            cx.store.commit().await?;
            let (checks, timeout_ms) = (&cx.options.checks, cx.options.turns.timeout_ms);
            let event = review::perform(cx.io, cx.store, checks, timeout_ms, step).await?;
            cx.store.apply(event.ok_or(Halt::Interrupted)?)?;
            if let Some(findings) = review::findings(cx.store.run()) {
                cx.store.note(findings);
            }
            let back = cx.store.run().returnable_findings();
            if let Some(step) = back.filter(|_| can_change(cx)) {
                cx.store.apply(Event::FindingsReturned { step })?;
            }
        }
        Next::Repeat => {
            cx.store.commit().await?;
            let repeated = repeat_checks(cx.io, cx.store, &cx.options.checks).await?;
            let before = cx.store.run().warning_lines(None);
            let repeated = repeated.ok_or(Halt::Interrupted)?;
            let failed: Vec<u32> = match &repeated {
                Event::ChecksRepeated { failures, .. } => failures.iter().map(|f| f.0).collect(),
                _ => Vec::new(),
            };
            cx.store.apply(repeated)?;
            failed.into_iter().for_each(|step| say_failure(cx, step));
            if cx.store.run().warning_lines(None) != before {
                say_warnings(cx, None);
            }
        }
        Next::Finalize => {
            going_on(checkpoint_end(cx.io, cx.store).await?)?;
            cx.store.apply(Event::RunFinalized)?;
        }
        Next::Ask(question) => {
            cx.store.commit().await?;
            let (consulted, channel) = match ask::is_attended(cx.io) {
                true => (ask::person(cx.io, cx.store, &question).await, DecisionChannel::Terminal),
                false => {
                    (gate_in_chat(cx.io, cx.store, &question).await, DecisionChannel::Telegram)
                }
            };
            let is_answer = !matches!(consulted, Consulted::Interrupted);
            if is_answer && cx.store.look_again().await? {
                let how = match cx.store.last_decision().await {
                    Some((by, event)) => decided_by(&by, &event),
                    None => "The run has changed since the question".to_owned(),
                };
                cx.io.note(format!("{how}; it continues as it is now.")).await;
                return Ok(());
            }
            match consulted {
                Consulted::Decided(event) => {
                    record_decision(cx, event, decider(cx.io, channel))?;
                }
                // What was recorded is read above.
                Consulted::Settled => return Ok(()),
                Consulted::Nobody => {
                    let whole = forks::reserved(cx.io, cx.run(), cx.options).await;
                    let reason = advice::reason(whole.as_ref().unwrap_or(cx.run()), &question);
                    return Err(cx.pause(&reason).await);
                }
                Consulted::Interrupted => return Err(Halt::Interrupted),
            }
        }
        next @ (Next::Blocked(_) | Next::Finished) => {
            cx.store.commit().await?;
            if matches!(next, Next::Finished) {
                private_git::remove(cx.io, cx.store).await;
            }
            return Err(Halt::Stopped);
        }
    }
    Ok(())
}

/// Puts the work of a fork in the place of an agent's turn. `false`: an agent has to resolve conflicts.
async fn take_merge(cx: &mut RunContext<'_>, step: u32) -> Result<bool, Halt> {
    let outcome = match Box::pin(forks::settle(cx, step)).await? {
        Merged::Done => ActionOutcome::Done,
        Merged::Failed(failure) => return take_failure(cx, step, *failure).await.map(|()| true),
        Merged::Conflicts if can_change(cx) => return Ok(false),
        // What is unresolved is said when the step is verified.
        Merged::Conflicts => ActionOutcome::Done,
        Merged::Stuck(why) => ActionOutcome::Stuck(why),
    };
    record_acted(cx, step, outcome).await?;
    going_on(checkpoint_turn(cx.io, cx.store, step).await)?;
    Ok(true)
}

/// Records the failure of a fork as that of the step, with what it said.
async fn take_failure(
    cx: &mut RunContext<'_>,
    step: u32,
    failure: ForkFailure,
) -> Result<(), Halt> {
    let ForkFailure { reason, output, results } = failure;
    let outcome = match results.is_empty() {
        true => ActionOutcome::Failed { reason, output },
        false => ActionOutcome::Done,
    };
    record_acted(cx, step, outcome).await?;
    going_on(checkpoint_turn(cx.io, cx.store, step).await)?;
    if !results.is_empty() {
        cx.store.apply(Event::StepVerified { step, results })?;
        say_verified(cx, step);
    }
    Ok(())
}

/// Blocks a step. A person who continues it afterwards has read which conflicts stand.
async fn block(cx: &mut RunContext<'_>, step: u32, mut reason: String) -> Result<(), Halt> {
    if let Some(conflict) = forks::unresolved(cx, step).await {
        reason = format!("{reason}; {conflict}");
    }
    Ok(cx.store.apply(Event::StepBlocked { step, reason })?)
}

/// Why another attempt at a step would be the same again. A script has no choice but to do the same, and
/// may wait for something outside.
fn repeats(cx: &RunContext<'_>, step: u32) -> Option<String> {
    cx.store.run().step(step).filter(|_| can_change(cx))?.repeats()
}

/// Whether an agent of the run can do otherwise than before.
fn can_change(cx: &RunContext<'_>) -> bool {
    let can = |agent: &Agent| !matches!(agent, Agent::Script | Agent::You);
    cx.options.agents.iter().any(can)
}

/// The turn of `agent`, with what it leaves kept, and without what it must not change.
async fn take_step(cx: &mut RunContext<'_>, agent: &Agent, step: u32) -> Result<(), Halt> {
    if let Some(outcome) = ended_by(protect::before_turn(cx.io, cx.store, step).await) {
        return record_acted(cx, step, outcome).await;
    }
    cx.store.commit().await?;
    let record = cx.store.run().step(step).expect("`next` names steps that exist").clone();
    let outcome = run_agent(cx, agent, &record).await?;
    if let ActionOutcome::Refused { had_started: false, .. } = outcome {
        // The agent has changed nothing.
        return record_acted(cx, step, outcome).await;
    }
    if let ActionOutcome::Failed { .. } = outcome
        && cx.store.run().protection().is_empty()
    {
        // The record compares what is there now with what was there before the turn.
        let kept = checkpoint_turn(cx.io, cx.store, step).await;
        record_acted(cx, step, outcome).await?;
        return going_on(kept);
    }
    if cx.store.run().protection().is_empty() || !outcome.is_over() {
        record_acted(cx, step, outcome).await?;
        return going_on(checkpoint_turn(cx.io, cx.store, step).await);
    }
    let guarded = ended_by(protect::after_turn(cx.io, cx.store, step).await);
    record_acted(cx, step, guarded.unwrap_or(outcome)).await
}

/// How the turn of an agent ended because of protected files; `None`: they are as they were.
fn ended_by(guarded: Guarded) -> Option<ActionOutcome> {
    match guarded {
        Guarded::Fine => None,
        Guarded::Broken { reason, output } => Some(ActionOutcome::Failed { reason, output }),
        Guarded::Stuck(why) => Some(ActionOutcome::Stuck(why)),
        Guarded::Interrupted => Some(ActionOutcome::Interrupted),
    }
}

fn is_cut_short(store: &Store, step: u32) -> bool {
    let run = store.run();
    let status = run.step(step).map(|record| &record.status);
    status == Some(&StepStatus::InProgress(Phase::Interrupted)) && !run.protection().is_empty()
}

/// A checkpoint that could not be taken stops nothing.
fn going_on(keeping: CheckpointOutcome) -> Result<(), Halt> {
    match keeping {
        CheckpointOutcome::Taken
        | CheckpointOutcome::NoRepository
        | CheckpointOutcome::Missed(_) => Ok(()),
        CheckpointOutcome::Interrupted => Err(Halt::Interrupted),
    }
}

/// Records a person's answer and says what it means.
fn record_decision(cx: &mut RunContext<'_>, event: Event, by: Decider) -> Result<(), Halt> {
    let gate = match &event {
        Event::GateDecided { step, .. } => Some(*step),
        _ => None,
    };
    // As `onloop reject` does.
    let ends = matches!(event, Event::GateDecided { decision: GateDecision::Rejected, .. });
    cx.store.apply_by(event, Some(by.clone()))?;
    if let Some(step) = gate {
        say_step(cx, step);
        if ends {
            let reason = rejected_at(step);
            cx.store.apply_by(Event::RunAbandoned { reason }, Some(by))?;
        }
    }
    Ok(())
}

async fn record_acted(
    cx: &mut RunContext<'_>,
    step: u32,
    outcome: ActionOutcome,
) -> Result<(), Halt> {
    match outcome {
        ActionOutcome::Done => cx.store.apply(Event::StepActed { step })?,
        ActionOutcome::Failed { reason, output } => {
            cx.store.apply(Event::ActionFailed { step, reason, output })?;
            say_failure(cx, step);
        }
        ActionOutcome::Stuck(reason) => {
            cx.store.apply(Event::StepBlocked { step, reason })?;
            say_step(cx, step);
        }
        ActionOutcome::Undecided(what) => {
            let reason = format!("the agent of step {step} needs a decision: {what}");
            return Err(cx.pause(&reason).await);
        }
        // The record says so, and asks for a higher budget.
        ActionOutcome::OverBudget => {}
        ActionOutcome::Refused { refused, had_started } => {
            record_refusal(cx, refused, had_started)?
        }
        ActionOutcome::NotStarted(why) => {
            return Err(cx.pause(&why).await);
        }
        ActionOutcome::Interrupted => return Err(Halt::Interrupted),
    }
    Ok(())
}

fn say_verified(cx: &mut RunContext<'_>, step: u32) {
    match &cx.store.run().step(step).expect("it was just verified").status {
        StepStatus::Failed { .. } => say_failure(cx, step),
        // The approval says both: done, and approved.
        StepStatus::Done if matches!(cx.store.run().next(), Next::Approve { .. }) => {}
        StepStatus::Done
        | StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Blocked(_) => say_step(cx, step),
    }
}

fn is_done(cx: &RunContext<'_>, step: u32) -> bool {
    cx.run().step(step).is_some_and(|record| record.status == StepStatus::Done)
}

fn say_step(cx: &mut RunContext<'_>, step: u32) {
    let run = cx.store.run();
    let line = if cx.options.verbose || run.settings.options.progress_verbose {
        step_list(run)
    } else {
        step_line(run, run.step(step).expect("callers name steps that exist"))
    };
    cx.store.note(line);
}

/// What a person may want to know about checks that passed.
fn say_warnings(cx: &mut RunContext<'_>, step: Option<u32>) {
    for line in cx.store.run().warning_lines(step) {
        cx.store.note(text::wrapped(&format!("    ⚠ {line}"), 80, 6));
    }
}

/// A failure is worth its reason and the end of what was said.
fn say_failure(cx: &mut RunContext<'_>, step: u32) {
    say_step(cx, step);
    let record = cx.store.run().step(step).expect("callers name steps that exist");
    let Some(failure) = &record.last_failure else { return };
    let output = text::quoted_end(&failure.output, limits::FAILURE_LINES, "in the report");
    let checks = checked_lines(record);
    cx.store.note(format!("    {}\n{checks}{output}", failure.reason));
}
