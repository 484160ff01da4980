//! The program `gh`, which asks GitHub.

use onloop_effect::{Io, ProcessSpec, ProcessStatus};
use onloop_engine::error::CommandError;
use onloop_engine::run::checks::private_names;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Longest answer of `gh` that is read.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Runs `gh` in `folder` with `input`. Returns what it printed; otherwise why it failed.
///
/// # Errors
///
/// It cannot be started, or a person interrupted it.
pub(crate) async fn gh(
    io: &Io,
    folder: &str,
    args: &[&str],
    input: String,
) -> Result<Result<String, String>, CommandError> {
    let spec = ProcessSpec::argv(std::iter::once("gh").chain(args.iter().copied()))
        .in_folder(folder)
        .without_env(private_names(io))
        .with_env([("GH_PROMPT_DISABLED", "1")])
        .with_stdin(input)
        .capture_bytes(ANSWER_BYTES)
        .label("gh");
    let end = match io.process(spec).await {
        Ok(end) => end,
        Err(failure) if failure.is_not_found() => {
            return Ok(Err("the program `gh` is not installed".to_owned()));
        }
        Err(failure) => return Err(failure.into()),
    };
    let said = match end.status {
        ProcessStatus::Exited(0) => return Ok(Ok(end.stdout.text())),
        ProcessStatus::Interrupted => return Err(CommandError::interrupted()),
        ProcessStatus::Exited(code) => format!("exit code {code}"),
        ProcessStatus::TimedOut => format!("it took {}", text::span(limits::VERIFY_TIMEOUT_MS)),
        ProcessStatus::Signalled(signal) => format!("it was killed by signal {signal}"),
    };
    let output = [end.stderr.text(), end.stdout.text()].join("\n");
    match output.trim() {
        "" => Ok(Err(said)),
        output => Ok(Err(text::ellipsis(output, 2000))),
    }
}
