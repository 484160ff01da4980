//! `onloop gate N approved|rejected`: record a decision.

mod displayed;
mod waiting;

pub use displayed::decide_as_displayed;
pub use displayed::{DisplayedDecision, DisplayedRun};
use waiting::end_run;
pub(crate) use waiting::{approve_run, reject_run};

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::background::continue_run;
use onloop_engine::run::change::say_step;
use onloop_engine::run::change::{change_by, not_now};
use onloop_engine::run::decider::{channel_of, decider, demand_person};
use onloop_engine::state::store::{CHANGED_SINCE, Store};
use onloop_engine::terminal::ask::{self, Consulted};
use onloop_run::{
    BlockReason, Decider, DecisionChannel, Event, GateDecision, Mode, Next, Question, Refusal, Run,
    StepRecord, StepStatus, approval_line, rejected_at,
};
use onloop_syntax::text;

/// Arguments of `onloop gate`.
#[derive(Clone, Debug, clap::Args)]
pub struct GateArgs {
    /// Number of the step
    #[arg(value_name = "N")]
    pub step: u32,
    /// The decision
    #[arg(value_enum)]
    pub decision: GateDecision,
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Who decides
    #[arg(long, value_enum, default_value = "human")]
    pub mode: Mode,
    /// Why it is rejected, which ends the run; with --redo, what to change
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Have the step acted again (with `rejected` and --reason)
    #[arg(long, requires = "reason")]
    pub redo: bool,
    /// Only if nothing was recorded since: `asks.seen` of `status ID --json`
    #[arg(long, value_name = "SHA256")]
    pub seen: Option<String>,
    /// Start no driver for the run; print the command that continues it
    #[arg(long)]
    pub no_continue: bool,
    /// Print how the step and its run stand as JSON, instead of a line
    #[arg(long)]
    pub json: bool,
}

/// `onloop gate`.
pub async fn gate(io: &Io, args: &GateArgs) -> Result<Exit, CommandError> {
    // Before the run is looked for: an agent is not told how to get at one.
    if args.mode == Mode::Human {
        let what = "the decision at a gate";
        demand_person(io, what).await.map_err(CommandError::step_by_step)?;
    }
    let opened = open(io, args.run.as_deref(), Fitting::OnlyUnfinished).await;
    let mut store = opened.map_err(CommandError::step_by_step)?;
    if let Some(seen) = &args.seen {
        demand_unchanged(&mut store, seen)?;
    }
    decide_in(io, &mut store, args, channel_of(io, DecisionChannel::Command)).await?;
    Ok(Exit::Done)
}

/// Refuses a decision about a record that is not what the person has seen.
fn demand_unchanged(store: &mut Store, seen: &str) -> Result<(), CommandError> {
    if seen.is_empty() || store.head_sha256() != seen {
        return Err(CommandError::failed(CHANGED_SINCE));
    }
    store.only_as_known();
    Ok(())
}

/// The decision about a run that is open; that a person makes it where one is said to has been
/// demanded.
async fn decide_in(
    io: &Io,
    store: &mut Store,
    args: &GateArgs,
    channel: DecisionChannel,
) -> Result<(), CommandError> {
    let (mode, decision) = (args.mode, args.decision);
    let by = match mode {
        Mode::Human => Some(decider(io, channel)),
        Mode::Auto => None,
    };
    let is_person = by.is_some();
    store.only_while_next();
    if args.redo {
        redo(io, store, args, by).await?;
    } else if let Some(reason) = &args.reason {
        return reject(io, store, args, reason, by).await;
    } else {
        let event = Event::GateDecided { step: args.step, decision, mode };
        record(io, store, event, (by, None), args.json).await?;
    }
    if is_person {
        continue_run(io, store, args.no_continue).await;
    }
    Ok(())
}

/// Rejects the step and ends the run for `reason`.
async fn reject(
    io: &Io,
    store: &mut Store,
    args: &GateArgs,
    reason: &str,
    by: Option<Decider>,
) -> Result<(), CommandError> {
    let (step, reason) = (args.step, text::one_line(reason));
    let Some(by) = by.filter(|_| args.decision == GateDecision::Rejected) else {
        return Err(CommandError::failed("`--reason` needs the decision `rejected` of a person"));
    };
    if reason.trim().is_empty() {
        return Err(CommandError::failed("--reason is empty").fix("say what is wrong"));
    }
    let event = Event::GateDecided { step, decision: GateDecision::Rejected, mode: Mode::Human };
    record(io, store, event, (Some(by), Some(&reason)), args.json).await
}

/// Has the step acted again, with a reason for its agent.
async fn redo(
    io: &Io,
    store: &mut Store,
    args: &GateArgs,
    by: Option<Decider>,
) -> Result<(), CommandError> {
    let reason = text::one_line(args.reason.as_deref().unwrap_or_default());
    if args.decision != GateDecision::Rejected || by.is_none() || reason.is_empty() {
        return Err(CommandError::failed("`--redo` needs `rejected` and a reason")
            .fix_by("reject the step", "onloop gate N rejected --redo --reason TEXT"));
    }
    let (step, reason) = (args.step, io.redacted(&reason));
    record_redo(io, store, (step, reason), by, args.json).await
}

async fn record_redo(
    io: &Io,
    store: &mut Store,
    (step, reason): (u32, String),
    by: Option<Decider>,
    as_json: bool,
) -> Result<(), CommandError> {
    change_by(io, store, Event::StepRedone { step, reason }, by).await?;
    say_step(io, store.run(), step, &format!("step {step}: to be done again"), as_json).await;
    Ok(())
}

/// Makes a decision durable and says it. A person may end the run with it, for a reason.
async fn record(
    io: &Io,
    store: &mut Store,
    event: Event,
    (by, ends_for): (Option<Decider>, Option<&str>),
    as_json: bool,
) -> Result<(), CommandError> {
    let Event::GateDecided { step, decision, mode } = event else {
        unreachable!("questions about a step's gate or review are answered with a decision");
    };
    let approves_itself = match store.run().next() {
        Next::Approve { step: next, reason } if next == step && mode == Mode::Auto => Some(reason),
        _ => None,
    };
    let is_review = store.run().step(step).is_some_and(awaits_review);
    match (by, ends_for) {
        // One change: nobody decides between the rejection and the end.
        (Some(by), Some(reason)) => {
            let applied = store.apply_by(event, Some(by.clone()));
            applied.map_err(|refusal| not_now(store.run(), refusal))?;
            end_run(io, store, reason, by).await?;
        }
        (by, _) => change_by(io, store, event, by).await?,
    }
    if let Some(reason) = approves_itself.filter(|_| decision == GateDecision::Approved) {
        io.note(approval_line(step, reason, store.run().settings.risk)).await;
    }
    let subject = if is_review { "human-review" } else { "gate" };
    let line = format!("{subject} {step}: {} ({})", decision.as_str(), mode.as_str());
    say_step(io, store.run(), step, &line, as_json).await;
    Ok(())
}

/// Whether the step waits for a human review, or was rejected by one.
fn awaits_review(record: &StepRecord) -> bool {
    match &record.status {
        StepStatus::Blocked(BlockReason::HumanReview { .. } | BlockReason::ReviewRejected) => true,
        StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Done
        | StepStatus::Failed { .. }
        | StepStatus::Blocked(BlockReason::Other(_)) => false,
    }
}

/// `onloop gate` for an agent: the rules decide where they may, otherwise a person is asked. An
/// agent's word is never taken for that of a person.
pub async fn gate_for_agent(io: &Io, args: &GateArgs) -> Result<Exit, CommandError> {
    let opened = open(io, args.run.as_deref(), Fitting::OnlyUnfinished).await;
    let mut store = opened.map_err(CommandError::step_by_step)?;
    let step = args.step;
    let decision = args.decision;
    let at = io.now();
    let is_possible = |event: &Event| store.run().clone().apply(at, event);
    let event = Event::GateDecided { step, decision, mode: Mode::Auto };
    let (event, by) = match is_possible(&event) {
        Ok(()) => (event, None),
        Err(refusal @ Refusal::HumanGateRequired { .. }) => {
            let question = question(store.run(), step);
            let word = decision.as_str();
            io.note(format!("An agent proposes that step {step} is {word}.")).await;
            match ask::person(io, &store, &question).await {
                Consulted::Decided(event) => (event, Some(decider(io, DecisionChannel::Mcp))),
                Consulted::Nobody => {
                    let id = &store.run().id;
                    return Err(CommandError::from(refusal)
                        .because("nobody is here to ask")
                        .fix_by("a person approves", format!("onloop approve {id}"))
                        .fix_by("or rejects", format!("onloop reject {id} --reason TEXT")));
                }
                Consulted::Settled => {
                    let what = "the run was decided about through another channel meanwhile";
                    return Err(not_now(store.run(), CommandError::failed(what)));
                }
                Consulted::Interrupted => return Err(CommandError::interrupted()),
            }
        }
        Err(refusal) => return Err(not_now(store.run(), refusal)),
    };
    let Some(by) = by else {
        record(io, &mut store, event, (None, None), args.json).await?;
        return Ok(Exit::Done);
    };
    if let Event::StepRedone { step, reason } = event {
        record_redo(io, &mut store, (step, reason), Some(by), args.json).await?;
    } else {
        let ends = matches!(event, Event::GateDecided { decision: GateDecision::Rejected, .. });
        let reason = ends.then(|| rejected_at(step));
        record(io, &mut store, event, (Some(by), reason.as_deref()), args.json).await?;
    }
    continue_run(io, &store, args.no_continue).await;
    Ok(Exit::Done)
}

/// What a person is asked about a step that waits for one.
fn question(run: &Run, step: u32) -> Question {
    match run.step(step).map(|record| &record.status) {
        Some(StepStatus::Blocked(BlockReason::HumanReview { prompt })) => {
            Question::Review { step, prompt: prompt.clone() }
        }
        Some(StepStatus::Blocked(BlockReason::ReviewRejected)) => {
            Question::Review { step, prompt: String::new() }
        }
        Some(
            StepStatus::Pending
            | StepStatus::InProgress(_)
            | StepStatus::Done
            | StepStatus::Failed { .. }
            | StepStatus::Blocked(BlockReason::Other(_)),
        )
        | None => Question::Gate { step },
    }
}
