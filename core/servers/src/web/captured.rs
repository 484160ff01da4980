//! A program of the command line on behalf of a browser.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use onloop_effect::{Exit, Failure, FailureKind, Io, Outcome, Program, Reply, Request, Say, Turn};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;
use onloop_syntax::text;

/// How a program ended, and what it said.
pub(super) struct Said {
    pub(super) exit: Exit,
    pub(super) said: String,
}

/// Runs a program to its end, and keeps what it says instead of saying it. Whatever it asks of a person at
/// the terminal, there is no answer: the person is at a browser.
pub(super) async fn captured<B, F>(io: &Io, body: B) -> Result<Said, CommandError>
where
    B: FnOnce(Io) -> F + 'static,
    F: Future<Output = Result<Exit, CommandError>> + 'static,
{
    let mut start = io.start().clone();
    start.now = io.now();
    start.terminal.stdin = false;
    // Each program has randomness of its own.
    let mut random = Sha256::new();
    random.update(start.random);
    random.update(start.now.as_millis().to_le_bytes());
    start.random.copy_from_slice(&random.finalize()[..16]);
    let ended = Rc::new(RefCell::new(None));
    let to = Rc::clone(&ended);
    let mut program = Program::new(start, async move |io: Io| {
        to.replace(Some(body(io).await));
        Exit::Done
    });
    let mut said = String::new();
    let mut reply = None;
    loop {
        let outcome = match program.resume(reply.take()) {
            Turn::Exit(_) => {
                let ended = ended.take().expect("a program that ends has an end");
                return ended.map(|exit| Said { exit, said });
            }
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
