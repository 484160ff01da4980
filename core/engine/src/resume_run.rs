//! Continuing a run that was interrupted, paused or blocked: verify first.

use crate::adopt::Edited;
use crate::change::apply;
use crate::choose_agent::choose_agents;
use crate::conduct::conduct;
use crate::conduct_args::{Conduct, ConductArgs};
use crate::confining::Confining;
use crate::decide::{decider, demand_person};
use crate::drive::{drive_alone, take_over};
use crate::find_run::{Found, find_all};
use crate::notify;
use crate::select::{Selected, refuse, select};
use crate::store::{Store, StoreError};
use crate::work::end_survivors;
use crate::{adopt, rebuild};
use onloop_agents::Agent;
use onloop_effect::{Exit, Io, OptionalExt};
use onloop_run::{Door, Event, Next, Question, Run, RunStatus, StepStatus};
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_workflow::Budgets;

/// Arguments of `onloop resume`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ResumeArgs {
    /// Run id or workflow file; left out: the only unfinished run
    #[arg(value_name = "RUN_ID|FILE")]
    pub run: Option<String>,
    /// The same, as the other verbs take it
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    pub run_id: Option<String>,
    /// Who acts and for how long
    #[command(flatten)]
    pub conduct: ConductArgs,
    /// Accept the verdict of a review that holds the run up
    #[arg(long)]
    pub accept_review: bool,
    /// What to do with an interrupted step that no check can judge
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub interrupted: Option<Interrupted>,
    /// Use the workflow file as it was edited, and keep finished steps
    #[arg(long)]
    pub adopt: bool,
    /// Go on with the plan that the run has, although the file was edited
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
}

/// What to do with an interrupted step that no check can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Interrupted {
    /// Let the agent act again
    Redo,
    /// Take the step as done
    Done,
}

/// Prepares the run that is meant and conducts it.
pub async fn resume_run(io: &Io, args: &ResumeArgs) -> Exit {
    match prepare(io, args).await {
        Ok((store, how)) => {
            let driver = store.paths().driver_lock();
            let exit = conduct(io, store, &how).await;
            how.conditions.end(io).await;
            let _ = io.unlock(&driver).await;
            exit
        }
        Err(exit) => exit,
    }
}

async fn prepare(io: &Io, args: &ResumeArgs) -> Result<(Store, Conduct), Exit> {
    let decides = args.take_over
        || args.accept_review
        || args.adopt
        || args.no_adopt
        || args.interrupted.is_some()
        || args.rebuild.is_some()
        || !args.raise.is_empty();
    if decides {
        demand_person(io, "how a run goes on").await?;
    }
    let wanted = args.run.as_deref().or(args.run_id.as_deref());
    let Selected { id, store } = match select(io, wanted).await {
        Ok(selected) => selected,
        Err(exit) => {
            if wanted.is_none() {
                name_commands(io).await;
            }
            return Err(exit);
        }
    };
    let opened = match store {
        Some(store) => Ok(*store),
        None => Store::open(io, &id).await,
    };
    let mut store = match (opened, &args.rebuild) {
        (Ok(store), _) => store,
        (Err(StoreError::Unreadable(why)), Some(file)) => {
            io.note(format!("run {id}: {why}")).await;
            rebuild::rebuild(io, &id, file).await?
        }
        (Err(error), _) => return Err(refuse(io, &id, &error).await),
    };
    let root = store.run().place.execution_root.clone();
    if io.stat(&root).await.optional().is_ok_and(|stat| stat.is_none()) {
        return Err(without_checkout(io, store.run()).await);
    }
    if store.run().is_over() {
        return Err(over(io, &mut store).await);
    }
    let timeouts = args.conduct.timeouts(io).await?;
    let budgets = raised(io, &store, &args.raise).await?;
    let mut confining = args.conduct.confining(io, &root, store.run().terms.confine).await?;
    let agents = match go_on(io, &mut store, args, budgets).await {
        Ok(agents) => agents,
        Err(exit) => {
            confining.end(io).await;
            return Err(exit);
        }
    };
    if store.run().terms.confine && confining.mechanism().is_none() {
        // The edited file asks for it.
        confining = Confining::of(io, store.run()).await?;
    }
    io.note(format!("Resumed run {id} at step {}", store.run().current_step())).await;
    if let Some(notice) = confining.notice() {
        io.note(format!("  {notice}")).await;
    }
    let repaired = store.repair_boxes().await;
    for line in repaired.changed.into_iter().chain(repaired.warning) {
        io.note(line).await;
    }
    let how = args.conduct.applied(io, store.run(), agents, (timeouts, confining));
    Ok((store, how))
}

/// Says of a run that is over that nothing is left to do.
async fn over(io: &Io, store: &mut Store) -> Exit {
    // The power may have gone between the end of the run and its last rendering.
    for line in store.repair_mirrors().await {
        io.note(line).await;
    }
    notify::tell(io, store).await;
    let (id, status) = (&store.run().id, store.run().status);
    io.note(format!("Run {id} is {}; there is nothing to resume", status.as_str())).await;
    match status {
        RunStatus::Completed | RunStatus::ReadyToFinish => Exit::Done,
        RunStatus::Running | RunStatus::Paused | RunStatus::Blocked | RunStatus::Abandoned => {
            Exit::Usage
        }
    }
}

/// Takes the run, and records that it goes on and how; who acts.
async fn go_on(
    io: &Io,
    store: &mut Store,
    args: &ResumeArgs,
    budgets: Option<Budgets>,
) -> Result<Vec<Agent>, Exit> {
    match args.take_over {
        true => take_over(io, store, args.reason.as_deref().unwrap_or_default()).await?,
        false => drive_alone(io, store).await?,
    }
    end_survivors(io, store.run()).await?;
    let edited = match (args.adopt, args.no_adopt) {
        (true, _) => Edited::Adopted,
        (false, true) => Edited::Left,
        (false, false) => Edited::Told,
    };
    adopt::agree(io, store, edited).await?;
    let agents = choose(io, store, args).await?;
    let by = Some(decider(io, Door::Command));
    if let Some(budgets) = budgets {
        apply(io, store, Event::BudgetsChanged(budgets), by.clone()).await?;
    }
    if args.accept_review && store.run().reviews.standing.is_some() {
        apply(io, store, Event::VerdictAccepted, by.clone()).await?;
    }
    apply(io, store, Event::RunResumed, by.clone()).await?;
    let next = store.run().next();
    if let (Some(choice), Next::Ask(Question::Interrupted { step })) = (args.interrupted, next) {
        let event = match choice {
            Interrupted::Redo => Event::StepStarted { step },
            Interrupted::Done => Event::StepActed { step },
        };
        apply(io, store, event, by).await?;
    }
    if let Err(error) = store.commit().await {
        let id = store.run().id.clone();
        return Err(refuse(io, &id, &error).await);
    }
    Ok(agents)
}

/// The command for each run that can go on, where there are several.
async fn name_commands(io: &Io) {
    let stores = find_all(io).await.into_iter().filter_map(Found::into_store);
    let open = stores.filter(|store| !store.run().is_over());
    let lines: String = open.map(|store| format!("  onloop resume {}\n", store.run().id)).collect();
    if !lines.is_empty() {
        io.note(format!("Go on with one of them:\n{lines}")).await;
    }
}

/// Says what is left of a run whose folder is gone, and how to go on.
async fn without_checkout(io: &Io, run: &Run) -> Exit {
    let (id, root) = (&run.id, &run.place.execution_root);
    let mut text =
        format!("error: {root} is gone, in which run {id} worked. Nothing recorded is lost.\n");
    if let (Some(branch), Some(path)) = (&run.place.branch, &run.place.worktree_path) {
        let (branch, path) = (text::shell_word(branch), text::shell_word(path));
        text += &format!(
            "  What was committed is on its branch. Check it out again, then continue:\n    \
             git worktree prune && git worktree add {path} {branch}\n    onloop resume {id}\n"
        );
    }
    text += &format!(
        "  If the checkout was moved:\n    onloop relocate {id} --to DIR\n  \
         Or give the run up:\n    onloop abandon {id} --reason 'its checkout is gone'"
    );
    io.note(text).await;
    Exit::Refused
}

/// The agents for what is left to do.
async fn choose(io: &Io, store: &Store, args: &ResumeArgs) -> Result<Vec<Agent>, Exit> {
    let open = store.run().steps.iter().filter(|record| record.status != StepStatus::Done);
    let remaining: Vec<_> = open.map(|record| record.step.clone()).collect();
    match remaining.is_empty() {
        // Only gates and checks are left: nobody has to act.
        true => Ok(vec![Agent::Script]),
        false => choose_agents(io, &args.conduct.agent, Some(&remaining)).await,
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
                 max_tokens, max_cost_usd or max_elapsed_minutes, `=`, and a number or `unlimited`"
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
        "max_tokens" => budgets.tokens = count()?,
        "max_elapsed_minutes" => budgets.elapsed_minutes = count()?,
        "max_cost_usd" if value == "unlimited" => budgets.cost = None,
        "max_cost_usd" => budgets.cost = Some(Money::from_number(value)?),
        _ => return None,
    }
    Some(())
}
