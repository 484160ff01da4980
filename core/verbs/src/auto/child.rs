//! Child agents as processes.

mod listened;
mod provider_wait;

use std::pin::Pin;

use super::noted::NotedRun;
use listened::ChildEnd;
use onloop_agents::{self as agent, Agent, Client};
use onloop_auto::RUNTIME_FOLDER;
use onloop_auto::child::{ChildAnswer, ChildOutcome};
use onloop_auto::prompts;
use onloop_auto::record::Dispatch;
use onloop_effect::{
    Capture, Durability, Expect, Failure, FailureKind, Io, ProcessEnd, ProcessSpec, ProcessStatus,
};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;
use onloop_syntax::text;
use provider_wait::ProviderWait;

/// How children are started.
#[derive(Clone, Debug)]
pub(super) struct ChildCommand {
    pub(super) agent: Agent,
    pub(super) timeout_ms: u64,
    /// Follows a child whose client speaks in events; `None`: everybody is read as text.
    pub(super) listen: Option<Listen>,
}

/// See [`ChildCommand::listen`]. A rehearsal needs no reader of any client, and leaves
/// the code out: it is given, not named.
pub(super) type Listen =
    for<'a> fn(
        &'a Io,
        Client,
        ProcessSpec,
        &'a str,
        &'a NotedRun,
    ) -> Pin<Box<dyn Future<Output = Result<ChildEnd, Failure>> + 'a>>;

/// How runs listen to their children.
pub(super) const LISTEN: Listen = |io, client, spec, log_path, noted| {
    Box::pin(listened::follow(io, client, spec, log_path, noted))
};

/// Tells a child which one it is: `rw-planner` or `rw-loop`.
pub(super) const TARGET_VARIABLE: &str = "ONLOOP_AUTO_TARGET";
/// Tells a child its argument, cut to [`VARIABLE_BYTES`] and with blanks for NUL.
pub(super) const ARGUMENT_VARIABLE: &str = "ONLOOP_AUTO_ARGUMENT";

/// Longest value of an environment variable; systems refuse longer ones. The whole argument
/// is in the prompt.
const VARIABLE_BYTES: usize = 96 * 1024;

impl ChildCommand {
    /// Starts a child and waits for its answer. Prompt and output stay in the run's log
    /// folder.
    pub(super) async fn run(&self, io: &Io, dispatch: &Dispatch, noted: &NotedRun) -> ChildOutcome {
        let run = noted.run();
        let target = dispatch.target.as_str();
        let prompt = prompts::dispatch(dispatch.target, &dispatch.argument);
        let prompt = io.redacted(&prompt);
        let prompt_path = log_path(run, dispatch, "prompt.md");
        keep(io, &prompt_path, "prompt", &prompt).await;
        let log_file = log_path(run, dispatch, "log");
        let variable =
            |value: &str| text::prefix(&value.replace('\0', " "), VARIABLE_BYTES).to_owned();
        let (listened, command) = match &self.agent {
            Agent::Preset(preset, _) => match (self.listen, preset.listened()) {
                (Some(listen), Some((client, command))) => (Some((listen, client)), command),
                (None, _) | (_, None) => (None, preset.command(&prompt)),
            },
            Agent::CommandLine(line) => (None, agent::command_line(line)),
            Agent::Acp(_) | Agent::Script | Agent::You => return ChildOutcome::Unavailable,
        };
        let spec = ProcessSpec::new(command)
            .in_folder(&io.start().cwd)
            .with_env([
                (TARGET_VARIABLE, target.to_owned()),
                (ARGUMENT_VARIABLE, variable(&dispatch.argument)),
                ("ONLOOP_AUTO_CYCLE", dispatch.cycle.to_string()),
                ("ONLOOP_AUTO_RUN", run.to_owned()),
                ("ONLOOP_PROMPT_FILE", absolute(&io.start().cwd, &prompt_path)),
            ])
            .with_stdin(prompt)
            .timeout_ms(self.timeout_ms)
            .capture_bytes(limits::AUTO_ANSWER_BYTES)
            .label(format!("cycle {}: {target}", dispatch.cycle));
        let ended = match listened {
            Some((listen, client)) => {
                let spec = spec.stream_to(log_path(run, dispatch, "jsonl"));
                let start = async || listen(io, client, spec.clone(), &log_file, noted).await;
                served(io, run, start).await
            }
            None => {
                let end = noted.run_child(io, spec.stream_to(&log_file)).await;
                end.map(|end| outcome(&end, &log_file))
            }
        };
        match ended {
            Ok(outcome) => {
                if let ChildOutcome::Answered(text) = &outcome
                    && ChildAnswer::parse(text).is_err()
                {
                    io.note(format!("note: what the child said is in `{log_file}`")).await;
                }
                outcome
            }
            Err(failure) if failure.is_interrupted() => ChildOutcome::Cancelled,
            Err(failure) if failure.is_not_found() || failure.kind == FailureKind::Unsupported => {
                let what = format!("cannot start `{}`", self.agent.name());
                CommandError::from(failure).context(what).report(io).await;
                ChildOutcome::Unavailable
            }
            Err(failure) => ChildOutcome::Failed(failure.message),
        }
    }
}

/// The outcome of a child that is started again until its provider serves it.
async fn served(
    io: &Io,
    run: &str,
    start: impl AsyncFn() -> Result<ChildEnd, Failure>,
) -> Result<ChildOutcome, Failure> {
    let mut wait = ProviderWait::default();
    loop {
        match start().await? {
            ChildEnd::Over(outcome) => return Ok(outcome),
            ChildEnd::Refused { why, until } => {
                if !wait.pass(io, run, &why, until).await? {
                    return Ok(ChildOutcome::Failed(why));
                }
            }
        }
    }
}

/// Where the log of a dispatch with this extension is: `prompt.md`, `result.md`, `log`, or `jsonl` for
/// what its client wrote.
pub(super) fn log_path(run: &str, dispatch: &Dispatch, extension: &str) -> String {
    let Dispatch { cycle, target, .. } = dispatch;
    format!("{RUNTIME_FOLDER}/logs/{run}/{cycle:02}-{}.{extension}", target.as_str())
}

/// Keeps a copy in the logs. The run does not depend on it.
async fn keep(io: &Io, path: &str, what: &str, text: &str) {
    let bytes = text.as_bytes().to_vec();
    if let Err(failure) = io.write(path, bytes, Expect::Any, Durability::Relaxed).await {
        io.note(format!("warning: cannot keep a copy of the {what}: {failure}")).await;
    }
}

fn outcome(end: &ProcessEnd, log_path: &str) -> ChildOutcome {
    broken_off(end.status, log_path).unwrap_or_else(|| ChildOutcome::Answered(answer(&end.stdout)))
}

/// What became of a child whose process did not end with 0.
fn broken_off(status: ProcessStatus, log_path: &str) -> Option<ChildOutcome> {
    let failed = |how: String| {
        ChildOutcome::Failed(format!("the child ended with {how}; its output is in `{log_path}`"))
    };
    Some(match status {
        ProcessStatus::Exited(0) => return None,
        ProcessStatus::Exited(code) => failed(format!("exit code {code}")),
        ProcessStatus::Signalled(signal) => failed(format!("signal {signal}")),
        ProcessStatus::TimedOut => ChildOutcome::TimedOut,
        ProcessStatus::Interrupted => ChildOutcome::Cancelled,
    })
}

/// The whole lines that were kept of an answer. A line that the middle was cut out of could
/// begin anywhere, even with what looks like a token.
fn answer(output: &Capture) -> String {
    let (head, tail) = (&*output.head, &*output.tail);
    if output.omitted_bytes() == 0 {
        return String::from_utf8_lossy(&[head, tail].concat()).into_owned();
    }
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let head_end = head.iter().rposition(is_end).map_or(0, |at| at + 1);
    let tail_start = tail.iter().position(is_end).map_or(tail.len(), |at| at + 1);
    String::from_utf8_lossy(&[&head[..head_end], &tail[tail_start..]].concat()).into_owned()
}

fn absolute(cwd: &str, path: &str) -> String {
    format!("{}/{path}", cwd.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(head: &str, tail: &str, omitted: u64) -> Capture {
        let total_bytes = (head.len() + tail.len()) as u64 + omitted;
        Capture { head: head.into(), tail: tail.into(), total_bytes }
    }

    #[test]
    fn a_cut_answer_keeps_whole_lines_only() {
        assert_eq!(answer(&capture("a\nNEXT_", "COMMAND=done\n", 0)), "a\nNEXT_COMMAND=done\n");
        assert_eq!(answer(&capture("a\nNEXT_", "COMMAND=done\nb", 9)), "a\nb");
        assert_eq!(answer(&capture("a", "NEXT_COMMAND=done", 1)), "");
        assert_eq!(
            answer(&capture("a\n", "xNEXT_COMMAND=done\nNEXT_COMMAND=rw-loop\n", 1)),
            "a\nNEXT_COMMAND=rw-loop\n"
        );
    }
}
