//! `onloop demo`: an example in a throw-away project.

use onloop_effect::{Durability, Exit, Expect, Io, ProcessSpec};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::AgentArgs;
use onloop_engine::run::options::DriveArgs;
use onloop_engine::run::start::{RunArgs, run_workflow};
use onloop_syntax::text;

/// Arguments of `onloop demo`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DemoArgs {
    /// The example
    #[arg(value_enum, default_value_t)]
    pub name: Example,
}

/// The examples that are built in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Example {
    /// A script fixes broken links; its first attempts fail
    #[default]
    Links,
    /// A release that waits for a person
    Release,
    /// A page that stays too large, and a run that says why
    Budget,
    /// A site that is built page by page
    Site,
}

/// A file of an example; whether it is a program.
type ExampleFile = (&'static str, &'static str, bool);

macro_rules! files {
    ($folder:literal: $($name:literal $is_program:literal),*) => {
        &[$(($name, include_str!(concat!("../../../docs/examples/", $folder, "/", $name)), $is_program)),*]
    };
}

impl Example {
    /// Its name, workflow file and files.
    fn parts(self) -> (&'static str, &'static str, &'static [ExampleFile]) {
        match self {
            Example::Links => (
                "links",
                "hotl-workflow-fix-links.md",
                files!("links": "hotl-workflow-fix-links.md" false, "check-links.sh" true,
                    "moved.txt" false, "docs/index.md" false, "docs/guide/install.md" false,
                    "docs/guide/questions.md" false, "docs/reference/interface.md" false),
            ),
            Example::Release => (
                "release",
                "hotl-workflow-release.md",
                files!("release": "hotl-workflow-release.md" false, "CHANGELOG.md" false,
                    "VERSION" false, "teapot" true),
            ),
            Example::Budget => (
                "budget",
                "hotl-workflow-shrink-page.md",
                files!("budget": "hotl-workflow-shrink-page.md" false, "page.html" false),
            ),
            Example::Site => (
                "site",
                "hotl-workflow-build-site.md",
                files!("site": "hotl-workflow-build-site.md" false, "build-site.sh" true,
                    "pages/index.txt" false, "pages/brewing.txt" false),
            ),
        }
    }
}

/// `onloop demo`: makes a project in a temporary folder and runs its workflow with the agent
/// `script`. Exits as the run does.
///
/// # Errors
///
/// The project cannot be made, or the run cannot begin.
pub(crate) async fn demo(io: &Io, args: &DemoArgs) -> Result<Exit, CommandError> {
    let (name, workflow, files) = args.name.parts();
    let folder = temporary_folder(io).await?;
    let project = format!("{folder}/{name}");
    make(io, &project, files).await?;
    io.note(format!("$ cd {project}\n$ onloop run {workflow}")).await;
    let inside = io.in_folder(&project);
    let agent = AgentArgs { agent: Some("script".to_owned()), ..AgentArgs::default() };
    let run = RunArgs {
        file: Some(workflow.to_owned()),
        drive: DriveArgs { agent, ..DriveArgs::default() },
        ..RunArgs::default()
    };
    let exit = run_workflow(&inside, &run).await?.exit;
    let folder = text::shell_word(&folder);
    io.note(format!(
        "\nNext:\n  cd {folder}/{name} && onloop diff    see what the run changed\n  \
         onloop web --open    see all runs in a browser\n  \
         onloop do 'Fix the failing test'    one task in a project of yours\n\n\
         Everything is in {folder}. Remove it when you are done."
    ))
    .await;
    Ok(exit)
}

/// A new folder that only its owner can use.
async fn temporary_folder(io: &Io) -> Result<String, CommandError> {
    let parent = io.env("TMPDIR").unwrap_or("/tmp").trim_end_matches('/');
    let template = format!("{parent}/onloop-demo.XXXXXX");
    let end = io.process(ProcessSpec::argv(["mktemp", "-d", &template])).await?;
    let failed = CommandError::refused(format!("no folder can be made in `{parent}`"));
    CommandError::unless_done(&end, failed)?;
    Ok(end.stdout.text().trim().to_owned())
}

/// Writes the files of an example and commits them in a new repository.
async fn make(io: &Io, project: &str, files: &[ExampleFile]) -> Result<(), CommandError> {
    for (name, content, _) in files {
        let path = format!("{project}/{name}");
        io.write(&path, content.as_bytes().to_vec(), Expect::Absent, Durability::Relaxed).await?;
    }
    let programs: Vec<&str> = files.iter().filter(|(.., is)| *is).map(|(name, ..)| *name).collect();
    if !programs.is_empty() {
        perform(io, project, [&["chmod", "+x"], &programs[..]].concat()).await?;
    }
    perform(io, project, vec!["git", "init", "--quiet"]).await?;
    perform(io, project, vec!["git", "symbolic-ref", "HEAD", "refs/heads/main"]).await?;
    // For this repository only, so that the demo needs no settings of the person.
    for (key, value) in [
        ("user.name", "onloop demo"),
        ("user.email", "demo@example.org"),
        ("commit.gpgSign", "false"),
        ("tag.gpgSign", "false"),
    ] {
        perform(io, project, vec!["git", "config", key, value]).await?;
    }
    perform(io, project, vec!["git", "add", "--all"]).await?;
    perform(io, project, vec!["git", "commit", "--quiet", "--message", "Begin"]).await
}

async fn perform(io: &Io, folder: &str, words: Vec<&str>) -> Result<(), CommandError> {
    let line = words.join(" ");
    let end = io.process(ProcessSpec::argv(words).in_folder(folder)).await?;
    let failed = CommandError::refused(format!("`{line}` failed in `{folder}`"));
    CommandError::unless_done(&end, failed)
}
