//! Continuing a run that was interrupted, paused or blocked: verify first.

use crate::error::{CommandError, unusable_record};
use crate::lookup::agent::{AgentArgs, choose_agents, demand_present};
use crate::lookup::runs::{Found, find_all};
use crate::lookup::select::{Fitting, RunName, Selected, demand_whole, select};
use crate::notify;
use crate::run::adopt::Edited;
use crate::run::attach::{attach, background_driver};
use crate::run::decider::{decider, demand_person};
use crate::run::drive::drive_run;
use crate::run::driver_lock::{drive_alone, driver_of, take_over};
use crate::run::ending::RunEnd;
use crate::run::instruction::instruction;
use crate::run::options::{DriveArgs, RunOptions, demand_complete, remembered_options};
use crate::run::processes::end_survivors;
use crate::sandbox::choice::{Sandbox, run_asks_for_names};
use crate::state::store::{Paths, StateHome, Store, StoreError};
use crate::{run::adopt, state::rebuild};
use onloop_agents::Agent;
use onloop_effect::{Exit, Io, LockHolder, OptionalExt};
use onloop_run::{DecisionChannel, Event, Next, Question, Run, RunStatus, StepStatus};
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_workflow::{Budgets, Step};

/// Arguments of `onloop resume`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ResumeArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// The agent, and for how long it runs
    #[command(flatten)]
    pub drive: DriveArgs,
    /// Accept the verdict of a review that blocks the run
    #[arg(long)]
    pub accept_review: bool,
    /// What to do with an interrupted step that no check can judge
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub interrupted: Option<Interrupted>,
    /// Use the workflow file as it was edited, and keep finished steps
    #[arg(long)]
    pub adopt: bool,
    /// Continue with the plan that the run has, although the file was edited
    #[arg(long, conflicts_with = "adopt")]
    pub no_adopt: bool,
    /// Change a bound of the run, `max_agents=9` or `…=unlimited`
    #[arg(long, value_name = "NAME=VALUE")]
    pub raise: Vec<String>,
    /// Take the run from a process that cannot be shown to be dead
    #[arg(long, requires = "reason")]
    pub take_over: bool,
    /// Why the run is taken over; kept in the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Put a damaged record aside and begin it anew from this file
    #[arg(long, value_name = "FILE")]
    pub rebuild: Option<String>,
    /// Drive in the background; another driver of the run makes this one end silently
    #[arg(long, hide = true)]
    pub background: bool,
}

/// What to do with an interrupted step that no check can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Interrupted {
    /// Let the agent act again
    Redo,
    /// Take the step as done
    Done,
}

/// What came of preparing a run to continue.
enum Prepared {
    /// It continues.
    Ready(Box<Store>, RunOptions),
    /// A driver in the background has it.
    Driven(Box<Store>, LockHolder),
    /// It is finished already.
    Finished,
    /// Only the pull request of the run with this id is left to follow.
    PullRequest(String),
    /// The agent that drives this run by verbs continues it.
    GivenBack(String),
}

/// Prepares the run that is meant and drives it.
///
/// # Errors
///
/// The run cannot continue.
pub async fn resume_run(io: &Io, args: &ResumeArgs) -> Result<RunEnd, CommandError> {
    let io = &match args.background {
        true => io.in_background(),
        false => io.clone(),
    };
    let prepared = match Box::pin(prepare(io, args)).await {
        Err(_) if args.background && is_driven_elsewhere(io, args).await => {
            return Ok(RunEnd::of(Exit::Done, None));
        }
        prepared => prepared?,
    };
    match prepared {
        Prepared::Ready(mut store, options) => {
            let (driver, id) = (store.paths().driver_lock(), store.run().id.clone());
            let ended = drive_run(io, &mut store, &options).await;
            options.checks.end(io).await;
            let _ = io.unlock(&driver).await;
            let pull_request_is_due = store.run().pull_request_is_due();
            Ok(RunEnd { exit: ended?, id: Some(id), pull_request_is_due })
        }
        Prepared::Finished => Ok(RunEnd::of(Exit::Done, None)),
        Prepared::PullRequest(id) => {
            Ok(RunEnd { exit: Exit::Done, id: Some(id), pull_request_is_due: true })
        }
        // It has not ended, so nothing that follows a completed run may follow.
        Prepared::GivenBack(id) => Ok(RunEnd::of(Exit::Paused, Some(id))),
        Prepared::Driven(store, driver) => {
            let exit = attach(io, &store, &driver).await?;
            Ok(RunEnd::of(exit, Some(store.run().id.clone())))
        }
    }
}

/// Whether another process drives the run with this id.
async fn is_driven_elsewhere(io: &Io, args: &ResumeArgs) -> bool {
    let (Some(id), Ok(home)) = (args.run.as_deref(), StateHome::of(io)) else { return false };
    driver_of(io, &Paths::new(&home, "", id)).await.is_some()
}

async fn prepare(io: &Io, args: &ResumeArgs) -> Result<Prepared, CommandError> {
    let decides = args.take_over
        || args.accept_review
        || args.adopt
        || args.no_adopt
        || args.interrupted.is_some()
        || args.rebuild.is_some()
        || !args.raise.is_empty();
    if decides {
        demand_person(io, "how a run continues").await?;
    }
    let wanted = args.run.as_deref();
    let Selected { id, store } = match select(io, wanted, Fitting::Unfinished).await {
        Ok(selected) => selected,
        Err(error) if wanted.is_none() => return Err(with_commands(io, error).await),
        Err(error) => return Err(error),
    };
    let opened = match store {
        Some(store) => Ok(*store),
        None => Store::open(io, &id).await,
    };
    let mut store = match (opened, &args.rebuild) {
        (Ok(_), Some(_)) => {
            return Err(CommandError::usage(format!(
                "the record of run `{id}` can be read, so there is nothing to rebuild"
            ))
            .fix_by("continue the run with it", format!("onloop resume {id}")));
        }
        (Ok(store), None) => store,
        (Err(StoreError::Unreadable(why)), Some(file)) => {
            io.note(format!("run {id}: {why}")).await;
            rebuild::rebuild(io, &id, file).await?
        }
        (Err(error), _) => return Err(unusable_record(io, &id, error).await),
    };
    if !args.background {
        demand_whole(store.run())?;
    }
    let root = store.run().place.execution_root.clone();
    if io.stat(&root).await.optional().is_ok_and(|stat| stat.is_none()) {
        return Err(without_checkout(store.run()));
    }
    if store.run().pull_request_is_due() {
        return Ok(Prepared::PullRequest(id));
    }
    if store.run().is_over() {
        over(io, &mut store).await?;
        return Ok(Prepared::Finished);
    }
    // Other options are not those of the driver.
    let follows = !args.background && !decides && args.drive.line().is_empty();
    if follows && let Some(driver) = background_driver(io, &store).await {
        return Ok(Prepared::Driven(Box::new(store), driver));
    }
    let mut drive = args.drive.clone();
    if let Some(earlier) = remembered_options(io, store.paths()).await {
        drive = drive.or(earlier);
        demand_complete(&drive, &id)?;
    }
    let timeouts = drive.timeouts()?;
    let budgets = raised(&store, &args.raise)?;
    if store.run().is_driven_by_verbs() && !drive.agent.is_named() {
        give_back(io, &mut store, args, budgets).await?;
        return Ok(Prepared::GivenBack(id));
    }
    let asked = (store.run().settings.confine, run_asks_for_names(store.run()));
    let mut sandbox = drive.sandbox(io, &root, asked).await?;
    if let Err(error) = may_be_confined(io, &store, &drive, &sandbox).await {
        sandbox.end(io).await;
        return Err(error);
    }
    let agents = match record_resume(io, &mut store, args, (&drive.agent, budgets)).await {
        Ok(agents) => agents,
        Err(error) => {
            sandbox.end(io).await;
            return Err(error);
        }
    };
    if store.run().settings.confine && sandbox.mechanism().is_none() {
        // The edited file asks for it.
        sandbox = Sandbox::of(io, store.run()).await?;
    }
    let step = instruction(store.run()).step.unwrap_or_else(|| store.run().current_step());
    io.note(format!("Resumed run {id} at step {step}")).await;
    if drive.line() != args.drive.line() {
        io.note(format!("  Options:{}", io.redacted(&drive.line()))).await;
    }
    io.note(format!("  Sandbox: {sandbox}")).await;
    let repaired = store.repair_boxes().await;
    for line in repaired.changed.into_iter().chain(repaired.warning) {
        io.note(line).await;
    }
    if !open_steps(&store).is_empty() {
        drive = drive.naming(&agents);
    }
    let options = drive.applied(io, store.run(), agents, timeouts, sandbox);
    Ok(Prepared::Ready(Box::new(store), options))
}

/// Says of a completed run that nothing is left to do.
///
/// # Errors
///
/// The run was abandoned.
async fn over(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    // The power may have gone between the end of the run and its last rendering.
    for line in store.repair_mirrors().await {
        io.note(line).await;
    }
    notify::deliver(io, store).await;
    let (id, status) = (&store.run().id, store.run().status);
    let word = status.as_str();
    match status {
        RunStatus::Completed | RunStatus::ReadyToFinish => {
            io.note(format!("Run {id} is {word}; there is nothing to resume")).await;
            Ok(())
        }
        RunStatus::Running | RunStatus::Paused | RunStatus::Blocked | RunStatus::Abandoned => {
            Err(CommandError::usage(format!("run `{id}` is {word}; there is nothing to resume")))
        }
    }
}

/// Records what a person decides about a run that an agent drives by verbs, and says what comes next.
/// Only an agent that is named is started: the one that drives may be what called us.
async fn give_back(
    io: &Io,
    store: &mut Store,
    args: &ResumeArgs,
    budgets: Option<Budgets>,
) -> Result<(), CommandError> {
    become_driver(io, store, args).await?;
    let recorded = match agree(io, store, args).await {
        Ok(()) => record_decisions(io, store, args, budgets).await,
        Err(error) => Err(error),
    };
    let _ = io.unlock(&store.paths().driver_lock()).await;
    recorded?;
    notify::deliver(io, store).await;
    let id = &store.run().id;
    io.note(format!(
        "Run {id} continues by verbs; no agent was started. What comes next:\n  \
         onloop next --run-id {id}\n\
         To have onloop start an agent instead:\n  onloop resume {id} --agent NAME"
    ))
    .await;
    Ok(())
}

/// Becomes the only process that drives the run, and ends what is left of the work before.
async fn become_driver(io: &Io, store: &mut Store, args: &ResumeArgs) -> Result<(), CommandError> {
    match args.take_over {
        true => take_over(io, store, args.reason.as_deref().unwrap_or_default()).await?,
        false => drive_alone(io, store).await?,
    }
    end_survivors(io, store.run()).await
}

/// Takes the driver's lock and records that the run continues; returns its agents.
async fn record_resume(
    io: &Io,
    store: &mut Store,
    args: &ResumeArgs,
    (agent, budgets): (&AgentArgs, Option<Budgets>),
) -> Result<Vec<Agent>, CommandError> {
    become_driver(io, store, args).await?;
    // Before the record changes: without an agent nothing continues.
    choose(io, store, agent).await?;
    agree(io, store, args).await?;
    let agents = choose(io, store, agent).await?;
    record_decisions(io, store, args, budgets).await?;
    Ok(agents)
}

/// Makes sure that the workflow file says what the run does, or does with it what was asked for.
async fn agree(io: &Io, store: &mut Store, args: &ResumeArgs) -> Result<(), CommandError> {
    let edited = match (args.adopt, args.no_adopt) {
        (true, _) => Edited::Adopted,
        (false, true) => Edited::Left,
        (false, false) => Edited::Told,
    };
    adopt::agree(io, store, edited, &args.drive.line()).await
}

/// Records that the run continues, and what was decided about it.
async fn record_decisions(
    io: &Io,
    store: &mut Store,
    args: &ResumeArgs,
    budgets: Option<Budgets>,
) -> Result<(), CommandError> {
    let by = Some(decider(io, DecisionChannel::Command));
    if let Some(budgets) = budgets {
        store.apply_by(Event::BudgetsChanged(budgets), by.clone())?;
    }
    if args.accept_review && store.run().reviews.blocking.is_some() {
        store.apply_by(Event::VerdictAccepted, by.clone())?;
    }
    let is_raised_only = store.run().status == RunStatus::Running && !args.raise.is_empty();
    let is_reviewed = store.run().reviews.blocking.is_some();
    if !store.run().is_driven_by_verbs() || !is_raised_only || is_reviewed {
        // Resuming marks the step under way as interrupted, and its agent may still be at it.
        store.apply_by(Event::RunResumed, by.clone())?;
    }
    let next = store.run().next();
    if let (Some(choice), Next::Ask(Question::Interrupted { step })) = (args.interrupted, next) {
        let event = match choice {
            Interrupted::Redo => Event::StepStarted { step },
            Interrupted::Done => Event::StepActed { step },
        };
        store.apply_by(event, by)?;
    }
    Ok(store.commit().await?)
}

/// `error` with the command for each run that can continue.
async fn with_commands(io: &Io, error: CommandError) -> CommandError {
    let stores = find_all(io).await.into_iter().filter_map(Found::into_store);
    let open = stores.filter(|store| !store.run().is_over());
    open.fold(error, |error, store| {
        let id = &store.run().id;
        error.fix_by(format!("continue `{id}`"), format!("onloop resume {id}"))
    })
}

/// What is left of a run whose folder is gone, and how to continue.
fn without_checkout(run: &Run) -> CommandError {
    let (id, root) = (&run.id, text::one_line(&run.place.execution_root));
    let mut error =
        CommandError::refused(format!("the folder `{root}`, in which run `{id}` worked, is gone"))
            .because("nothing recorded is lost; what was committed is on the branch of the run");
    if let (Some(branch), Some(path)) = (&run.place.branch, &run.place.worktree_path) {
        let (branch, path) = (text::shell_word(branch), text::shell_word(path));
        error = error.fix_by(
            "check the branch out again and continue",
            format!("git worktree prune && git worktree add {path} {branch} && onloop resume {id}"),
        );
    }
    error
        .fix_by("if the checkout was moved, say where", format!("onloop relocate {id} --to DIR"))
        .fix_by(
            "or give the run up",
            format!("onloop abandon {id} --reason 'its checkout is gone'"),
        )
}

/// Refuses agents that the sandbox has to hold where there is none, before the record changes.
async fn may_be_confined(
    io: &Io,
    store: &Store,
    drive: &DriveArgs,
    sandbox: &Sandbox,
) -> Result<(), CommandError> {
    let agents = choose(io, store, &drive.agent).await?;
    drive.demand_confined(&agents, sandbox)
}

/// The steps that are not done.
fn open_steps(store: &Store) -> Vec<Step> {
    let open = store.run().steps.iter().filter(|record| record.status != StepStatus::Done);
    open.map(|record| record.step.clone()).collect()
}

/// The agents for what is left to do.
///
/// # Errors
///
/// None of them is on this machine.
async fn choose(io: &Io, store: &Store, agent: &AgentArgs) -> Result<Vec<Agent>, CommandError> {
    let remaining = open_steps(store);
    if remaining.is_empty() {
        // Only gates and checks are left, which need no agent.
        return Ok(vec![Agent::Script]);
    }
    let agents = choose_agents(io, agent, Some(&remaining)).await?;
    demand_present(io, &agents).await?;
    let has_script = store.run().steps.iter().any(|record| record.step.script.is_some());
    if agents.contains(&Agent::Script) && !has_script {
        // Records of other programs have no scripts, and each attempt would do nothing.
        let what =
            format!("the record of run `{}` has no script for the agent `script`", store.run().id);
        return Err(CommandError::usage(what).fix("name another agent with --agent"));
    }
    Ok(agents)
}

/// The bounds with what `--raise` changes; `None`: nothing.
fn raised(store: &Store, raise: &[String]) -> Result<Option<Budgets>, CommandError> {
    if raise.is_empty() {
        return Ok(None);
    }
    let mut budgets = store.run().settings.budgets.clone();
    for change in raise {
        if raise_one(&mut budgets, change).is_none() {
            let change = text::one_line(change);
            return Err(CommandError::usage(format!(
                "--raise is `{change}`, expected max_total_attempts, max_agents, max_tokens, \
                 max_cost_usd or max_elapsed_minutes, `=`, and a number or `unlimited`"
            )));
        }
    }
    Ok(Some(budgets))
}

fn raise_one(budgets: &mut Budgets, change: &str) -> Option<()> {
    let (name, value) = change.split_once('=')?;
    let count = || match value {
        "unlimited" => Some(None),
        number => number.parse::<u64>().ok().map(Some),
    };
    match name {
        "max_total_attempts" => budgets.total_attempts = count()?,
        "max_agents" => budgets.agents = count()?,
        "max_tokens" => budgets.tokens = count()?,
        "max_elapsed_minutes" => budgets.elapsed_minutes = count()?,
        "max_cost_usd" if value == "unlimited" => budgets.cost = None,
        "max_cost_usd" => budgets.cost = Some(Money::from_number(value)?),
        _ => return None,
    }
    Some(())
}
