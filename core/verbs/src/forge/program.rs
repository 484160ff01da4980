//! Running the program of a server.

use super::{Answer, Call, Forge, ForgeError, no_answer};
use onloop_effect::{Io, ProcessSpec, ProcessStatus};
use onloop_engine::error::CommandError;
use onloop_engine::run::checks::private_names;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Longest answer that is read.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

impl Forge {
    /// Asks one question. Returns what the program printed.
    ///
    /// # Errors
    ///
    /// The program failed or cannot be started, or a person interrupted it.
    pub(super) async fn ask(self, io: &Io, folder: &str, call: Call) -> Answer<String> {
        self.ask_within(io, folder, call, limits::VERIFY_TIMEOUT_MS).await
    }

    /// As [`Forge::ask`], for at most `timeout_ms`.
    pub(super) async fn ask_within(
        self,
        io: &Io,
        folder: &str,
        call: Call,
        timeout_ms: u64,
    ) -> Answer<String> {
        let program = self.program();
        let words = std::iter::once(program.to_owned()).chain(call.args);
        let spec = ProcessSpec::argv(words)
            .in_folder(folder)
            .without_env(private_names(io))
            .with_env([("GH_PROMPT_DISABLED", "1"), ("NO_PROMPT", "1")])
            .with_stdin(call.input)
            .timeout_ms(timeout_ms)
            .capture_bytes(ANSWER_BYTES)
            .label(program);
        let end = match io.process(spec).await {
            Ok(end) => end,
            Err(failure) if failure.is_not_found() => {
                return no_answer(format!("the program `{program}` is not installed"));
            }
            Err(failure) => return Err(ForgeError::Failed(failure.into())),
        };
        let said = match end.status {
            ProcessStatus::Exited(0) => return Ok(end.stdout.text()),
            ProcessStatus::Interrupted => {
                return Err(ForgeError::Failed(CommandError::interrupted()));
            }
            ProcessStatus::Exited(code) => format!("exit code {code}"),
            ProcessStatus::TimedOut => {
                format!("it took {}", text::span(timeout_ms))
            }
            ProcessStatus::Signalled(signal) => format!("it was killed by signal {signal}"),
        };
        let output = [end.stderr.text(), end.stdout.text()].join("\n");
        match output.trim() {
            "" => no_answer(said),
            output => no_answer(text::ellipsis(output, 2000)),
        }
    }
}
