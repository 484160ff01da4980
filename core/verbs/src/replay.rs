//! `onloop replay`: a recorded program once more, with the recorded replies.

use serde_json::Value;

use onloop_effect::trace::{self, Trace, TraceLine, Tracer};
use onloop_effect::wire::{Message, read_reply};
use onloop_effect::{Exit, Io, Program, Start};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_syntax::{limits, text};

/// `onloop replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// What ONLOOP_TRACE wrote
    pub file: String,
}

/// Where a program does something else than the recorded one.
struct Difference {
    /// Number of the line in the file; the one behind the last where the recording has ended.
    line: usize,
    /// How many requests there were before.
    request: usize,
    recorded: String,
    now: String,
    /// Whether something that was cut in the recording may be the reason.
    after_cut: bool,
}

/// Drives the program that `begin` makes of the recorded start with the recorded replies.
/// Performs nothing that it asks for.
///
/// # Errors
///
/// There is no recording in the file.
pub async fn replay(
    io: &Io,
    args: &ReplayArgs,
    begin: fn(Start) -> Program,
) -> Result<Exit, CommandError> {
    let file = text::one_line(&args.file);
    let read = io.read(&args.file, limits::TRACE_BYTES).await;
    let (bytes, _) =
        read.map_err(|failure| CommandError::from(failure).of_kind(ErrorKind::Usage))?;
    let recorded = Trace::read(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        CommandError::usage(format!("cannot replay `{file}`")).because(error.to_string())
    })?;
    let (by, host) = (text::one_line(&recorded.onloop), text::one_line(&recorded.host));
    let this = env!("CARGO_PKG_VERSION");
    if by != this {
        io.note(format!("note: recorded by onloop {by}; this is onloop {this}")).await;
    }
    Ok(match follow(recorded, begin) {
        Ok((requests, ending)) => {
            io.result(format!(
                "{requests} requests, as recorded by onloop {by} ({host}); {ending}\n"
            ))
            .await;
            Exit::Done
        }
        Err(difference) => {
            let Difference { line, request, recorded, now, after_cut } = *difference;
            io.result(format!(
                "{file}:{line}: differs after {request} requests\n\
                 recorded: {recorded}\nnow:      {now}\n"
            ))
            .await;
            if after_cut {
                io.note("note: a reply before it was cut when it was recorded").await;
            }
            Exit::Failed
        }
    })
}

/// The number of requests, and how the recording ends.
fn follow(
    recorded: Trace,
    begin: fn(Start) -> Program,
) -> Result<(usize, String), Box<Difference>> {
    let Trace { start, lines, host, .. } = recorded;
    let (tracer, _) = Tracer::new(&start, &host);
    let mut program = begin(start);
    let (mut request, mut after_cut, mut reply) = (0, false, None);
    let mut lines = lines.into_iter();
    let mut last = 1;
    loop {
        let now = tracer.turn(&program.resume(reply.take()));
        let done = request;
        let differs = |line: usize, recorded: String, now: &str, after_cut: bool| {
            let now = now.trim_end().to_owned();
            Err(Box::new(Difference { line, request: done, recorded, now, after_cut }))
        };
        let (line, turn) = match lines.next() {
            Some((line, TraceLine::Turn(turn))) => (line, turn),
            Some((line, TraceLine::Reply(message))) => {
                return differs(line, format!("the reply {}", message.json), &now, after_cut);
            }
            None => return differs(last + 1, "nothing: it ends here".to_owned(), &now, after_cut),
        };
        let value: Value = serde_json::from_str(&now).unwrap_or_default();
        if !trace::is_same(&turn, &value) {
            return differs(line, turn.to_string(), &now, after_cut);
        }
        if let Some(exit) = turn.get("exit") {
            return Ok((request, format!("exit code {exit}")));
        }
        request += 1;
        let (line, message): (usize, Message) = match lines.next() {
            Some((line, TraceLine::Reply(message))) => (line, message),
            Some((line, TraceLine::Turn(turn))) => {
                return differs(
                    line,
                    turn.to_string(),
                    "a reply to the request before it",
                    after_cut,
                );
            }
            None => return Ok((request, "the recording stops before the last reply".to_owned())),
        };
        after_cut |= trace::was_cut(&message);
        let json = message.json.clone();
        reply = match read_reply(message) {
            Ok(reply) => Some(reply),
            Err(error) => return differs(line, json, &error.to_string(), after_cut),
        };
        last = line;
    }
}
