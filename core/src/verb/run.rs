//! `onloop run`: check the file, isolate the work, begin a record, conduct the run.

use std::collections::BTreeSet;

use crate::agent::Agent;
use crate::diagnostic::{self, Severity};
use crate::effect::{Exit, FailureKind, Io};
use crate::engine::choose_agent::{AgentArgs, choose_agent};
use crate::engine::conduct::{Conduct, conduct};
use crate::engine::find_workflow::find_workflow;
use crate::engine::preflight::preflight;
use crate::engine::store::{Paths, Store, StoreError, refuse_links};
use crate::engine::verify::Conditions;
use crate::limits;
use crate::preflight::{Mode, OnExisting, PreflightFlags, Prepared};
use crate::run::{Beginning, Place, Platform, Run, unique_id};
use crate::text;
use crate::verb::locate::find_all;
use crate::verb::resume::{ResumeArgs, resume};
use crate::workflow::{self, Plan};

/// Arguments of `onloop run`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RunArgs {
    /// Workflow file [default: the only one in docs/plans, else here]
    pub file: Option<String>,
    /// Who acts and for how long
    #[cfg_attr(feature = "cli", command(flatten))]
    pub conduct: ConductArgs,
    /// Where to work, instead of what the file says
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "MODE"))]
    pub mode: Option<Mode>,
    /// Branch to work on, instead of what the file says
    #[cfg_attr(feature = "cli", arg(long, value_name = "BRANCH"))]
    pub branch: Option<String>,
    /// Approve human gates, except at high risk and for security steps
    #[cfg_attr(feature = "cli", arg(long))]
    pub auto_approve: bool,
    /// Start anew although an unfinished run of this workflow exists
    #[cfg_attr(feature = "cli", arg(long))]
    pub fresh: bool,
    /// Stash uncommitted files that are in the way
    #[cfg_attr(feature = "cli", arg(long))]
    pub stash: bool,
    /// What to do when the branch or worktree already exists
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "CHOICE"))]
    pub on_existing: Option<OnExisting>,
    /// Agent that reviews the work at risky gates and at the end
    #[cfg_attr(feature = "cli", arg(long, value_name = "AGENT"))]
    pub review: Option<String>,
    /// Do not repeat all checks before the run counts as completed
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_reverify: bool,
}

/// Arguments that say how a run is conducted.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ConductArgs {
    /// Who acts
    #[cfg_attr(feature = "cli", command(flatten))]
    pub agent: AgentArgs,
    /// Longest time for one attempt, such as 90s, 20m, 1h30m [default: 2h]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub agent_timeout: Option<String>,
    /// Longest time for one verification command [default: 10m]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub verify_timeout: Option<String>,
    /// Form of the final summary
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "PLATFORM"))]
    pub platform: Option<Platform>,
    /// Print the whole list of steps at each transition
    #[cfg_attr(feature = "cli", arg(long))]
    pub verbose: bool,
    /// Print the final summary as JSON
    #[cfg_attr(feature = "cli", arg(long))]
    pub json: bool,
}

impl ConductArgs {
    /// The options that conduct another run the same way, each after a space, as words of a
    /// shell line. How results are shown is not part of it.
    fn options(&self) -> String {
        let options = [
            ("--agent", &self.agent.agent),
            ("--agent-command", &self.agent.agent_command),
            ("--agent-timeout", &self.agent_timeout),
            ("--verify-timeout", &self.verify_timeout),
        ];
        let given = options.iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        given.map(|(name, value)| format!(" {name} {}", text::shell_word(value))).collect()
    }
}

/// `onloop run`.
pub async fn run(io: &Io, args: &RunArgs) -> Exit {
    match begin(io, args).await {
        Ok(Begun::New(store, how)) => {
            let driver = store.paths().driver_lock();
            let exit = conduct(io, *store, &how).await;
            let _ = io.unlock(&driver).await;
            exit
        }
        Ok(Begun::Continue(id)) => {
            let conduct = args.conduct.clone();
            let args = ResumeArgs { run: Some(id), conduct, ..ResumeArgs::default() };
            resume(io, &args).await
        }
        Err(exit) => exit,
    }
}

enum Begun {
    New(Box<Store>, Conduct),
    Continue(String),
}

async fn begin(io: &Io, args: &RunArgs) -> Result<Begun, Exit> {
    let file = find_workflow(io, args.file.as_deref()).await?;
    let plan = read_plan(io, &file).await?;
    if !args.fresh
        && let Some(id) = unfinished(io, args, &file).await?
    {
        return Ok(Begun::Continue(id));
    }
    let agent = choose_agent(io, &args.conduct.agent, Some(&plan.steps)).await?;
    let (agent_timeout_ms, verify_timeout_ms) = timeouts(io, &args.conduct).await?;
    let flags = PreflightFlags {
        mode: args.mode,
        branch: args.branch.clone(),
        stash: args.stash,
        on_existing: args.on_existing,
    };
    let prepared = preflight(io, &plan, &file, &flags).await?;
    let store = create(io, &plan, &prepared, |beginning| Beginning {
        auto_approve: args.auto_approve,
        reverify: !args.no_reverify,
        review_agent: args.review.clone(),
        ..beginning
    })
    .await?;
    let how = how(io, &store, &args.conduct, agent, agent_timeout_ms, verify_timeout_ms);
    announce(io, &store, &how).await;
    Ok(Begun::New(Box::new(store), how))
}

/// Everything about how to conduct, for a record that is open.
pub(crate) fn how(
    io: &Io,
    store: &Store,
    args: &ConductArgs,
    agent: Agent,
    agent_timeout_ms: u64,
    verify_timeout_ms: u64,
) -> Conduct {
    Conduct {
        agent,
        agent_timeout_ms,
        conditions: Conditions {
            root: store.run().place.execution_root.clone(),
            timeout_ms: verify_timeout_ms,
            browser_checker: io.env("ONLOOP_BROWSER_CHECKER").map(str::to_owned),
        },
        verbose: args.verbose,
        platform: args.platform.unwrap_or(Platform::Codex),
        json: args.json,
        again: args.options(),
    }
}

/// Time limits of agent and verification commands.
pub(crate) async fn timeouts(io: &Io, args: &ConductArgs) -> Result<(u64, u64), Exit> {
    let mut limits = [limits::AGENT_TIMEOUT_MS, limits::VERIFY_TIMEOUT_MS];
    let given =
        [("--agent-timeout", &args.agent_timeout), ("--verify-timeout", &args.verify_timeout)];
    for (limit, (flag, value)) in limits.iter_mut().zip(given) {
        let Some(value) = value else { continue };
        let Some(ms) = workflow::duration::parse_ms(value) else {
            let value = text::one_line(value);
            io.note(format!(
                "error: {flag} is `{value}`, expected a time such as 90s, 20m or 1h30m"
            ))
            .await;
            return Err(Exit::Usage);
        };
        *limit = ms;
    }
    Ok((limits[0], limits[1]))
}

/// Reads and checks the file; errors are shown with their source lines, warnings counted.
pub(crate) async fn read_plan(io: &Io, file: &str) -> Result<Plan, Exit> {
    let bytes = match io.read(file, limits::WORKFLOW_BYTES as u64).await {
        Ok((bytes, _)) => bytes,
        Err(failure) => {
            io.note(format!("error: {failure}")).await;
            return Err(match failure.kind {
                FailureKind::NotFound | FailureKind::TooLarge | FailureKind::Invalid => Exit::Usage,
                _ => Exit::Refused,
            });
        }
    };
    let parsed = workflow::parse(file, &bytes);
    let is_error = |d: &&diagnostic::Diagnostic| d.severity == Severity::Error;
    let errors: Vec<_> = parsed.diagnostics.iter().filter(is_error).cloned().collect();
    let warnings = parsed.diagnostics.len() - errors.len();
    match parsed.plan {
        Some(plan) => {
            if warnings > 0 {
                let count = text::counted(warnings as u64, "warning");
                let word = text::shell_word(file);
                io.note(format!("{count}: see `onloop lint {word}`")).await;
            }
            Ok(plan)
        }
        None => {
            let terminal = io.start().terminal;
            let columns = usize::from(terminal.columns);
            let text = diagnostic::human::render(file, &bytes, &errors, terminal.stderr, columns);
            io.note(text).await;
            let count = text::counted(errors.len() as u64, "error");
            io.note(format!("{count} in {file}; nothing was changed")).await;
            Err(Exit::Usage)
        }
    }
}

/// An unfinished run of the same workflow is never passed over: the person at the terminal
/// chooses, anybody else gets both commands.
async fn unfinished(io: &Io, args: &RunArgs, file: &str) -> Result<Option<String>, Exit> {
    let source = io.canonical(file).await.unwrap_or_else(|_| file.to_owned());
    let found = find_all(io)
        .await
        .into_iter()
        .filter_map(|found| found.store.ok())
        .find(|store| !store.run().is_over() && is_of(store.run(), &source));
    let Some(store) = found else { return Ok(None) };
    let run = store.run();
    let (step, total, id) = (run.current_step(), run.steps.len(), &run.id);
    let terminal = io.start().terminal;
    if terminal.stdin && terminal.stderr {
        let question = format!(
            "Found an interrupted run (step {step}/{total}). Resume from step {step}, or start \
             fresh? (resume/fresh) "
        );
        for _ in 0..5 {
            match io.ask(question.as_str()).await.as_deref().map(str::trim) {
                Ok("resume" | "r" | "y" | "yes") => return Ok(Some(run.id.clone())),
                Ok("fresh" | "f") => return Ok(None),
                Ok(_) => io.note("Please answer resume or fresh.").await,
                Err(failure) if failure.kind == FailureKind::Interrupted => {
                    return Err(Exit::Interrupted);
                }
                Err(_) => break,
            }
        }
    }
    io.note(format!(
        "Found an unfinished run of this workflow: {id} ({}, step {step}/{total}).\n\
         Resume it:\n  onloop resume {id}{}\nOr start anew:\n  onloop run --fresh{}",
        run.status.as_str(),
        args.conduct.options(),
        words_after_the_verb(io)
    ))
    .await;
    Err(Exit::Paused)
}

/// The rest of the command line that started this program, each word after a space.
fn words_after_the_verb(io: &Io) -> String {
    let words = io.start().argv.iter().skip(2);
    words.map(|word| format!(" {}", text::shell_word(word))).collect()
}

/// Whether the run executes the workflow file with this canonical path.
pub(crate) fn is_of(run: &Run, file: &str) -> bool {
    run.place.workflow_path == file || run.place.source_workflow_path.as_deref() == Some(file)
}

/// Writes the record of a run that begins in `prepared`, with what `adapt` makes of its
/// beginning, and holds its driver lock.
pub(crate) async fn create(
    io: &Io,
    plan: &Plan,
    prepared: &Prepared,
    adapt: impl Fn(Beginning) -> Beginning,
) -> Result<Store, Exit> {
    let root = &prepared.execution_root;
    let names = io.list(&Paths::state_folder(root)).await.unwrap_or_default();
    let mut taken: BTreeSet<String> =
        names.iter().filter_map(|name| name.strip_suffix(".json")).map(str::to_owned).collect();
    if let Err(failure) = refuse_links(io, root).await {
        return Err(refuse(io, &StoreError::Failed(failure)).await);
    }
    // Another process may take the id between the look and the write: try the next one.
    for _ in 0..100 {
        let id = unique_id(&plan.slug, io.now(), |id| taken.contains(id));
        let driver = Paths::new(root, &id).driver_lock();
        if let Err(failure) = io.lock(&driver, 0).await {
            if failure.kind == FailureKind::Busy {
                taken.insert(id);
                continue;
            }
            return Err(refuse(io, &StoreError::Failed(failure)).await);
        }
        let run = Run::begin(plan, adapt(beginning(io, prepared, plan, id.clone())));
        match Store::create(io, run).await {
            Ok(mut store) => {
                // Ticks of an earlier run say nothing about this one.
                store.repair_boxes().await;
                return Ok(store);
            }
            Err(StoreError::Failed(failure)) if failure.kind == FailureKind::Exists => {
                let _ = io.unlock(&driver).await;
                taken.insert(id);
            }
            Err(error) => return Err(refuse(io, &error).await),
        }
    }
    io.note("error: a hundred runs of this workflow began in this second").await;
    Err(Exit::Refused)
}

async fn refuse(io: &Io, error: &StoreError) -> Exit {
    io.note(format!("error: the record could not be written: {error}")).await;
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

fn beginning(io: &Io, prepared: &Prepared, plan: &Plan, id: String) -> Beginning {
    Beginning {
        place: Place {
            workflow_path: prepared.workflow_path.clone(),
            source_workflow_path: Some(prepared.source_workflow_path.clone()),
            source_branch: prepared.source_branch.clone(),
            source_head: prepared.source_head.clone(),
            branch: prepared.branch.clone(),
            repo_root: prepared.repo_root.clone(),
            execution_root: prepared.execution_root.clone(),
            worktree_path: prepared.worktree_path.clone(),
            executor_mode: prepared.mode.as_str().to_owned(),
            driver: None,
            host: None,
            slug: plan.slug.clone(),
            report_path: format!(".hotl/reports/{id}.md"),
        },
        id,
        at: io.now(),
        auto_approve: false,
        reverify: true,
        review_agent: None,
    }
}

async fn announce(io: &Io, store: &Store, how: &Conduct) {
    let run = store.run();
    let mut lines = format!("Run {} ({} acts)\n", run.id, text::one_line(how.agent.name()));
    if let Some(branch) = &run.place.branch {
        lines += &format!("  Branch: {branch}\n");
    }
    if run.place.execution_root != io.start().cwd {
        lines += &format!("  Works in: {}\n", run.place.execution_root);
    }
    lines += &format!("  Report: {}\n", store.paths().report());
    io.note(lines).await;
}
