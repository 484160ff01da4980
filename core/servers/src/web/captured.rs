//! A program of the command line on behalf of a browser.

use std::future::Future;

use sha2::{Digest, Sha256};

use onloop_effect::{Exit, Failure, FailureKind, Io, Outcome, Program, Reply, Request, Say, Turn};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Runs a program to its end, and keeps what it says instead of saying it. Whatever it asks of a person at
/// the terminal, nobody answers: the person is at a browser.
pub(super) async fn captured<B, F>(io: &Io, body: B) -> (Exit, String)
where
    B: FnOnce(Io) -> F,
    F: Future<Output = Exit> + 'static,
{
    let mut start = io.start().clone();
    start.now = io.now();
    start.terminal.stdin = false;
    // Each program has randomness of its own.
    let mut random = Sha256::new();
    random.update(start.random);
    random.update(start.now.as_millis().to_le_bytes());
    start.random.copy_from_slice(&random.finalize()[..16]);
    let mut program = Program::new(start, body);
    let mut said = String::new();
    let mut reply = None;
    loop {
        let outcome = match program.resume(reply.take()) {
            Turn::Exit(exit) => return (exit, said),
            Turn::Request(Request::Say(Say::Result(words) | Say::Note(words))) => {
                let room = limits::BOARD_TEXT_BYTES.saturating_sub(said.len());
                said.push_str(text::prefix(&text::printable(&words), room));
                Ok(Outcome::Done)
            }
            Turn::Request(Request::Ask { .. } | Request::ReadInput { .. }) => {
                Err(Failure::new(FailureKind::Closed, "nobody is at the terminal"))
            }
            Turn::Request(other) => io.request(other).await,
        };
        reply = Some(Reply { at: io.now(), outcome });
    }
}
