//! Trying the checks of a workflow before a person approves it.

use crate::error::CommandError;
use crate::run::baseline::judged;
use crate::run::checks::private_names;
use crate::sandbox::choice::{Sandbox, SandboxRequest};
use crate::sandbox::network::NetworkRequest;
use onloop_agents::confine::GitFolder;
use onloop_agents::confine::Needs;
use onloop_effect::{Io, Network, ProcessSpec};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::ShellCheck;

pub use crate::run::baseline::Baseline;

/// What came of trying checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// What each of them says, in their order.
    Tried(Vec<Baseline>),
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
    let mut tried = Vec::new();
    for check in checks {
        match try_check(io, folder, &sandbox, check).await {
            Ok(baseline) => tried.push(baseline),
            Err(error) => {
                sandbox.end(io).await;
                return Err(error);
            }
        }
    }
    sandbox.end(io).await;
    Ok(Trial::Tried(tried))
}

async fn try_check(
    io: &Io,
    folder: &str,
    sandbox: &Sandbox,
    check: &ShellCheck,
) -> Result<Baseline, CommandError> {
    let timeout_ms = check.timeout_ms.unwrap_or(limits::VERIFY_TIMEOUT_MS);
    let cwd = check.cwd.as_ref().map_or(folder.to_owned(), |below| format!("{folder}/{below}"));
    let spec = ProcessSpec::shell(check.shell, &check.command)
        .in_folder(cwd)
        .without_env(private_names(io))
        .with_env(check.env.clone())
        .timeout_ms(timeout_ms)
        .label(format!("Trying: {}", text::ellipsis(&check.command, 60)));
    let extent = (NetworkRequest::exactly(Network::None), &Needs::default());
    let (spec, _, confined) =
        sandbox.put_in_force(io, folder, spec, extent, GitFolder::Temporary).await?;
    let ended = io.process(spec).await;
    if let Some(confined) = confined {
        confined.remove(io).await;
    }
    match ended {
        Ok(end) => judged(io, &check.command, timeout_ms, &end),
        Err(failure) if failure.is_interrupted() => Err(CommandError::interrupted()),
        Err(failure) => Ok(Baseline::CannotRun { why: failure.message, output: String::new() }),
    }
}
