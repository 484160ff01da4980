//! Steps that work side by side. Each has a fork: a run of one step, with a worktree and a driver of its
//! own. This process begins forks, waits for them, and merges what they did in the order of the steps.
//!
//! The record of the run says which forks there are before any of them works, so a fork outlives this
//! process, and the next one finds it.

mod begin;
mod conflicts;
mod left;
mod limits;
mod merge;

use std::collections::BTreeMap;

use crate::run::advice;
use crate::run::background::{has_started, is_for_driver, launch_driver};
use crate::run::context::{Halt, RunContext};
use crate::run::driver_lock::driver_of;
use crate::run::options::{RunOptions, remember_options};
use crate::state::remote_owner::is_fleets;
use crate::state::store::{Paths, Store};
pub(crate) use begin::remove_unrecorded;
use begin::{begin_fork, can_merge};
pub(crate) use conflicts::unresolved;
pub(crate) use left::remove_merged;
pub use left::{remove_all, remove_unneeded};
pub(crate) use limits::{beside_turn, reserved, start_attempt, together, used_up};
pub(crate) use merge::{Merged, settle};
use onloop_agents::Agent;
use onloop_effect::{Failure, Io, WorkLine, has_redaction};
use onloop_run::{
    Event, ForkFailure, ForkState, ForkUse, Next, Phase, Run, RunStatus, StepStatus, UnderWay,
    exceeded,
};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::graph::step_list;

/// A driver that is killed changes no file, so its lock is looked at in this interval.
const LOOK_MS: u64 = 5_000;

/// How often this process starts a driver for one fork.
const MOST_STARTS: u32 = 3;

/// How often, and how many times, it is looked whether an interrupted driver has ended.
const STOP_LOOK_MS: u64 = 50;
const STOP_LOOKS: u32 = 300;

/// What this process knows about the forks of the run that it drives.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// How many steps may work at once; below 2: one after the other.
    most: u32,
    /// How often it has started a driver, by step.
    starts: BTreeMap<u32, u32>,
    /// How many lines of the log of a fork people have seen, by its id.
    told: BTreeMap<String, usize>,
    /// How many of them work.
    at_work: u32,
    /// The forks that work, as people see them while they wait.
    working: Vec<WorkLine>,
    /// The forks that are merged, and whose worktrees are there yet.
    left: Vec<String>,
    /// Whether a person interrupted while the driver of a fork began.
    is_interrupted: bool,
}

/// How a fork stands.
enum ForkProgress {
    /// Its driver works.
    Works,
    /// It has ended and can be merged; `Some`: it was given up.
    Over(Option<ForkFailure>),
    /// A person has to do something: what, on one line.
    Waits(String),
}

/// Finds out how many steps may work at once in this process, and says why it is one although the
/// workflow allows more.
pub(crate) async fn prepare(io: &Io, store: &Store, options: &RunOptions) -> Forks {
    let most = store.run().settings.max_parallel;
    let mut forks = Forks { left: store.run().merged_forks(), ..Forks::default() };
    if most < 2 || store.run().fork_of.is_some() {
        return forks;
    }
    match why_not(io, store, options).await {
        None => forks.most = most,
        Some(why) => {
            let line = format!("note: the steps run one after the other: {why}");
            io.note(text::wrapped(&line, 80, 6)).await;
        }
    }
    forks
}

async fn why_not(io: &Io, store: &Store, options: &RunOptions) -> Option<String> {
    if store.run().place.worktree_path.is_none() {
        return Some("the run has no worktree of its own".to_owned());
    }
    if io.start().program.is_empty() || is_fleets(io, store.paths()).await {
        return Some("no other driver can be started here".to_owned());
    }
    if options.agents.contains(&Agent::You) {
        return Some("its agent is `you`".to_owned());
    }
    if options.words.iter().any(|word| has_redaction(&io.redacted(word))) {
        return Some("its options contain a secret value, which onloop does not store".to_owned());
    }
    can_merge(io, &store.run().place.execution_root).await.err()
}

/// Begins the forks that can begin, and sees to those that work: one without a driver gets one, one that
/// is outdated is dropped, and people see what is new.
pub(crate) async fn tend(cx: &mut RunContext<'_>) -> Result<(), Halt> {
    if cx.forks.most < 2 {
        return Ok(());
    }
    let open: Vec<(u32, ForkState, String)> =
        cx.run().forked_steps().map(|(step, fork)| (step, fork.state, fork.run.clone())).collect();
    cx.forks.at_work = 0;
    cx.forks.working.clear();
    for (step, state, id) in &open {
        if *state == ForkState::Outdated {
            let reason = cx.run().outdated_reason(*step);
            drop_fork(cx, *step, id, reason).await?;
        } else if let Some(fork) = opened(cx.io, id).await {
            tell(cx, &fork).await;
            cx.forks.working.extend(work_line(fork.run(), cx.io.now()));
            if matches!(fork_progress(cx, *step, fork).await?, ForkProgress::Works) {
                cx.forks.at_work += 1;
            }
        } else {
            drop_fork(cx, *step, id, "its record is gone").await?;
        }
    }
    heed_interrupt(cx)?;
    let ready = cx.run().ready_to_fork();
    // A step that works alone needs no worktree of its own, unless the turn of another one that waits for a
    // person is before its own.
    let is_alone = cx.forks.at_work as usize + ready.len() < 2;
    let is_waiting = matches!(cx.run().next(), Next::Ask(_) | Next::Blocked(_));
    if ready.is_empty() || (is_alone && !is_waiting) || over_budget(cx.io, cx.run()).await.is_some()
    {
        return Ok(());
    }
    for step in ready {
        if cx.forks.at_work >= cx.forks.most {
            break;
        }
        if !Box::pin(begin_fork(cx, step)).await? {
            break;
        }
        heed_interrupt(cx)?;
        cx.forks.at_work += 1;
    }
    Ok(())
}

fn heed_interrupt(cx: &RunContext<'_>) -> Result<(), Halt> {
    if cx.forks.is_interrupted { Err(Halt::Interrupted) } else { Ok(()) }
}

/// Waits until the fork of `step` has ended, and begins others meanwhile.
///
/// # Errors
///
/// The run stops: the person interrupted, a fork waits for a person, or a budget is used up.
pub(crate) async fn wait(
    cx: &mut RunContext<'_>,
    step: u32,
) -> Result<(Store, Option<ForkFailure>), Halt> {
    cx.store.commit().await?;
    loop {
        tend(cx).await?;
        cx.store.commit().await?;
        let Some(id) = open_fork(cx.run(), step) else {
            // It was dropped: its agent acts in the worktree of the run.
            return Err(Halt::Again);
        };
        let Some(fork) = opened(cx.io, &id).await else { continue };
        let progress = fork_progress(cx, step, fork).await?;
        heed_interrupt(cx)?;
        if let ForkProgress::Over(failure) = progress {
            let Some(fork) = opened(cx.io, &id).await else { continue };
            tell(cx, &fork).await;
            return Ok((fork, failure));
        }
        if let Some(whole) = over_budget(cx.io, cx.run()).await {
            stop(cx.io, cx.run()).await;
            return Err(cx.pause(&advice::budget_words(&whole)).await);
        }
        if let ForkProgress::Waits(what) = progress {
            let whole = reserved(cx.io, cx.run(), cx.options).await;
            match whole.filter(|whole| !exceeded(whole).is_empty()) {
                None => return Err(cx.pause(&format!("step {step} waits: {what}")).await),
                Some(whole) if cx.forks.at_work == 0 => {
                    return Err(cx.pause(&advice::budget_words(&whole)).await);
                }
                // The limit leaves it no attempt. Those that have one end it.
                Some(_) => {}
            }
        }
        remove_merged(cx.io, cx.store.run(), &mut cx.forks).await;
        let folders = folders(cx).await;
        let working = cx.forks.working.clone();
        match cx.io.changes_beside(folders, LOOK_MS, working).await {
            Ok(_) => {}
            Err(failure) if failure.is_interrupted() => return Err(Halt::Interrupted),
            Err(failure) => return Err(Halt::Failed(failure.into())),
        }
        cx.store.look_again().await?;
        if cx.run().status != RunStatus::Running {
            return Err(Halt::Stopped);
        }
    }
}

fn open_fork(run: &Run, step: u32) -> Option<String> {
    let fork = run.step(step)?.fork.as_ref()?;
    (fork.state == ForkState::Working).then(|| fork.run.clone())
}

async fn opened(io: &Io, id: &str) -> Option<Store> {
    Store::open(io, id).await.ok()
}

/// How a fork stands. One without a driver gets one, unless a person has to do something first.
async fn fork_progress(
    cx: &mut RunContext<'_>,
    step: u32,
    mut fork: Store,
) -> Result<ForkProgress, Halt> {
    if driver_of(cx.io, fork.paths()).await.is_some() {
        return Ok(ForkProgress::Works);
    }
    // It may have ended since it was read.
    fork.look_again().await?;
    let run = fork.run();
    match (run.status, run.next()) {
        (RunStatus::Completed, _) => return Ok(ForkProgress::Over(None)),
        (RunStatus::Abandoned, _) => {
            let reason = "its run was abandoned".to_owned();
            return Ok(ForkProgress::Over(cx.run().failure_of(run, reason)));
        }
        (_, Next::Blocked(blocker)) => {
            return Ok(ForkProgress::Over(cx.run().failure_of(run, blocker.reason)));
        }
        (_, _) => {}
    }
    let starts = cx.forks.starts.entry(step).or_default();
    let is_new = *starts == 0 || run.status == RunStatus::Running;
    let budgets = cx.store.run().budgets_of_fork(run.active_ms);
    let may_go_on = is_for_driver(run) || budgets != run.settings.budgets;
    if !may_go_on || !is_new || *starts == MOST_STARTS {
        let why = match (run.next(), &run.pause_reason) {
            (Next::Ask(question), _) => advice::reason(run, &question),
            (_, Some(reason)) => reason.clone(),
            (_, None) => "its driver ends before it has done anything".to_owned(),
        };
        let log = fork.paths().driver_log();
        return Ok(ForkProgress::Waits(format!("{} (its output: {log})", text::one_line(&why))));
    }
    *starts += 1;
    if budgets != fork.run().settings.budgets {
        fork.apply(Event::BudgetsChanged(budgets))?;
        fork.commit().await?;
    }
    // Its driver works with the options of this process. A power cut may have lost those that were there.
    remember_options(cx.io, fork.paths(), &cx.options.words).await;
    cx.forks.is_interrupted |= start(cx.io, &fork).await;
    Ok(ForkProgress::Works)
}

/// Starts a driver for a fork. Returns whether a person interrupted that: the caller ends the run, once the
/// driver is there to be ended with it.
async fn start(io: &Io, fork: &Store) -> bool {
    let mut launched = launch_driver(io, fork).await;
    let is_interrupted = launched.as_ref().is_err_and(Failure::is_interrupted);
    if is_interrupted {
        launched = launch_driver(io, fork).await;
    }
    if let Err(failure) = launched {
        let why = text::one_line(&failure.message);
        io.note(format!("warning: no driver of run {} was started: {why}", fork.run().id)).await;
        return is_interrupted;
    }
    has_started(io, fork).await.is_err() || is_interrupted
}

/// Shows what is new in the log of a fork.
async fn tell(cx: &mut RunContext<'_>, fork: &Store) {
    let run = fork.run();
    let told = cx.forks.told.entry(run.id.clone()).or_default();
    let new = run.events.get(*told..).unwrap_or_default();
    *told = run.events.len();
    for entry in new.iter().filter(|entry| entry.step.is_some()) {
        // That it begins was said when its worktree was made.
        if entry.event != "step_started" || entry.text.starts_with('↻') {
            cx.io.note(format!("  {}", entry.text)).await;
        }
    }
}

/// A fork on a line of its own; `None`: it has ended.
fn work_line(fork: &Run, now: Timestamp) -> Option<WorkLine> {
    let record = fork.steps.first()?;
    let activity = match &record.status {
        StepStatus::InProgress(Phase::Acting | Phase::Interrupted) => "the agent works",
        StepStatus::InProgress(Phase::Acted) => "its checks run",
        StepStatus::Pending | StepStatus::Failed { .. } => "begins",
        StepStatus::Done | StepStatus::Blocked(_) => return None,
    };
    let (number, name) = (record.step.number, text::one_line(&record.step.name));
    Some(WorkLine {
        label: format!("Step {number}: {name}"),
        elapsed_ms: now.millis_since(record.started_at.unwrap_or(fork.started_at)),
        activity: format!("{activity} · attempt {}", record.attempt_of_limit()),
    })
}

/// The run with what its forks have used, if that passes a bound. No agent works on then.
async fn over_budget(io: &Io, run: &Run) -> Option<Run> {
    let nothing = (UnderWay::Nothing, UnderWay::Nothing);
    let whole = Box::pin(together(io, run, nothing)).await?;
    (!exceeded(&whole).is_empty()).then_some(whole)
}

async fn folders(cx: &RunContext<'_>) -> Vec<String> {
    let mut folders = vec![cx.store.paths().folder().to_owned()];
    let home = cx.store.home();
    for (_, fork) in cx.run().forked_steps() {
        folders.push(Paths::new(home, "", &fork.run).folder().to_owned());
    }
    folders
}

/// Gives a fork up. Its step begins anew when its turn comes.
async fn drop_fork(cx: &mut RunContext<'_>, step: u32, id: &str, reason: &str) -> Result<(), Halt> {
    let used = match opened(cx.io, id).await {
        None => ForkUse::default(),
        Some(fork) => {
            stop_one(cx.io, &fork).await;
            let fork = opened(cx.io, id).await.unwrap_or(fork);
            begin::remove_worktree(cx.io, &fork.run().place).await;
            fork.run().used_as_fork()
        }
    };
    let (reason, used) = (reason.to_owned(), Box::new(used));
    cx.store.apply(Event::ForkDropped { step, reason, used })?;
    let line = cx.run().events.last().map(|entry| entry.text.clone()).unwrap_or_default();
    cx.store.note(line);
    cx.store.commit().await?;
    Ok(())
}

/// Interrupts the drivers of all forks of a run, and waits until they have ended. Returns how many there
/// were.
pub async fn stop(io: &Io, run: &Run) -> usize {
    let mut stopped = 0;
    let ids: Vec<String> = run.forked_steps().map(|(_, fork)| fork.run.clone()).collect();
    let mut forks = Vec::new();
    for id in &ids {
        forks.extend(opened(io, id).await);
    }
    for fork in &forks {
        if let Some(holder) = driver_of(io, fork.paths()).await {
            stopped += usize::from(io.interrupt(holder.process, false).await.is_ok());
        }
    }
    for fork in &forks {
        has_ended(io, fork).await;
    }
    stopped
}

async fn stop_one(io: &Io, fork: &Store) {
    if let Some(holder) = driver_of(io, fork.paths()).await {
        // It may have ended by itself meanwhile.
        let _ = io.interrupt(holder.process, false).await;
        has_ended(io, fork).await;
    }
}

async fn has_ended(io: &Io, fork: &Store) {
    for _ in 0..STOP_LOOKS {
        if driver_of(io, fork.paths()).await.is_none() || io.sleep(STOP_LOOK_MS).await.is_err() {
            return;
        }
    }
}

/// Says which steps go on although this process ends.
pub(crate) async fn tell_rest(io: &Io, run: &Run) {
    if let Some(line) = in_background(io, run).await {
        io.note(line).await;
    }
}

/// Which steps a driver in the background works on, on one line; `None`: there is none.
pub async fn in_background(io: &Io, run: &Run) -> Option<String> {
    let mut at_work = Vec::new();
    for (step, fork) in run.forked_steps() {
        if let Some(fork) = opened(io, &fork.run).await
            && !fork.run().is_over()
            && driver_of(io, fork.paths()).await.is_some()
        {
            at_work.push(step);
        }
    }
    (!at_work.is_empty()).then(|| format!("In the background: {}", step_list(&at_work)))
}
