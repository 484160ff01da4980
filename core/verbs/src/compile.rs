//! `onloop compile`: a workflow as one of another system.

mod github;
mod jobs;
mod on_label;
mod yaml;

use github::Compilation;
use onloop_effect::{Durability, Exit, Expect, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::workflow::find_workflow;
use onloop_engine::run::begin::read_plan;
use onloop_syntax::text;
use onloop_workflow::{Check, OperatingSystem, Plan};

/// Arguments of `onloop compile`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompileArgs {
    /// Workflow file [default: the only one in docs/plans, else here]
    pub file: Option<String>,
    /// What it is compiled to
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub to: CompileTarget,
    /// Write it to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Agent to run, as in `onloop run`
    #[arg(long, value_name = "NAMES", conflicts_with = "agent_command")]
    pub agent: Option<String>,
    /// Command line of an agent, as in `onloop run`
    #[arg(long, value_name = "LINE")]
    pub agent_command: Option<String>,
    /// A shell line that installs the agent in each job
    #[arg(long, value_name = "LINE")]
    pub install: Option<String>,
    /// A secret of the repository that the agent gets as a variable
    #[arg(long, value_name = "NAME")]
    pub secret: Vec<String>,
    /// A label on an issue starts it: resolve the issue, open a pull request
    #[arg(long, value_name = "LABEL")]
    pub on_label: Option<String>,
    /// The machines of the jobs [default: by `platform:`]
    #[arg(long, value_name = "LABEL")]
    pub runs_on: Option<String>,
}

/// A system that a workflow is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CompileTarget {
    /// A workflow of GitHub Actions
    Github,
}

/// `onloop compile`.
pub(crate) async fn compile(io: &Io, args: &CompileArgs) -> Result<Exit, CommandError> {
    let CompileTarget::Github = args.to;
    if let Some(objection) = objection(args) {
        return Err(CommandError::usage(objection));
    }
    let file = find_workflow(io, args.file.as_deref()).await?;
    let plan = read_plan(io, &file).await?;
    let system = system_of(&plan)?;
    let below = below_top(io, &file).await?;
    let wanted = Compilation {
        plan: &plan,
        file: &below,
        agent: args.agent.as_deref(),
        agent_command: args.agent_command.as_deref(),
        install: args.install.as_deref(),
        secrets: &args.secret,
        system,
        runs_on: args.runs_on.as_deref().unwrap_or(match system {
            OperatingSystem::Linux => "ubuntu-latest",
            OperatingSystem::Macos => "macos-latest",
            OperatingSystem::Windows => "windows-latest",
        }),
        on_label: args.on_label.as_deref(),
    };
    let document = github::workflow(&wanted);
    match &args.out {
        None => io.result(document).await,
        Some(out) => {
            let bytes = document.into_bytes();
            io.write(out, bytes, Expect::Any, Durability::Durable).await?;
        }
    }
    io.note(github::advice(&wanted, args.out.as_deref())).await;
    Ok(Exit::Done)
}

/// The operating system that the jobs need: that of the checks, which run in every job.
fn system_of(plan: &Plan) -> Result<OperatingSystem, CommandError> {
    let checks = plan.steps.iter().flat_map(|step| &step.checks);
    let mut systems: Vec<OperatingSystem> = checks
        .filter_map(|check| match check {
            Check::Shell(shell) => shell.platform,
            Check::Browser { .. } | Check::HumanReview { .. } | Check::Artifact { .. } => None,
        })
        .collect();
    systems.sort_unstable_by_key(|system| system.as_str());
    systems.dedup();
    match systems.as_slice() {
        [] => Ok(OperatingSystem::Linux),
        [system] => Ok(*system),
        several => {
            let names: Vec<&str> = several.iter().map(|system| system.as_str()).collect();
            Err(CommandError::usage(format!("checks are written for {}", names.join(" and ")))
                .because("a run stays on one operating system")
                .fix("write all checks for one `platform:`"))
        }
    }
}

/// What cannot be written into a workflow.
fn objection(args: &CompileArgs) -> Option<String> {
    let lines = [
        ("--agent", &args.agent),
        ("--agent-command", &args.agent_command),
        ("--install", &args.install),
    ];
    for (name, line) in lines {
        if line.as_ref().is_some_and(|line| !is_plain(line)) {
            return Some(format!("{name} is not one line of printable text"));
        }
    }
    if let Some(objection) = args.on_label.as_deref().and_then(on_label::objection) {
        return Some(objection.to_owned());
    }
    if args.runs_on.as_ref().is_some_and(|label| label.is_empty() || !is_plain(label)) {
        return Some("--runs-on is not one line of printable text".to_owned());
    }
    let is_name = |name: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.chars().all(plain) && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    let other = args.secret.iter().find(|name| !is_name(name))?;
    Some(format!(
        "--secret is `{}`, expected the name of a secret: letters, digits and `_`, not beginning \
         with a digit",
        text::one_line(other)
    ))
}

/// Whether `line` stays what it is in a document of lines.
fn is_plain(line: &str) -> bool {
    text::one_line(line) == line
}

/// The path of the workflow file from the top of its repository.
async fn below_top(io: &Io, file: &str) -> Result<String, CommandError> {
    let path = io.canonical(file).await.unwrap_or_else(|_| file.to_owned());
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let survey = io.git_survey(if folder.is_empty() { "/" } else { folder }, "").await;
    let root = survey.ok().and_then(|survey| survey.repository).map(|found| found.root);
    let below = root.and_then(|root| path.strip_prefix(&format!("{root}/")).map(str::to_owned));
    match below {
        Some(below) if is_plain(&below) => Ok(below),
        Some(_) => {
            let what = "the path of the workflow file is not printable text on one line";
            Err(CommandError::usage(what).fix("give it another name"))
        }
        None => {
            let what =
                format!("`{}` is not in a checkout of a git repository", text::one_line(file));
            Err(CommandError::usage(what).because("jobs find the file by its path there"))
        }
    }
}
