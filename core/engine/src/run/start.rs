//! A run of a workflow file: check it, isolate the work, begin a record, drive the run.

use std::collections::BTreeSet;

use crate::error::{CommandError, unusable_record};
use crate::lookup::agent::names;
use crate::lookup::agent::{choose_agents, choose_reviewer, demand_present};
use crate::lookup::runs::{Found, find_all, is_of};
use crate::lookup::select::{Fitting, open};
use crate::lookup::workflow::find_workflow;
use crate::preflight::{foresee, preflight};
use crate::run::advice::first_command;
use crate::run::background::{demand_background, start_driver};
use crate::run::baseline::prepare_task;
use crate::run::begin::{create, demand_platform, read_plan};
use crate::run::change::change_by;
use crate::run::decider::decider;
use crate::run::drive::drive_run;
use crate::run::driver_lock::while_driving;
use crate::run::ending::RunEnd;
use crate::run::options::{DriveArgs, RunOptions, remember_options};
use crate::run::resume::{ResumeArgs, resume_run};
use crate::run::simulate::{SimulationRequest, simulate};
use crate::sandbox::choice::SandboxRequest;
use crate::sandbox::network::asks_for_names;
use crate::state::store::{Store, StoreError};
use crate::terminal::ask::is_attended;
use onloop_agents as agent;
use onloop_agents::{Agent, PRESETS, Reviewer};
use onloop_effect::{Exit, Io};
use onloop_run::preflight::{IsolationMode, OnExisting, PreflightFlags};
use onloop_run::{Beginning, DecisionChannel, Event, Next, Question, is_run_id};
use onloop_syntax::text;
use onloop_workflow::{Plan, Task};

/// Arguments of `onloop run`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RunArgs {
    /// Workflow file [default: the only one in docs/plans, else here]
    pub file: Option<String>,
    /// The agent, and for how long it runs
    #[command(flatten)]
    pub drive: DriveArgs,
    /// Where to work, instead of what the file says
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<IsolationMode>,
    /// Branch to work on, instead of what the file says
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Approve human gates, except at high risk and for security steps
    #[arg(long)]
    pub auto_approve: bool,
    /// Start anew although an unfinished run of this workflow exists
    #[arg(long)]
    pub fresh: bool,
    /// Stash uncommitted files that are in the way
    #[arg(long)]
    pub stash: bool,
    /// What to do when the branch or worktree already exists
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub on_existing: Option<OnExisting>,
    /// Agent that reviews the work at risky gates and at the end
    #[arg(
            long,
            value_name = "AGENT",
            value_parser = names::AgentNames(agent::READERS),
            hide_possible_values = true
        )]
    pub review: Option<String>,
    /// Do not repeat all checks before the run counts as completed
    #[arg(long)]
    pub no_reverify: bool,
    /// Id of the run to begin, or to continue where there is one
    #[arg(long, value_name = "ID", conflicts_with = "fresh")]
    pub run_id: Option<String>,
    /// Only if the plan has this digest, which `onloop compile` wrote down
    #[arg(long, value_name = "SHA256")]
    pub plan_digest: Option<String>,
    /// Show what the whole run would do; nothing is started or changed
    #[arg(long)]
    pub simulate: bool,
    /// Where: `fleet` submits the run and returns at once
    #[arg(long, value_enum, value_name = "WHERE")]
    pub on: Option<RunsOn>,
    /// Begin the run, then drive it in the background
    #[arg(long, conflicts_with_all = ["simulate", "on", "json"])]
    pub detach: bool,
    /// For each repository of this list, one a line (with --on fleet)
    #[arg(long, value_name = "FILE", requires = "on")]
    pub repos: Option<String>,
    /// Issue that the agent of each step reads: its number or address
    #[arg(long, value_name = "N|URL", conflicts_with = "on")]
    pub issue: Option<String>,
    /// Open a pull request at the end, follow it, and repair what fails
    #[arg(long, conflicts_with_all = ["on", "simulate"])]
    pub pr: bool,
    /// The issue, once it was read
    #[arg(skip)]
    pub found_issue: Option<FoundIssue>,
    /// How many of them at once
    #[arg(long, value_name = "N", requires = "repos", default_value_t = 4,
            value_parser = clap::value_parser!(u32).range(1..=256))]
    pub parallel: u32,
}

/// An issue that a run is to resolve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundIssue {
    /// Its address.
    pub url: String,
    /// What it says, for prompts; empty where the workflow itself quotes it.
    pub text: String,
}

/// How often failures of a pull request go back to the agent where `--pr` opened it.
const PR_REPAIRS: u32 = 3;

/// Where a run is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RunsOn {
    /// The machines of a fleet
    Fleet,
}

/// Begins a run and drives it, or continues the one that the person chooses.
///
/// # Errors
///
/// The run did not begin, or could not continue.
pub async fn run_workflow(io: &Io, args: &RunArgs) -> Result<RunEnd, CommandError> {
    if args.on == Some(RunsOn::Fleet) {
        // With the fleet's program beside it, the native host does not come here.
        return Err(no_fleet());
    }
    if args.simulate {
        return Ok(RunEnd::of(simulated_events(io, args).await?, None));
    }
    Box::pin(start(io, args, None)).await
}

/// The run of a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskRun<'t> {
    /// The task.
    pub task: &'t Task,
    /// Whether the uncommitted changes of the checkout are part of the run.
    pub includes_changes: bool,
}

/// As [`run_workflow`] with the workflow of a task, whose baseline comes first. The caller has said what
/// becomes of uncommitted changes.
///
/// # Errors
///
/// Those of [`run_workflow`]; or a check of the task cannot run.
pub async fn run_task(io: &Io, args: &RunArgs, task: TaskRun<'_>) -> Result<RunEnd, CommandError> {
    Box::pin(start(io, args, Some(task))).await
}

async fn start(io: &Io, args: &RunArgs, task: Option<TaskRun<'_>>) -> Result<RunEnd, CommandError> {
    // What is large while it waits is on the heap: a server has little stack left for it.
    match Box::pin(begin(io, args, task)).await? {
        Begun::New(mut store, options) => {
            let (driver, id) = (store.paths().driver_lock(), store.run().id.clone());
            let prepared = match task {
                Some(task) => prepare_task(io, &mut store, &options, task).await,
                None => Ok(()),
            };
            if args.detach {
                remember_options(io, store.paths(), &options.words).await;
            }
            let ended = match prepared {
                Ok(()) if args.detach => Ok(Exit::Done),
                Ok(()) => drive_run(io, &mut store, &options).await,
                Err(error) => Err(error),
            };
            options.checks.end(io).await;
            let _ = io.unlock(&driver).await;
            let exit = ended?;
            if args.detach {
                detached(io, &store).await;
            }
            let pull_request_is_due = store.run().pull_request_is_due();
            Ok(RunEnd { exit, id: Some(id), pull_request_is_due })
        }
        Begun::Continue(id) if args.detach => {
            let store = open(io, Some(&id), Fitting::Unfinished).await?;
            detached(io, &store).await;
            Ok(RunEnd::of(Exit::Done, Some(id)))
        }
        Begun::Continue(id) => {
            let (drive, run) = (args.drive.clone(), Some(id).into());
            resume_run(io, &ResumeArgs { run, drive, ..ResumeArgs::default() }).await
        }
    }
}

/// Has a run driven in the background; its id is the result.
async fn detached(io: &Io, store: &Store) {
    start_driver(io, store).await;
    io.result(format!("{}\n", store.run().id)).await;
}

/// Why nothing can be done about a fleet.
pub fn no_fleet() -> CommandError {
    CommandError::refused("the program `onloop-fleet` is neither beside this one nor on PATH")
        .fix_by("install it, in a checkout of onloop", "cargo install --locked --path native/fleet")
}

enum Begun {
    New(Box<Store>, RunOptions),
    Continue(String),
}

async fn begin(io: &Io, args: &RunArgs, task: Option<TaskRun<'_>>) -> Result<Begun, CommandError> {
    let file = find_workflow(io, args.file.as_deref()).await?;
    let plan = read_plan(io, &file).await?;
    demand_platform(io, &plan)?;
    demand_digest(args, &plan, &file)?;
    if let Some(id) = of_that_name(io, args, &file).await? {
        return Ok(Begun::Continue(id));
    }
    // The command that the unfinished run is answered with repeats these values.
    let timeouts = args.drive.timeouts()?;
    let (runs, earlier) = runs_of(io, &file).await;
    let mut open = runs.into_iter().filter(|store| !store.run().is_over());
    if !args.fresh
        && let Some(store) = open.next()
        && let Some(id) = unfinished(io, args, &store).await?
    {
        return Ok(Begun::Continue(id));
    }
    let agents = choose_agents(io, &args.drive.agent, Some(&plan.steps)).await?;
    demand_present(io, &agents).await?;
    if args.detach {
        let drive = args.drive.clone().naming(&agents);
        demand_background(io, &drive)?;
    }
    let wanted = args.review.as_deref().or(plan.review.as_deref());
    let reviewer = choose_reviewer(io, wanted).await?;
    if args.fresh {
        replace_unfinished(io, open.collect()).await?;
    }
    // Before anything is made for the run.
    let names = asks_for_names(plan.network.as_ref(), plan.steps.iter());
    let sandbox = args.drive.sandbox(io, &io.start().cwd, (plan.confine, names)).await?;
    if let Err(error) = args.drive.demand_confined(&agents, &sandbox) {
        sandbox.end(io).await;
        return Err(error);
    }
    let flags = PreflightFlags {
        changes_settled: task.is_some(),
        slug: task.map(|task| task.task.slug()),
        ..args.flags(earlier)
    };
    let store = match make(io, args, (&plan, &file), &reviewer, &flags).await {
        Ok(store) => store,
        Err(error) => {
            sandbox.end(io).await;
            return Err(error);
        }
    };
    let drive = args.drive.clone().naming(&agents);
    let options = drive.applied(io, store.run(), agents, timeouts, sandbox);
    announce(io, &store, &options).await;
    Ok(Begun::New(Box::new(store), options))
}

/// Prepares the place and writes the beginning down.
async fn make(
    io: &Io,
    args: &RunArgs,
    (plan, file): (&Plan, &str),
    reviewer: &Option<Reviewer>,
    flags: &PreflightFlags,
) -> Result<Store, CommandError> {
    let prepared = preflight(io, plan, file, flags).await?;
    let wanted = args.run_id.as_deref();
    create(io, plan, &prepared, wanted, |beginning| args.beginning(beginning, reviewer)).await
}

impl RunArgs {
    fn flags(&self, earlier: BTreeSet<String>) -> PreflightFlags {
        PreflightFlags {
            mode: self.mode,
            branch: self.branch.clone(),
            stash: self.stash,
            on_existing: self.on_existing,
            earlier,
            ..PreflightFlags::default()
        }
    }

    fn beginning(&self, beginning: Beginning, reviewer: &Option<Reviewer>) -> Beginning {
        Beginning {
            auto_approve: self.auto_approve,
            reverify: !self.no_reverify,
            review_agent: reviewer.as_ref().map(|reviewer| reviewer.as_str().to_owned()),
            issue: self.found_issue.as_ref().map(|issue| issue.url.clone()),
            issue_text: self.found_issue.as_ref().map(|i| i.text.clone()).unwrap_or_default(),
            pr_repairs: self.pr.then_some(PR_REPAIRS),
            ..beginning
        }
    }
}

/// Refuses a plan that is another than the one that was compiled.
fn demand_digest(args: &RunArgs, plan: &Plan, file: &str) -> Result<(), CommandError> {
    let Some(expected) = args.plan_digest.as_deref().filter(|digest| *digest != plan.digest) else {
        return Ok(());
    };
    let (expected, found) = (text::one_line(expected), &plan.digest);
    let file_word = text::shell_word(file);
    Err(CommandError::usage(format!(
        "the plan in `{}` has the digest {found}, expected {expected}",
        text::one_line(file)
    ))
    .because("it was changed since it was compiled")
    .fix_by(
        "compile it again, and look at what that changes",
        format!("onloop compile {file_word} --to github --out WORKFLOW.yml"),
    ))
}

/// The run that is named and is there already.
async fn of_that_name(io: &Io, args: &RunArgs, file: &str) -> Result<Option<String>, CommandError> {
    let Some(id) = &args.run_id else { return Ok(None) };
    if !is_run_id(id) {
        return Err(CommandError::usage(format!(
            "`{}` is not an id for a run: expected letters, digits, `.`, `_` and `-`, not \
             beginning with one of the signs",
            text::one_line(id)
        )));
    }
    let store = match Store::open(io, id).await {
        Ok(store) => store,
        Err(StoreError::Missing) => return Ok(None),
        Err(error) => return Err(unusable_record(io, id, error).await),
    };
    let file = io.canonical(file).await.unwrap_or_else(|_| file.to_owned());
    if is_of(store.run(), &file) {
        return Ok(Some(id.clone()));
    }
    let other = text::one_line(&store.run().place.workflow_path);
    let file = text::one_line(&file);
    Err(CommandError::usage(format!("run `{id}` is one of `{other}`, not of `{file}`")))
}

/// The run that would begin, for people or as JSON.
async fn simulated_events(io: &Io, args: &RunArgs) -> Result<Exit, CommandError> {
    let file = find_workflow(io, args.file.as_deref()).await?;
    let plan = read_plan(io, &file).await?;
    demand_platform(io, &plan)?;
    let (runs, earlier) = runs_of(io, &file).await;
    let flags = args.flags(earlier);
    let mut open = runs.into_iter().filter(|store| !store.run().is_over());
    let unfinished = open.next().filter(|_| !args.fresh);
    let chosen = choose_agents(io, &args.drive.agent, Some(&plan.steps)).await;
    let (agents, without_agent) = match chosen {
        Ok(agents) => {
            let missing = demand_present(io, &agents).await.err();
            (agents, missing)
        }
        Err(error) if args.drive.agent.is_named() => return Err(error),
        Err(error) => (vec![Agent::Preset(&PRESETS[0], None)], Some(error)),
    };
    let reviewer = choose_reviewer(io, args.review.as_deref()).await?;
    let timeouts = args.drive.timeouts()?;
    let foreseen = foresee(io, &plan, &file, &flags).await?;
    let wish = SandboxRequest { flag: args.drive.confine, file: plan.confine, names: false };
    let wanted = SimulationRequest {
        confine: wish.when(io, &io.start().cwd).await,
        plan: &plan,
        file: &file,
        agents: &agents,
        reviewer: reviewer.as_ref(),
        timeouts: &timeouts,
        unfinished: unfinished.map(|store| store.run().id.clone()),
        without_agent,
    };
    simulate(io, &wanted, foreseen, args.drive.json, |beginning| {
        args.beginning(beginning, &reviewer)
    })
    .await
}

/// Runs of the workflow, the one that changed last first, and the branches of all runs. Where a new run
/// begins, a person has passed over the unfinished ones.
async fn runs_of(io: &Io, file: &str) -> (Vec<Store>, BTreeSet<String>) {
    let source = io.canonical(file).await.unwrap_or_else(|_| file.to_owned());
    let mut stores: Vec<Store> =
        find_all(io).await.into_iter().filter_map(Found::into_store).collect();
    let branches = stores.iter().filter_map(|store| store.run().place.branch.clone()).collect();
    stores.retain(|store| is_of(store.run(), &source));
    (stores, branches)
}

/// Offers to abandon what a fresh run replaces; without a person it stays, and that is said.
async fn replace_unfinished(io: &Io, open: Vec<Store>) -> Result<(), CommandError> {
    for mut store in open {
        let id = store.run().id.clone();
        let reason = "replaced by a fresh run";
        if !is_attended(io) {
            io.note(format!(
                "Run {id} of this workflow stays unfinished; give it up with:\n  \
                 onloop abandon {id} --reason '{reason}'"
            ))
            .await;
            continue;
        }
        let question = format!("Abandon the unfinished run {id}, which this one replaces?");
        match io.ask_choice(&question, &["yes", "no"]).await.as_deref().map(str::trim) {
            Ok("y" | "yes") => {
                let by = Some(decider(io, DecisionChannel::Terminal));
                let event = Event::RunAbandoned { reason: reason.to_owned() };
                while_driving(io, &mut store, async |store| change_by(io, store, event, by).await)
                    .await?;
            }
            Err(failure) if failure.is_interrupted() => return Err(CommandError::interrupted()),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// An unfinished run of the same workflow is never passed over: the person at the terminal
/// chooses, anybody else gets both commands.
async fn unfinished(
    io: &Io,
    args: &RunArgs,
    store: &Store,
) -> Result<Option<String>, CommandError> {
    let run = store.run();
    let (step, total, id) = (run.current_step(), run.steps.len(), &run.id);
    if is_attended(io) {
        let question = format!(
            "Found an interrupted run (step {step}/{total}).\nResume from step {step}, or start \
             fresh?"
        );
        for _ in 0..5 {
            match io.ask_choice(&question, &["resume", "fresh"]).await.as_deref().map(str::trim) {
                Ok("resume" | "r" | "y" | "yes") => return Ok(Some(run.id.clone())),
                Ok("fresh" | "f") => return Ok(None),
                Ok(_) => io.note("Please answer resume or fresh.").await,
                Err(failure) if failure.is_interrupted() => {
                    return Err(CommandError::interrupted());
                }
                Err(_) => break,
            }
        }
    }
    let place = match run.next() {
        Next::Ask(question) => run.waits_for(&question),
        _ => format!("step {step}/{total}"),
    };
    let what =
        format!("run `{id}` of this workflow is unfinished ({}, {place})", run.status.as_str());
    let resume = format!("onloop resume {id}{}", args.drive.line());
    let (instruction, command) = match run.next() {
        Next::Ask(Question::Gate { .. } | Question::Review { .. }) => first_command(run),
        _ => ("resume it".to_owned(), resume),
    };
    Err(CommandError::paused(what)
        .fix_by(instruction, command)
        .fix_by("or start anew", again_with(io, "--fresh")))
}

/// The command line that started this program, with `flags` in place of what it said of them. Where
/// the verb is no other, `run` is meant.
pub(crate) fn again_with(io: &Io, flags: &str) -> String {
    let argv = &io.start().argv;
    let verb = argv.get(1).map(String::as_str).filter(|verb| ["do", "plan"].contains(verb));
    let mut out = format!("onloop {} {flags}", verb.unwrap_or("run"));
    let mut replaced: Vec<(&str, bool)> = Vec::new();
    for word in flags.split(' ') {
        match replaced.last_mut() {
            Some((_, takes_value)) if !word.starts_with("--") => *takes_value = true,
            _ => replaced.push((word, false)),
        }
    }
    if flags == "--fresh" {
        // It takes the next free name.
        replaced.push(("--on-existing", true));
    }
    let mut words = argv.iter().skip(2);
    while let Some(word) = words.next() {
        let is_meant = |(flag, _): &&(&str, bool)| {
            word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        match replaced.iter().find(is_meant) {
            Some((flag, true)) if word == flag => drop(words.next()),
            Some(_) => {}
            None => out += &format!(" {}", text::shell_word(word)),
        }
    }
    out
}

/// Prints what runs, by which agents, where and in which sandbox.
async fn announce(io: &Io, store: &Store, options: &RunOptions) {
    let (run, place) = (store.run(), &store.run().place);
    let agents = options.agents.iter().map(|agent| text::one_line(agent.name()));
    let agents = agents.collect::<Vec<_>>().join(", else ");
    let steps = text::counted(run.steps.len() as u64, "step");
    let workflow = place.source_workflow_path.as_ref().unwrap_or(&place.workflow_path);
    let workflow = text::one_line(workflow.rsplit('/').next().unwrap_or(workflow));
    let risk = run.settings.risk.as_str();
    let mut lines = format!("Run {}\n  Workflow: {workflow}, {steps}, {risk} risk\n", run.id);
    lines += &format!("  Agent: {agents}\n");
    if let Some(branch) =
        place.branch.as_ref().filter(|_| place.executor_mode != IsolationMode::None.as_str())
    {
        lines += &format!("  Branch: {branch}\n");
    }
    lines += &format!("  Sandbox: {}\n", options.checks.sandbox);
    if place.execution_root != io.start().cwd {
        lines += &format!("  Works in: {}\n", place.execution_root);
    }
    lines += &format!("  Report: {}\n", store.paths().report());
    io.note(lines).await;
}
