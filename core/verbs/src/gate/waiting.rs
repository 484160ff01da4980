//! The decision that a run waits for, whatever step it is about: `onloop approve` and `reject`.

use super::{GateArgs, decide_in};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::advice::next_commands;
use onloop_engine::run::background::continue_run;
use onloop_engine::run::change::change_by;
use onloop_engine::run::decider::{decider, demand_person};
use onloop_engine::state::store::Store;
use onloop_run::{Decider, DecisionChannel, Event, GateDecision, Mode, Next, Question, Run};
use onloop_syntax::text;

/// What a person can approve in a run.
enum Waiting {
    /// The gate or the review of this step, or what they rejected before.
    Step(u32),
    /// The verdict of a review that blocks the run.
    Verdict,
}

/// Approves what the run waits for, and continues it.
///
/// # Errors
///
/// An agent calls, there is no such run, or it waits for nothing that can be approved.
pub(crate) async fn approve_run(
    io: &Io,
    name: &str,
    no_continue: bool,
) -> Result<Exit, CommandError> {
    demand_person(io, "an approval").await?;
    let mut store = open(io, Some(name), Fitting::OnlyUnfinished).await?;
    match waiting(store.run(), false)? {
        Waiting::Step(step) => {
            let args = of_person(step, GateDecision::Approved, no_continue);
            decide_in(io, &mut store, &args, DecisionChannel::Command).await?;
        }
        Waiting::Verdict => {
            let by = Some(decider(io, DecisionChannel::Command));
            store.only_while_next();
            change_by(io, &mut store, Event::VerdictAccepted, by).await?;
            io.result("the verdict of the review is accepted\n").await;
            continue_run(io, &store, no_continue).await;
        }
    }
    if let Next::Ask(_) = store.run().next() {
        io.note(next_commands(store.run())).await;
    }
    Ok(Exit::Done)
}

/// Rejects the step that the run waits for. With `redo` its agent does it again for that reason;
/// otherwise the run ends. In a completed run whose work is still there, `redo` repeats the last step.
///
/// # Errors
///
/// As [`approve_run`]; or the reason is empty.
pub(crate) async fn reject_run(
    io: &Io,
    name: &str,
    (reason, redo): (&str, bool),
    no_continue: bool,
) -> Result<Exit, CommandError> {
    let reason = text::one_line(reason);
    if reason.trim().is_empty() {
        return Err(CommandError::usage("--reason is empty").fix("say what is wrong"));
    }
    demand_person(io, "a rejection").await?;
    let mut store = open(io, Some(name), Fitting::OnlyUnfinished).await?;
    match waiting(store.run(), redo)? {
        Waiting::Step(step) => {
            let reason = Some(reason);
            let args =
                GateArgs { reason, redo, ..of_person(step, GateDecision::Rejected, no_continue) };
            decide_in(io, &mut store, &args, DecisionChannel::Command).await?;
        }
        Waiting::Verdict if redo => {
            let id = &store.run().id;
            return Err(CommandError::usage("a review blocks the run, not a step")
                .fix_by("review again what was fixed since", format!("onloop resume {id}")));
        }
        Waiting::Verdict => {
            let by = decider(io, DecisionChannel::Command);
            store.only_while_next();
            end_run(io, &mut store, &reason, by).await?;
        }
    }
    Ok(Exit::Done)
}

/// Ends the run whose work a person does not want.
pub(super) async fn end_run(
    io: &Io,
    store: &mut Store,
    reason: &str,
    by: Decider,
) -> Result<(), CommandError> {
    let event = Event::RunAbandoned { reason: io.redacted(reason) };
    change_by(io, store, event, Some(by)).await?;
    io.note(format!("Run {} ends here; its record and its work are kept.", store.run().id)).await;
    Ok(())
}

fn waiting(run: &Run, redo: bool) -> Result<Waiting, CommandError> {
    match run.next() {
        Next::Ask(Question::Gate { step } | Question::Review { step, .. }) => {
            Ok(Waiting::Step(step))
        }
        Next::Blocked(blocker) if blocker.rejected => Ok(Waiting::Step(blocker.step)),
        Next::Ask(Question::Verdict { .. }) => Ok(Waiting::Verdict),
        _ if redo && run.may_be_handed_on() => Ok(Waiting::Step(run.last_step())),
        _ => {
            let (id, now) = (&run.id, run.status_summary().now);
            let status = run.status.as_str();
            let reason = match now == status {
                true => format!("it is {status}"),
                false => format!("it is {status}: {now}"),
            };
            Err(CommandError::refused(format!("run `{id}` waits for no approval"))
                .because(reason)
                .fix_by("see what comes next", format!("onloop status {id}")))
        }
    }
}

pub(super) fn of_person(step: u32, decision: GateDecision, no_continue: bool) -> GateArgs {
    GateArgs {
        step,
        decision,
        run: RunName::default(),
        mode: Mode::Human,
        reason: None,
        redo: false,
        seen: None,
        no_continue,
        json: false,
    }
}
