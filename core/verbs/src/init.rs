//! `onloop init FILE`: begin a record that an agent drives step by step.

use serde_json::json;

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::reviewer_problem;
use onloop_engine::lookup::runs::{Found, find_all, is_of};
use onloop_engine::lookup::workflow::find_workflow;
use onloop_engine::preflight::preflight;
use onloop_engine::run::begin::{create, demand_platform, read_plan};
use onloop_engine::run::checkpoint::{checkpoint_and_commit, checkpoint_start};
use onloop_run::Beginning;
use onloop_run::preflight::{IsolationMode, PreflightFlags, Prepared};
use onloop_syntax::text;
use onloop_workflow::Plan;

/// Arguments of `onloop init`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InitArgs {
    /// Workflow file
    pub file: String,
    /// Name of the way the run is executed
    #[arg(long, value_name = "MODE", default_value = "loop")]
    pub executor_mode: String,
    /// Folder in which agents and checks run [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    pub execution_root: Option<String>,
    /// Top folder of the repository
    #[arg(long, value_name = "FOLDER")]
    pub repo_root: Option<String>,
    /// The file that the workflow was copied from
    #[arg(long, value_name = "FILE")]
    pub source_workflow_path: Option<String>,
    /// The worktree made for the run
    #[arg(long, value_name = "FOLDER")]
    pub worktree_path: Option<String>,
    /// Branch of the work
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Branch that the work starts from
    #[arg(long, value_name = "BRANCH")]
    pub source_branch: Option<String>,
    /// Commit that the work starts from
    #[arg(long, value_name = "COMMIT")]
    pub source_head: Option<String>,
    /// Kind of program that drives the run
    #[arg(long, value_name = "NAME")]
    pub driver: Option<String>,
    /// Agent host in which it runs
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

/// `onloop init`: prints the run id and nothing else.
pub(crate) async fn init(io: &Io, args: &InitArgs) -> Result<Exit, CommandError> {
    let id = begin(io, args).await.map_err(CommandError::step_by_step)?;
    io.result(id + "\n").await;
    Ok(Exit::Done)
}

async fn begin(io: &Io, args: &InitArgs) -> Result<String, CommandError> {
    let plan = read_plan(io, &args.file).await?;
    demand_platform(io, &plan)?;
    let root = match given(&args.execution_root) {
        Some(root) => root,
        None => io.start().cwd.clone(),
    };
    let execution_root = io.canonical(&root).await?;
    // Reviews and diffs need the commit that the work starts from, and `finish` the branch.
    let here = io.git_survey(&execution_root, "").await.ok().and_then(|survey| survey.repository);
    // Before the first commit, the branch that is named at HEAD is not there.
    let here = here.filter(|here| here.head.is_some());
    let (current, head) = here.map_or((None, None), |here| (here.branch, here.head));
    let branch = given(&args.branch).or_else(|| plan.branch.as_ref().map(ToString::to_string));
    let workflow_path = io.canonical(&args.file).await?;
    let prepared = Prepared {
        mode: IsolationMode::None,
        branch: branch.or_else(|| current.clone()),
        repo_root: given(&args.repo_root).or_else(|| Some(execution_root.clone())),
        execution_root,
        source_workflow_path: given(&args.source_workflow_path)
            .unwrap_or_else(|| workflow_path.clone()),
        workflow_path,
        source_branch: given(&args.source_branch).or(current),
        source_head: given(&args.source_head).or(head),
        worktree_path: given(&args.worktree_path),
    };
    let written = write(io, &plan, &prepared, |mut beginning| {
        beginning.place.executor_mode = args.executor_mode.clone();
        beginning.place.driver = given(&args.driver);
        beginning.place.host = given(&args.host);
        beginning
    });
    Box::pin(written).await
}

/// What the tool `begin` of `onloop mcp` is told: no command line has it, because there two commands do
/// the same.
#[derive(Clone, Debug, Default)]
pub struct BeginArgs {
    /// Workflow file; left out: the only one there is.
    pub file: Option<String>,
    /// Where to work, instead of what the file says.
    pub mode: Option<IsolationMode>,
    /// Branch to work on, instead of what the file says.
    pub branch: Option<String>,
}

/// `onloop prepare` and `onloop init` in one: prints where the run works, and its id, as JSON.
pub(crate) async fn begin_driven(io: &Io, args: &BeginArgs) -> Result<Exit, CommandError> {
    let begun = prepare_and_write(io, args).await;
    let (id, prepared) = begun.map_err(CommandError::step_by_step)?;
    let document = json!({
        "run_id": id,
        "execution_root": prepared.execution_root,
        "repo_root": prepared.repo_root.as_ref().unwrap_or(&prepared.execution_root),
        "workflow_path": prepared.workflow_path,
        "source_workflow_path": prepared.source_workflow_path,
        "branch": prepared.branch,
        "source_branch": prepared.source_branch,
        "source_head": prepared.source_head,
        "worktree_path": prepared.worktree_path,
    });
    io.result(format!("{document}\n")).await;
    Ok(Exit::Done)
}

async fn prepare_and_write(io: &Io, args: &BeginArgs) -> Result<(String, Prepared), CommandError> {
    let file = find_workflow(io, args.file.as_deref()).await?;
    let plan = read_plan(io, &file).await?;
    demand_platform(io, &plan)?;
    let flags = PreflightFlags {
        mode: args.mode,
        branch: args.branch.clone(),
        ..PreflightFlags::default()
    };
    let prepared = preflight(io, &plan, &file, &flags).await?;
    let id = write(io, &plan, &prepared, |mut beginning| {
        beginning.place.executor_mode = "loop".to_owned();
        beginning.place.driver = Some("mcp".to_owned());
        beginning
    });
    let id = Box::pin(id).await?;
    Ok((id, prepared))
}

/// Says which runs of the workflow `file` are unfinished: the caller may have overlooked them.
pub(crate) async fn warn_of_unfinished(io: &Io, file: &str) {
    let stores = find_all(io).await.into_iter().filter_map(Found::into_store);
    for store in stores.filter(|store| is_of(store.run(), file) && !store.run().is_over()) {
        let id = &store.run().id;
        io.note(format!(
            "warning: run `{id}` of this workflow is unfinished\n  fix: continue it instead: onloop \
             next --run-id {id}"
        ))
        .await;
    }
}

/// Writes the record of a run that the next caller drives; its id.
async fn write(
    io: &Io,
    plan: &Plan,
    prepared: &Prepared,
    adapt: impl Fn(Beginning) -> Beginning,
) -> Result<String, CommandError> {
    warn_of_unfinished(io, &prepared.source_workflow_path).await;
    if let Some(reviewer) = &plan.review
        && let Some(why) = reviewer_problem(io, reviewer).await
    {
        let warning = format!("warning: the review of this run cannot take place: {why}");
        let fix = "  fix: correct `review` in the workflow file, or install the reviewer";
        io.note(format!("{}\n{fix}", text::wrapped(&warning, 80, 2))).await;
    }
    let mut store = create(io, plan, prepared, None, adapt).await?;
    let kept = checkpoint_and_commit(io, &mut store, async |io, store| {
        Ok(checkpoint_start(io, store).await)
    });
    let kept = kept.await;
    // The next caller drives the record, not this process.
    let _ = io.unlock(&store.paths().driver_lock()).await;
    kept?;
    Ok(store.run().id.clone())
}

/// Agents pass the word `null` for what they do not know.
fn given(value: &Option<String>) -> Option<String> {
    value.clone().filter(|value| !value.is_empty() && value != "null")
}
