//! `onloop resume`: continue a run that was interrupted, paused or blocked, verify first.

use crate::agent::Agent;
use crate::effect::{Exit, FailureKind, Io};
use crate::engine::choose_agent::choose_agent;
use crate::engine::conduct::{Conduct, conduct};
use crate::engine::rebuild;
use crate::engine::store::{Store, StoreError};
use crate::money::Money;
use crate::run::{Event, Next, Question, Run, StepStatus, is_run_id};
use crate::text;
use crate::verb::adopt;
use crate::verb::locate::{find_all, root_of};
use crate::verb::run::{ConductArgs, how, is_of, timeouts};
use crate::workflow::Budgets;

/// Arguments of `onloop resume`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ResumeArgs {
    /// Run id or workflow file; left out: the only unfinished run
    #[cfg_attr(feature = "cli", arg(value_name = "RUN_ID|FILE"))]
    pub run: Option<String>,
    /// Who acts and for how long
    #[cfg_attr(feature = "cli", command(flatten))]
    pub conduct: ConductArgs,
    /// Accept the verdict of a review that holds the run up
    #[cfg_attr(feature = "cli", arg(long))]
    pub accept_review: bool,
    /// What to do with an interrupted step that no check can judge
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "CHOICE"))]
    pub interrupted: Option<Interrupted>,
    /// Use the workflow file as it was edited, and keep finished steps
    #[cfg_attr(feature = "cli", arg(long))]
    pub adopt: bool,
    /// Change a bound of the run, `max_agents=9` or `…=unlimited`
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=VALUE"))]
    pub raise: Vec<String>,
    /// Take the run from a process that cannot be shown to be dead
    #[cfg_attr(feature = "cli", arg(long, requires = "reason"))]
    pub take_over: bool,
    /// Why the run is taken over; kept in the record
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub reason: Option<String>,
    /// Put a damaged record aside and begin it anew from this file
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub rebuild: Option<String>,
}

/// What to do with an interrupted step that no check can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Interrupted {
    /// Let the agent act again
    Redo,
    /// Take the step as done
    Done,
}

/// `onloop resume`.
pub async fn resume(io: &Io, args: &ResumeArgs) -> Exit {
    match prepare(io, args).await {
        Ok((store, how)) => {
            let driver = store.paths().driver_lock();
            let exit = conduct(io, store, &how).await;
            let _ = io.unlock(&driver).await;
            exit
        }
        Err(exit) => exit,
    }
}

async fn prepare(io: &Io, args: &ResumeArgs) -> Result<(Store, Conduct), Exit> {
    let Selected { root, id, store } = select(io, args.run.as_deref()).await?;
    let opened = match store {
        Some(store) => Ok(store),
        None => Store::open(io, &root, &id).await,
    };
    let mut store = match (opened, &args.rebuild) {
        (Ok(store), _) => store,
        (Err(StoreError::Unreadable(why)), Some(file)) => {
            io.note(format!("run {id}: {why}")).await;
            rebuild::rebuild(io, &root, &id, file).await?
        }
        (Err(error), _) => return Err(refuse(io, &id, &error).await),
    };
    if store.run().is_over() {
        // The power may have gone between the end of the run and its last rendering.
        for line in store.repair_mirrors().await {
            io.note(line).await;
        }
        io.note(format!("Run {id} is {}; there is nothing to resume", store.run().status.as_str()))
            .await;
        return Err(Exit::Usage);
    }
    let (agent_timeout_ms, verify_timeout_ms) = timeouts(io, &args.conduct).await?;
    let budgets = raised(io, &store, &args.raise).await?;
    match args.take_over {
        true => take_over(io, &mut store, args.reason.as_deref().unwrap_or_default()).await?,
        false => drive_alone(io, &store).await?,
    }
    adopt::agree(io, &mut store, args.adopt).await?;
    let agent = choose(io, &store, args).await?;
    if let Some(budgets) = budgets {
        apply(io, &mut store, Event::BudgetsChanged(budgets)).await?;
    }
    if args.accept_review && store.run().reviews.standing.is_some() {
        apply(io, &mut store, Event::VerdictAccepted).await?;
    }
    apply(io, &mut store, Event::RunResumed).await?;
    let next = store.run().next();
    if let (Some(choice), Next::Ask(Question::Interrupted { step })) = (args.interrupted, next) {
        let event = match choice {
            Interrupted::Redo => Event::StepStarted { step },
            Interrupted::Done => Event::StepActed { step },
        };
        apply(io, &mut store, event).await?;
    }
    if let Err(error) = store.commit().await {
        return Err(refuse(io, &id, &error).await);
    }
    io.note(format!("Resumed run {id} at step {}", store.run().current_step())).await;
    for line in store.repair_boxes().await {
        io.note(line).await;
    }
    let how = how(io, &store, &args.conduct, agent, agent_timeout_ms, verify_timeout_ms);
    Ok((store, how))
}

/// The agent for what is left to do.
async fn choose(io: &Io, store: &Store, args: &ResumeArgs) -> Result<Agent, Exit> {
    let open = store.run().steps.iter().filter(|record| record.status != StepStatus::Done);
    let remaining: Vec<_> = open.map(|record| record.step.clone()).collect();
    match remaining.is_empty() {
        // Only gates and checks are left: nobody has to act.
        true => Ok(Agent::Script),
        false => choose_agent(io, &args.conduct.agent, Some(&remaining)).await,
    }
}

/// The bounds with what `--raise` changes; `None`: nothing.
async fn raised(io: &Io, store: &Store, raise: &[String]) -> Result<Option<Budgets>, Exit> {
    if raise.is_empty() {
        return Ok(None);
    }
    let mut budgets = store.run().terms.budgets.clone();
    for change in raise {
        if raise_one(&mut budgets, change).is_none() {
            let change = text::one_line(change);
            io.note(format!(
                "error: --raise is `{change}`, expected max_total_attempts, max_agents, \
                 max_cost_usd or max_elapsed_minutes, `=`, and a number or `unlimited`"
            ))
            .await;
            return Err(Exit::Usage);
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
        "max_elapsed_minutes" => budgets.elapsed_minutes = count()?,
        "max_cost_usd" if value == "unlimited" => budgets.cost = None,
        "max_cost_usd" => budgets.cost = Some(Money::from_number(value)?),
        _ => return None,
    }
    Some(())
}

async fn apply(io: &Io, store: &mut Store, event: Event) -> Result<(), Exit> {
    if let Err(refusal) = store.apply(event) {
        io.note(format!("error: {refusal}")).await;
        return Err(Exit::Refused);
    }
    Ok(())
}

/// Becomes the only process that drives the run.
pub(crate) async fn drive_alone(io: &Io, store: &Store) -> Result<(), Exit> {
    let Err(failure) = io.lock(&store.paths().driver_lock(), 0).await else { return Ok(()) };
    let id = &store.run().id;
    if failure.kind == FailureKind::Busy {
        io.note(format!(
            "error: another onloop works on run {id}: {failure}\n  Wait for it, or end it, then \
             try again. If it cannot be there any more (another\n  machine, say), take the run \
             over:\n    onloop resume {id} --take-over --reason 'machine lost'"
        ))
        .await;
    } else {
        io.note(format!("error: run {id}: {failure}")).await;
    }
    Err(Exit::Refused)
}

/// Takes the run from whoever drives it. Its lock goes, and whatever it still wants to record
/// is refused because the record has changed.
async fn take_over(io: &Io, store: &mut Store, reason: &str) -> Result<(), Exit> {
    let lock = store.paths().driver_lock();
    match io.remove(&lock).await {
        Ok(()) => {}
        Err(failure) if failure.kind == FailureKind::NotFound => {}
        Err(failure) => {
            io.note(format!("error: the run could not be taken over: {failure}")).await;
            return Err(Exit::Refused);
        }
    }
    drive_alone(io, store).await?;
    apply(io, store, Event::TakenOver { reason: reason.to_owned() }).await
}

/// Opens a record; failures are said.
pub(crate) async fn open(io: &Io, wanted: Option<&str>) -> Result<Store, Exit> {
    let Selected { root, id, store } = select(io, wanted).await?;
    if let Some(store) = store {
        return Ok(store);
    }
    match Store::open(io, &root, &id).await {
        Ok(store) => Ok(store),
        Err(error) => Err(refuse(io, &id, &error).await),
    }
}

/// The run that is meant.
struct Selected {
    root: String,
    id: String,
    /// Its record, where that had to be read in order to tell.
    store: Option<Store>,
}

async fn refuse(io: &Io, id: &str, error: &StoreError) -> Exit {
    io.note(format!("error: run {id}: {error}")).await;
    if let StoreError::Unreadable(_) = error {
        io.note(rebuild::advice(id)).await;
    }
    match error {
        StoreError::Failed(failure) if failure.kind == FailureKind::Interrupted => {
            Exit::Interrupted
        }
        StoreError::Missing
        | StoreError::Unreadable(_)
        | StoreError::Failed(_)
        | StoreError::Overtaken(_) => Exit::Refused,
    }
}

/// The one run that is meant: by id, by workflow file, or the only unfinished one. Never
/// chooses among several.
async fn select(io: &Io, wanted: Option<&str>) -> Result<Selected, Exit> {
    let wanted = wanted.or_else(|| io.env("ONLOOP_RUN_ID")).or_else(|| io.env("HOTL_RUN_ID"));
    if let Some(id) = wanted.filter(|wanted| is_run_id(wanted))
        && let Some(root) = root_of(io, id).await
    {
        return Ok(Selected { root, id: id.to_owned(), store: None });
    }
    let file = match wanted {
        Some(name) if io.stat(name).await.is_ok() => {
            Some(io.canonical(name).await.unwrap_or_else(|_| name.to_owned()))
        }
        Some(name) => {
            let name = text::one_line(name);
            io.note(format!("ERROR: No HOTL run found for run_id: {name}")).await;
            io.note("  `onloop list` shows the runs that can be found from here.").await;
            return Err(Exit::Refused);
        }
        None => None,
    };
    let mut candidates = Vec::new();
    for found in find_all(io).await {
        let meant =
            |run: &Run| !run.is_over() && file.as_deref().is_none_or(|file| is_of(run, file));
        match found.store {
            Ok(store) if meant(store.run()) => candidates.push((found.root, store)),
            Ok(_) => {}
            // A record that cannot be read may be the one that is meant.
            Err(error) => io.note(format!("warning: run {}: {error}", found.id)).await,
        }
    }
    let one = if candidates.len() == 1 { candidates.pop() } else { None };
    if let Some((root, store)) = one {
        return Ok(Selected { root, id: store.run().id.clone(), store: Some(store) });
    }
    if candidates.is_empty() {
        io.note("ERROR: No active HOTL run found in .hotl/state/").await;
        return Err(Exit::Refused);
    }
    let mut text = String::from(
        "ERROR: Multiple HOTL runs found in .hotl/state/. Select one with --run-id <run-id> or \
         HOTL_RUN_ID.\n",
    );
    for (_, store) in &candidates {
        let run = store.run();
        let (status, file) = (run.status.as_str(), &run.place.workflow_path);
        text += &format!("  - {} [{status}] workflow={file}\n", run.id);
    }
    io.note(text).await;
    Err(Exit::Refused)
}
