//! `onloop resume`: continue a run that was interrupted, paused or blocked, verify first.

use super::choose_agent::choose_agent;
use super::conduct::conduct;
use super::locate::{find_all, root_of};
use super::run::{ConductArgs, how, is_of, timeouts};
use super::store::{Store, StoreError};
use super::{Exit, FailureKind, Io};
use crate::run::{Event, Next, RunStatus, StepStatus, is_run_id};
use crate::text;

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
    /// What to do with a step that was interrupted and that no check can judge
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "CHOICE"))]
    pub interrupted: Option<Interrupted>,
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

async fn prepare(io: &Io, args: &ResumeArgs) -> Result<(Store, super::conduct::Conduct), Exit> {
    let (root, id) = select(io, args.run.as_deref()).await?;
    let mut store = open(io, &root, &id).await?;
    if store.run().is_over() {
        io.note(format!("Run {id} is {}; there is nothing to resume", store.run().status.word()))
            .await;
        return Err(Exit::Usage);
    }
    let remaining: Vec<_> = store
        .run()
        .steps
        .iter()
        .filter(|record| record.status != StepStatus::Done)
        .map(|record| record.step.clone())
        .collect();
    let steps = (!remaining.is_empty()).then_some(remaining.as_slice());
    let (agent_timeout_ms, verify_timeout_ms) = timeouts(io, &args.conduct).await?;
    let agent = match steps {
        Some(steps) => choose_agent(io, &args.conduct.agent, Some(steps)).await?,
        // Only gates and checks are left: nobody has to act.
        None => crate::agent::Agent::Script,
    };
    drive_alone(io, &store).await?;
    if args.accept_review && store.run().reviews.standing.is_some() {
        apply(io, &mut store, Event::VerdictAccepted).await?;
    }
    apply(io, &mut store, Event::RunResumed).await?;
    if let (Some(choice), Next::AskInterrupted { step }) = (args.interrupted, store.run().next()) {
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

async fn apply(io: &Io, store: &mut Store, event: Event) -> Result<(), Exit> {
    if let Err(refusal) = store.apply(event) {
        io.note(format!("error: {refusal}")).await;
        return Err(Exit::Refused);
    }
    Ok(())
}

/// Becomes the only process that drives the run.
pub(super) async fn drive_alone(io: &Io, store: &Store) -> Result<(), Exit> {
    let Err(failure) = io.lock(&store.paths().driver_lock(), 0).await else { return Ok(()) };
    let id = &store.run().id;
    if failure.kind == FailureKind::Busy {
        io.note(format!(
            "error: another onloop works on run {id}: {failure}\n  Wait for it, or end it, then \
             try again."
        ))
        .await;
    } else {
        io.note(format!("error: run {id}: {failure}")).await;
    }
    Err(Exit::Refused)
}

/// Opens a record; failures are said.
pub(super) async fn open(io: &Io, root: &str, id: &str) -> Result<Store, Exit> {
    match Store::open(io, root, id).await {
        Ok(store) => Ok(store),
        Err(error) => Err(refuse(io, id, &error).await),
    }
}

async fn refuse(io: &Io, id: &str, error: &StoreError) -> Exit {
    io.note(format!("error: run {id}: {error}")).await;
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
pub(super) async fn select(io: &Io, wanted: Option<&str>) -> Result<(String, String), Exit> {
    let wanted = wanted.or_else(|| io.env("ONLOOP_RUN_ID")).or_else(|| io.env("HOTL_RUN_ID"));
    if let Some(id) = wanted.filter(|wanted| is_run_id(wanted))
        && let Some(root) = root_of(io, id).await
    {
        return Ok((root, id.to_owned()));
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
        match found.run {
            Ok(run) if !run.is_over() && file.as_deref().is_none_or(|file| is_of(&run, file)) => {
                candidates.push((found.root, run));
            }
            Ok(_) => {}
            // A record that cannot be read may be the one that is meant.
            Err(error) => io.note(format!("warning: run {}: {error}", found.id)).await,
        }
    }
    match candidates.as_slice() {
        [(root, run)] => Ok((root.clone(), run.id.clone())),
        [] => {
            io.note("ERROR: No active HOTL run found in .hotl/state/").await;
            Err(Exit::Refused)
        }
        several => {
            let mut text = String::from(
                "ERROR: Multiple HOTL runs found in .hotl/state/. Select one with --run-id \
                 <run-id> or HOTL_RUN_ID.\n",
            );
            for (_, run) in several {
                let status: &RunStatus = &run.status;
                text += &format!(
                    "  - {} [{}] workflow={}\n",
                    run.id,
                    status.word(),
                    run.place.workflow_path
                );
            }
            io.note(text).await;
            Err(Exit::Refused)
        }
    }
}
