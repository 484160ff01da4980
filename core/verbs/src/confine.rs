//! `onloop confine`: one command that can touch its checkout and little else.

use onloop_agents::confine::refused_line;
use onloop_effect::{
    Exit, Failure, FailureKind, Io, Mechanism, Network, ProcessSpec, ProcessStatus,
};
use onloop_engine::error::CommandError;
use onloop_engine::sandbox::confinement::Confined;
use onloop_engine::sandbox::programs;

/// Arguments of `onloop confine`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConfineArgs {
    /// Network: all, loopback (its own), none, or names with commas
    #[arg(long, value_name = "NETWORK", default_value = "all")]
    pub network: Network,
    /// Only this: bubblewrap, landlock or seatbelt [default: the strongest]
    #[arg(long, value_name = "MECHANISM")]
    pub with: Option<Mechanism>,
    /// The folder whose configuration counts; a hook of a session says it
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub settings: Option<String>,
    /// The command and its arguments, not read by a shell
    #[arg(required = true, last = true, value_name = "COMMAND", num_args = 1..)]
    pub command: Vec<String>,
}

/// `onloop confine`.
pub(crate) async fn confine(io: &Io, args: &ConfineArgs) -> Result<Exit, CommandError> {
    let (cwd, network) = (io.start().cwd.as_str(), args.network.clone());
    let own = programs::outside_of(io, &[cwd]);
    let confined =
        Confined::prepare(&own, cwd, args.settings.as_deref(), network, args.with).await?;
    let spec = ProcessSpec {
        timeout_ms: None,
        interactive: true,
        ..ProcessSpec::argv(args.command.clone()).in_folder(io.start().cwd.clone())
    };
    let ended = io.process(confined.apply(io, spec)).await;
    if ended.as_ref().is_ok_and(|end| end.status != ProcessStatus::Exited(0))
        && let Some(hint) = confined.hint(io, &with_home(&args.command)).await
    {
        io.note(hint).await;
    }
    if let Some(line) = ended.as_ref().ok().and_then(|end| refused_line(&end.refused)) {
        io.note(format!("note: {line}")).await;
    }
    confined.remove(io).await;
    Ok(match ended.map_err(error_of)?.status {
        ProcessStatus::Exited(0) => Exit::Done,
        ProcessStatus::Exited(code) => Exit::Custom(u8::try_from(code).unwrap_or(1)),
        ProcessStatus::Signalled(signal) => {
            Exit::Custom(u8::try_from(signal.saturating_add(128)).unwrap_or(1))
        }
        ProcessStatus::Interrupted => Exit::Interrupted,
        ProcessStatus::TimedOut => Exit::Failed,
    })
}

/// The words of a command. A line of a shell names the home by its variable.
fn with_home(command: &[String]) -> String {
    command.join(" ").replace("${HOME}/", "~/").replace("$HOME/", "~/")
}

fn error_of(failure: Failure) -> CommandError {
    let is_refused = failure.kind == FailureKind::Unsupported;
    let error = CommandError::from(failure);
    if is_refused { error.context("the command cannot be confined") } else { error }
}
