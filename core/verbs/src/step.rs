//! `onloop step N start|verify|retry|block|reopen`: drive a run from outside, one transition a call.

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::adopt::warn_of_edit;
use onloop_engine::run::advice::first_command;
use onloop_engine::run::change::say_step;
use onloop_engine::run::change::{change, change_by, demand_running, not_now};
use onloop_engine::run::checkpoint::{
    CheckpointOutcome, checkpoint_and_commit, checkpoint_turn, checkpoint_verified,
};
use onloop_engine::run::checks::{CheckOptions, Verification, take_baseline, verify_step};
use onloop_engine::run::decider::{decider, demand_person};
use onloop_engine::run::driver_lock::{demand_undriven, drive_alone, while_driving};
use onloop_engine::run::processes::end_survivors;
use onloop_engine::run::protect::{self, Guarded};
use onloop_engine::run::review::review_driven;
use onloop_engine::run::setup::{self, Readiness};
use onloop_engine::sandbox::choice::Sandbox;
use onloop_engine::state::store::Store;
use onloop_run::{
    BlockReason, DecisionChannel, Event, Next, Question, Refusal, StepRecord, StepStatus,
    checked_lines, step_list,
};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop step`.
#[derive(Clone, Debug, clap::Args)]
pub struct StepArgs {
    /// Number of the step
    #[arg(value_name = "N")]
    pub step: u32,
    /// What to record or do
    #[arg(value_enum)]
    pub action: StepAction,
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Why the step is blocked, or what its agent is to do now
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Print how the step and its run stand as JSON, instead of a line
    #[arg(long)]
    pub json: bool,
}

/// What `onloop step` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StepAction {
    /// Record that an attempt begins
    Start,
    /// Run the step's checks and record what came of it
    Verify,
    /// Allow another attempt after a failed one
    Retry,
    /// Record that the step cannot continue (needs --reason)
    Block,
    /// Have a failed or blocked step tried again (needs --reason)
    Reopen,
}

/// `onloop step`.
pub(crate) async fn step(io: &Io, args: &StepArgs) -> Result<Exit, CommandError> {
    perform(io, args).await.map_err(CommandError::step_by_step)
}

async fn perform(io: &Io, args: &StepArgs) -> Result<Exit, CommandError> {
    let reason = io.redacted(&text::one_line(args.reason.as_deref().unwrap_or_default()));
    let (needs_reason, word) = match args.action {
        StepAction::Block => (true, "block"),
        StepAction::Reopen => (true, "reopen"),
        StepAction::Start | StepAction::Verify | StepAction::Retry => (false, ""),
    };
    if needs_reason && reason.is_empty() {
        return Err(CommandError::usage(format!("--reason is required for {word}")));
    }
    // Before the run is looked for: an agent is not told how to get at one.
    if args.action == StepAction::Reopen {
        demand_person(io, "opening a step again").await?;
    }
    let mut store = open(io, args.run.as_deref(), Fitting::Unfinished).await?;
    demand_undriven(io, &store).await?;
    let number = args.step;
    match args.action {
        StepAction::Start => {
            warn_of_edit(io, &store).await;
            end_survivors(io, store.run()).await?;
            set_up(io, &mut store).await?;
            change(io, &mut store, Event::StepStarted { step: number }).await?;
            baseline(io, &mut store, number).await?;
            guarded(io, &mut store, number, protect::before_turn).await?;
            say_step(io, store.run(), number, &format!("started step {number}"), args.json).await;
            Ok(Exit::Done)
        }
        StepAction::Verify => verify(io, &mut store, number, args.json).await,
        StepAction::Retry => retry(io, &store, number, args.json).await,
        StepAction::Block => {
            let event = Event::StepBlocked { step: number, reason: reason.clone() };
            change(io, &mut store, event).await?;
            let line = format!("blocked step {number}: {reason}");
            say_step(io, store.run(), number, &line, args.json).await;
            Ok(Exit::Done)
        }
        StepAction::Reopen => {
            let event = Event::StepReopened { step: number, reason };
            change_by(io, &mut store, event, Some(decider(io, DecisionChannel::Command))).await?;
            say_step(io, store.run(), number, &format!("reopened step {number}"), args.json).await;
            let command = first_command(store.run()).1;
            io.note(format!("This tries it again:\n  {command}")).await;
            Ok(Exit::Done)
        }
    }
}

/// Evaluates the checks of a step before its agent runs for the first time, where the plan says so.
async fn baseline(io: &Io, store: &mut Store, number: u32) -> Result<(), CommandError> {
    if !store.run().step(number).is_some_and(StepRecord::baseline_is_due) {
        return Ok(());
    }
    while_driving(io, store, async |store| baseline_alone(io, store, number).await).await
}

async fn baseline_alone(io: &Io, store: &mut Store, number: u32) -> Result<(), CommandError> {
    let options = CheckOptions::step_by_step(io, store.run()).await?;
    let taken = take_baseline(io, store, number, &options).await;
    options.end(io).await;
    let event = taken?.ok_or_else(CommandError::interrupted)?;
    change(io, store, event).await
}

/// Makes a fresh worktree ready before the first step.
async fn set_up(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    if !setup::is_due(store.run()) {
        return Ok(());
    }
    demand_running(store.run(), "a step can be started")?;
    let sandbox = Sandbox::of(io, store.run()).await?;
    if let Err(error) = drive_alone(io, store).await {
        sandbox.end(io).await;
        return Err(error);
    }
    let readied = setup::make_ready(io, store, &sandbox).await;
    sandbox.end(io).await;
    let said = store.commit().await;
    let _ = io.unlock(&store.paths().driver_lock()).await;
    match (readied, said) {
        (Ok(Readiness::Ready), Ok(())) => Ok(()),
        (Ok(Readiness::Interrupted), _) => Err(CommandError::interrupted()),
        (Ok(Readiness::Failed(error)), Ok(())) => Err(error),
        (Err(error), _) | (Ok(_), Err(error)) => Err(error.into()),
    }
}

async fn verify(
    io: &Io,
    store: &mut Store,
    number: u32,
    as_json: bool,
) -> Result<Exit, CommandError> {
    demand_verifiable(store, number)?;
    // Others may read the record meanwhile and decide other gates; only this process verifies.
    while_driving(io, store, async |store| verify_and_review(io, store, number).await).await?;
    for line in store.run().warning_lines(Some(number)) {
        io.note_wrapped(&format!("⚠ {line}"), 2).await;
    }
    let record = store.run().step(number).expect("it was just verified");
    let unverified = record.step.checks.is_empty();
    let (line, exit) = match &record.status {
        StepStatus::Done if unverified => ("pass (no verify command)".to_owned(), Exit::Done),
        StepStatus::Done => ("pass".to_owned(), Exit::Done),
        StepStatus::Blocked(
            reason @ (BlockReason::HumanReview { .. }
            | BlockReason::ReviewRejected
            | BlockReason::Other(_)),
        ) => (format!("blocked: {}", reason.text()), Exit::Failed),
        StepStatus::Failed { .. } | StepStatus::Pending | StepStatus::InProgress(_) => {
            ("fail".to_owned(), Exit::Failed)
        }
    };
    if exit != Exit::Done {
        let failure = record.last_failure.as_ref();
        let failure = failure.filter(|_| matches!(record.status, StepStatus::Failed { .. }));
        let output = failure.map_or("", |failure| &failure.output);
        let end = text::quoted_end(output, limits::FAILURE_LINES, "in the report");
        io.note(format!("{}{end}", checked_lines(record)).trim_end()).await;
    }
    if store.run().settings.options.progress_verbose {
        io.note(step_list(store.run()).trim_end()).await;
    }
    say_step(io, store.run(), number, &line, as_json).await;
    Ok(exit)
}

/// Refuses a step that is not under way, except one whose checks are stale or whose review is due, and
/// an interrupted one without checks: verifying it would take it as done.
fn demand_verifiable(store: &Store, number: u32) -> Result<(), CommandError> {
    if store.run().step(number).is_some_and(StepRecord::is_stale) || review_is_due(store, number) {
        return demand_running(store.run(), "a step can be verified");
    }
    if store.run().next() == Next::Ask(Question::Interrupted { step: number }) {
        let what = format!("step {number} was interrupted, and it has no check");
        return Err(not_now(store.run(), CommandError::failed(what)));
    }
    let error: CommandError = match store.run().step(number).map(|record| &record.status) {
        Some(StepStatus::InProgress(_)) => {
            return demand_running(store.run(), "a step can be verified");
        }
        None => Refusal::NoSuchStep { step: number }.into(),
        Some(status) => {
            let (status, expected) = (status.as_str(), "`in_progress`");
            Refusal::WrongStepStatus { step: number, status, expected }.into()
        }
    };
    Err(not_now(store.run(), error))
}

/// The review before a gate follows the verification of its step at once: the agent that drives the run
/// has no verb for it. A review that was interrupted is done by the next call.
async fn verify_and_review(io: &Io, store: &mut Store, number: u32) -> Result<(), CommandError> {
    if !review_is_due(store, number) {
        verify_alone(io, store, number).await?;
    }
    if review_is_due(store, number) {
        review_driven(io, store, Some(number)).await?;
    }
    Ok(())
}

fn review_is_due(store: &Store, number: u32) -> bool {
    store.run().next() == (Next::Review { step: Some(number) })
}

async fn verify_alone(io: &Io, store: &mut Store, number: u32) -> Result<(), CommandError> {
    // Somebody else may have verified it until now.
    demand_verifiable(store, number)?;
    end_survivors(io, store.run()).await?;
    let options = CheckOptions::step_by_step(io, store.run()).await?;
    let verified = verify_and_keep(io, store, number, &options).await;
    options.end(io).await;
    verified
}

/// Keeps the work before and, where the checks have passed, after them.
async fn verify_and_keep(
    io: &Io,
    store: &mut Store,
    number: u32,
    options: &CheckOptions,
) -> Result<(), CommandError> {
    let is_stale = store.run().step(number).is_some_and(StepRecord::is_stale);
    if store.run().protection().is_empty() && !is_stale {
        checkpoint_and_commit(io, store, async |io, store| {
            Ok(checkpoint_turn(io, store, number).await)
        })
        .await?;
    }
    if !store.run().protection().is_empty() {
        guarded(io, store, number, protect::after_turn).await?;
    }
    let results = match verify_step(io, store, number, options).await {
        Ok(Verification::Finished(results)) => results,
        Ok(Verification::Interrupted) => return Err(CommandError::interrupted()),
        Err(error) => return Err(error.into()),
    };
    change(io, store, Event::StepVerified { step: number, results }).await?;
    if let Some(reason) = store.run().step(number).and_then(StepRecord::repeats) {
        change(io, store, Event::StepBlocked { step: number, reason }).await?;
    }
    if is_stale {
        return Ok(());
    }
    checkpoint_and_commit(io, store, async |io, store| checkpoint_verified(io, store, number).await)
        .await
}

/// Looks at files that no agent may change, before or after its turn; a turn that changed one is a
/// failed attempt.
async fn guarded(
    io: &Io,
    store: &mut Store,
    step: u32,
    look: impl AsyncFnOnce(&Io, &mut Store, u32) -> Guarded,
) -> Result<(), CommandError> {
    let (event, error) = match look(io, store, step).await {
        Guarded::Fine => {
            return checkpoint_and_commit(io, store, async |_: &Io, _: &mut Store| {
                Ok(CheckpointOutcome::Taken)
            })
            .await;
        }
        Guarded::Interrupted => return Err(CommandError::interrupted()),
        Guarded::Broken { reason, output } => {
            let error = CommandError::failed(&reason).listing(output.lines().map(str::to_owned));
            (Event::ActionFailed { step, reason, output }, error)
        }
        Guarded::Stuck(reason) => {
            let error = CommandError::failed(&reason);
            (Event::StepBlocked { step, reason }, error)
        }
    };
    change(io, store, event).await?;
    Err(error)
}

/// Says whether another attempt is allowed. The attempt itself is counted when it starts, so
/// that a retry without a start cannot go round for ever.
async fn retry(io: &Io, store: &Store, number: u32, as_json: bool) -> Result<Exit, CommandError> {
    let run = store.run();
    let Some(record) = run.step(number) else {
        return Err(not_now(run, Refusal::NoSuchStep { step: number }));
    };
    demand_running(run, "a step can be retried")?;
    match &record.status {
        StepStatus::Failed { .. } if record.may_retry() => {
            let (next, last) = (record.attempts + 1, record.last_attempt());
            let line = format!("retrying step {number} (attempt {next}/{last})");
            say_step(io, store.run(), number, &line, as_json).await;
            Ok(Exit::Done)
        }
        StepStatus::Failed { .. } => {
            let limit = record.limit();
            Err(not_now(run, Refusal::AttemptsExhausted { step: number, limit }))
        }
        status @ (StepStatus::Pending
        | StepStatus::InProgress(_)
        | StepStatus::Done
        | StepStatus::Blocked(_)) => {
            let (status, expected) = (status.as_str(), "`failed`");
            Err(not_now(run, Refusal::WrongStepStatus { step: number, status, expected }))
        }
    }
}
