//! Trying the checks of a workflow before a person approves it.

use std::collections::BTreeSet;

use crate::error::CommandError;
use crate::run::baseline::judged;
use crate::run::checks::private_names;
use crate::run::unprotected::deciding;
use crate::sandbox::choice::{Sandbox, SandboxRequest};
use crate::sandbox::network::NetworkRequest;
use onloop_agents::confine::GitFolder;
use onloop_agents::confine::Needs;
use onloop_effect::{Io, Network, ProcessSpec};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::{Check, ShellCheck};

pub use crate::run::baseline::Baseline;

/// The tree of no files, which git has in every repository, by both of its digests.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// What came of trying checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// All of them.
    Tried {
        /// What each of them says, in their order.
        said: Vec<Baseline>,
        /// The committed files that they opened and that decide what they check, where that can be
        /// observed.
        opened: BTreeSet<String>,
    },
    /// None of them ran, and why.
    NotTried(String),
}

/// Runs each check once at the top of the checkout `folder`, confined and without network. Where
/// nothing can be confined, nothing runs.
///
/// # Errors
///
/// The person interrupted, or a check cannot be started.
pub async fn try_checks(
    io: &Io,
    folder: &str,
    checks: &[&ShellCheck],
) -> Result<Trial, CommandError> {
    let sandbox = Sandbox::decide(io, folder, SandboxRequest::default()).await?;
    if let Sandbox::Off { why, .. } = &sandbox {
        return Ok(Trial::NotTried(format!("there is no sandbox: {why}")));
    }
    let committed = committed(io, folder).await;
    let (mut said, mut opened) = (Vec::new(), BTreeSet::new());
    for check in checks {
        match try_check(io, folder, &sandbox, check, &committed).await {
            Ok((baseline, of_check)) => {
                said.push(baseline);
                opened.extend(of_check);
            }
            Err(error) => {
                sandbox.end(io).await;
                return Err(error);
            }
        }
    }
    sandbox.end(io).await;
    Ok(Trial::Tried { said, opened })
}

/// The paths of the files in the commit of the checkout `folder`; none where git does not say.
async fn committed(io: &Io, folder: &str) -> Vec<String> {
    let Ok(survey) = io.git_survey(folder, "main").await else { return Vec::new() };
    let Some(head) = survey.repository.and_then(|repository| repository.head) else {
        return Vec::new();
    };
    let nothing = if head.len() == EMPTY_TREE.len() { EMPTY_TREE } else { EMPTY_TREE_SHA256 };
    io.git_changed_paths(folder, nothing, &head).await.unwrap_or_default()
}

async fn try_check(
    io: &Io,
    folder: &str,
    sandbox: &Sandbox,
    check: &ShellCheck,
    committed: &[String],
) -> Result<(Baseline, Vec<String>), CommandError> {
    let mut observe = deciding(&Check::Shell(check.clone()), committed);
    observe.truncate(limits::OBSERVED_FILES);
    let timeout_ms = check.timeout_ms.unwrap_or(limits::VERIFY_TIMEOUT_MS);
    let cwd = check.cwd.as_ref().map_or(folder.to_owned(), |below| format!("{folder}/{below}"));
    let spec = ProcessSpec::shell(check.shell, &check.command)
        .in_folder(cwd)
        .without_env(private_names(io))
        .with_env(check.env.clone())
        .timeout_ms(timeout_ms)
        .observe(observe.iter().map(|path| format!("{folder}/{path}")).collect(), 0)
        .label(format!("Trying: {}", text::ellipsis(&check.command, 60)));
    let extent = (NetworkRequest::exactly(Network::None), &Needs::default());
    let (spec, _, confined) =
        sandbox.put_in_force(io, folder, spec, extent, GitFolder::Temporary).await?;
    let ended = io.process(spec).await;
    if let Some(confined) = confined {
        confined.remove(io).await;
    }
    match ended {
        Ok(end) => {
            let below =
                |path: &String| Some(path.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
            let opened = end.opened.iter().flatten().filter_map(below).collect();
            Ok((judged(io, check, timeout_ms, &end)?, opened))
        }
        Err(failure) if failure.is_interrupted() => Err(CommandError::interrupted()),
        Err(failure) => {
            let cannot = Baseline::CannotRun { why: failure.message, output: String::new() };
            Ok((cannot, Vec::new()))
        }
    }
}
