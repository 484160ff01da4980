//! `onloop do`: one task without a workflow file.

use crate::completion::complete;
use crate::issue::Issue;
use crate::pull_request::demand_forge;
use onloop_effect::{Durability, Exit, Expect, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::{choose_agents, demand_present};
use onloop_engine::lookup::project::{find_tests, repository_root};
use onloop_engine::run::options::DriveArgs;
use onloop_engine::run::start::{FoundIssue, RunArgs, TaskRun, run_task};
use onloop_engine::state::store::prepare_folder;
use onloop_engine::terminal::ask::is_attended;
use onloop_run::preflight::foreign_paths;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::Task;

/// Arguments of `onloop do`.
#[derive(Clone, Debug, clap::Args)]
pub struct DoArgs {
    /// What is to be done, in a sentence [default: the title of --issue]
    #[arg(required_unless_present = "issue")]
    pub intent: Option<String>,
    /// Issue to resolve: its number or address, read with `gh` or `glab`
    #[arg(long, value_name = "N|URL")]
    pub issue: Option<String>,
    /// Command that has to pass, repeatable [default: the tests]
    #[arg(long, value_name = "COMMAND")]
    pub verify: Vec<String>,
    /// Open a pull request at the end, follow it, and repair what fails
    #[arg(long)]
    pub pr: bool,
    /// How often the agent may try
    #[arg(long, value_name = "N", default_value_t = 5,
            value_parser = clap::value_parser!(u32).range(1..=100))]
    pub attempts: u32,
    /// End at a gate, where a person approves the work
    #[arg(long)]
    pub gate: bool,
    /// Start anew although an unfinished run of this task exists
    #[arg(long)]
    pub fresh: bool,
    /// Uncommitted changes [default: ask, else ignore]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub dirty: Option<Dirty>,
    /// Begin the run, then drive it in the background
    #[arg(long)]
    pub detach: bool,
    /// The agent, and for how long it runs
    #[command(flatten)]
    pub drive: DriveArgs,
}

/// What to do about uncommitted changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Dirty {
    /// Make them part of the run; they also stay in the checkout
    Include,
    /// Work from the commit; the changes are not part of the run
    Ignore,
    /// Change nothing
    Stop,
}

/// `onloop do`: finds the check and its baseline, and runs the task until the check passes.
///
/// # Errors
///
/// There is no check, it cannot run, or the run cannot begin.
pub(crate) async fn do_task(io: &Io, args: &DoArgs) -> Result<Exit, CommandError> {
    let given = args.intent.as_deref().map(text::one_line);
    if given.as_ref().is_some_and(|intent| intent.trim().is_empty()) {
        return Err(CommandError::usage("the task is empty")
            .fix_by("say what is to be done", "onloop do 'Fix the failing test'"));
    }
    // Before anything is made.
    let agents = choose_agents(io, &args.drive.agent, None).await?;
    demand_present(io, &agents).await?;
    let issue = match &args.issue {
        Some(word) => Some(Issue::read(io, word).await?),
        None => None,
    };
    let intent = given.or(issue.as_ref().map(Issue::intent)).unwrap_or_default();
    if let Some(issue) = &issue {
        io.note(format!("Issue: {}", text::one_line(issue.url()))).await;
    }
    if args.pr {
        demand_forge(io).await?;
    }
    let mut task = Task {
        intent: intent.trim().to_owned(),
        material: issue.as_ref().map(Issue::material).unwrap_or_default(),
        attempts: args.attempts,
        gate: args.gate,
        ..Task::default()
    };
    find_checks(io, args, &mut task).await?;
    let cwd = io.start().cwd.clone();
    let cwd = io.canonical(&cwd).await.unwrap_or(cwd);
    let repository = repository_root(io, &cwd).await;
    let root = repository.clone().unwrap_or(cwd);
    task.worktree = repository.is_some();
    let includes_changes = task.worktree && settle_changes(io, &root, args.dirty).await?;
    let file = store_workflow(io, &root, &task.slug(), task.workflow().into_bytes()).await?;
    let found_issue = issue.map(|issue| FoundIssue {
        url: issue.url().to_owned(),
        // The task quotes it.
        text: String::new(),
    });
    let run = RunArgs {
        file: Some(file),
        pr: args.pr,
        found_issue,
        drive: args.drive.clone(),
        fresh: args.fresh,
        detach: args.detach,
        ..RunArgs::default()
    };
    let task_run = TaskRun { task: &task, includes_changes };
    let end = run_task(io, &run, task_run).await?;
    match args.detach {
        true => Ok(end.exit),
        false => complete(io, end, &args.drive).await,
    }
}

/// The checks that were named, else the tests of the project.
async fn find_checks(io: &Io, args: &DoArgs, task: &mut Task) -> Result<(), CommandError> {
    let tests = find_tests(io).await;
    if let Some((line, file)) = tests.as_ref().and_then(|tests| tests.setup.as_ref()) {
        io.note(format!("Setup: {line} (from {file})")).await;
        task.setup = vec![line.clone()];
    }
    if !args.verify.is_empty() {
        task.checks = args.verify.iter().map(|line| text::one_line(line)).collect();
        if task.checks.iter().any(|line| line.trim().is_empty()) {
            return Err(CommandError::usage("--verify is empty, and would prove nothing"));
        }
        return Ok(());
    }
    let Some(tests) = tests else {
        let intent = text::shell_word(&task.intent);
        return Err(CommandError::usage("no test command was found in this project")
            .because("no file that names tests is here or at the top of the repository")
            .fix_by(
                "name the command that shows that the task is done",
                format!("onloop do {intent} --verify COMMAND"),
            ));
    };
    io.note(format!("Check: {} (from {})", tests.command, text::one_line(&tests.file))).await;
    task.checks = vec![tests.command];
    Ok(())
}

/// Says what becomes of uncommitted changes, or asks. Returns whether they are part of the run.
async fn settle_changes(io: &Io, root: &str, dirty: Option<Dirty>) -> Result<bool, CommandError> {
    let survey = io.git_survey(root, "main").await?;
    let Some(repository) = survey.repository.filter(|repository| repository.head.is_some()) else {
        return Ok(false);
    };
    let changed = foreign_paths(&repository.dirty, "");
    if changed.is_empty() {
        return Ok(false);
    }
    let files = text::counted(changed.len() as u64, "uncommitted file");
    let stopped =
        || CommandError::refused(format!("{files} in this checkout; nothing was started"));
    let dirty = match dirty {
        Some(dirty) => dirty,
        None if is_attended(io) => {
            let question = format!("{files}: include in the run, ignore, or stop?");
            let choices = ["include", "ignore", "stop"];
            match io.ask_choice(&question, &choices).await.as_deref().map(str::trim) {
                Ok("i" | "include") => Dirty::Include,
                Ok("ignore") => Dirty::Ignore,
                Err(failure) if failure.is_interrupted() => return Err(CommandError::interrupted()),
                Ok(_) | Err(_) => return Err(stopped()),
            }
        }
        None => {
            io.note(format!(
                "warning: {files} will not be part of the run (--dirty include|ignore|stop)"
            ))
            .await;
            Dirty::Ignore
        }
    };
    match dirty {
        Dirty::Include => {
            io.note(format!(
                "note: {files} included in the run; they also stay here, so stash them before a merge"
            ))
            .await;
            Ok(true)
        }
        Dirty::Ignore => Ok(false),
        Dirty::Stop => Err(stopped()
            .listing(changed.iter().take(limits::DIRTY_FILES_LISTED).map(|p| (*p).to_owned()))
            .fix("commit them, or use --dirty include or ignore")),
    }
}

/// Writes a generated workflow below `.hotl`, which git ignores, and returns its path. The same content
/// has the same file; another one with the same name gets a number.
pub(crate) async fn store_workflow(
    io: &Io,
    root: &str,
    slug: &str,
    bytes: Vec<u8>,
) -> Result<String, CommandError> {
    prepare_folder(io, root).await?;
    for number in 1..=limits::TASKS_OF_ONE_NAME {
        let name = if number == 1 { slug.to_owned() } else { format!("{slug}-{number}") };
        let path = format!("{root}/.hotl/workflows/hotl-workflow-{name}.md");
        let written = io.write(&path, bytes.clone(), Expect::Absent, Durability::Durable).await;
        match written {
            Ok(_) => return Ok(path),
            Err(failure) if failure.is_exists() => {
                let (present, _) = io.read(&path, limits::WORKFLOW_BYTES as u64).await?;
                if present == bytes {
                    return Ok(path);
                }
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Err(CommandError::refused(format!("too many tasks are called `{slug}`"))
        .fix(format!("remove old files from {root}/.hotl/workflows")))
}
