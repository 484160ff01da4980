//! The baseline: what a check says before any agent works.

use crate::error::CommandError;
use crate::run::options::DriveArgs;
use onloop_agents::confine::Needs;
use onloop_effect::{Io, Network, ProcessSpec, ProcessStatus, Shell};
use onloop_syntax::limits;
use onloop_syntax::text;

/// What a check says before the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// It passes already, so it cannot show that the work was done.
    Passes,
    /// It fails, with the last lines of its output.
    Fails {
        /// How it ended.
        how: String,
        /// The end of its output.
        output: String,
    },
    /// It could not be run.
    CannotRun {
        /// The end of its output.
        output: String,
    },
}

/// Runs the shell line `command` once in `folder`, confined as a run there would be.
///
/// # Errors
///
/// Nothing can be run there, or the person interrupted.
pub async fn try_check(
    io: &Io,
    folder: &str,
    command: &str,
    drive: &DriveArgs,
) -> Result<Baseline, CommandError> {
    let timeout_ms = drive.timeouts()?.verify_ms;
    let sandbox = drive.sandbox(io, folder, false).await?;
    let spec = ProcessSpec::shell(Shell::Bash, command)
        .in_folder(folder)
        .timeout_ms(timeout_ms)
        .label(format!("Baseline: {}", text::ellipsis(&text::one_line(command), 60)));
    let extent = (Network::All, &Needs::default());
    let ended = match sandbox.put_in_force(io, folder, spec, extent).await {
        Ok((spec, _, confined)) => {
            let ended = io.process(spec).await;
            if let Some(confined) = confined {
                confined.remove(io).await;
            }
            ended
        }
        Err(failure) => Err(failure),
    };
    sandbox.end(io).await;
    let end = ended?;
    let output = format!("{}\n{}", end.stdout.text(), end.stderr.text());
    let output = io.redacted(&text::printable(output.trim()));
    let output = text::quoted_end(&output, limits::FAILURE_LINES, "above these");
    let how = match end.status {
        ProcessStatus::Exited(0) => return Ok(Baseline::Passes),
        ProcessStatus::Exited(126 | 127) => return Ok(Baseline::CannotRun { output }),
        ProcessStatus::Interrupted => return Err(CommandError::interrupted()),
        ProcessStatus::Exited(code) => format!("exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("killed by signal {signal}"),
        ProcessStatus::TimedOut => format!("timed out after {}", text::span(timeout_ms)),
    };
    Ok(Baseline::Fails { how, output })
}
