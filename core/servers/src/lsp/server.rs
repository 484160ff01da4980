//! `onloop lsp`: reads what an editor writes, and writes what the conversation makes of it.

use serde_json::Value;

use super::{Conversation, Framed, Frames, Handled};
use onloop_effect::{Exit, InputUnit, Io, Outcome, Request};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;

/// `onloop lsp`: speaks until it is told to end, or its standard input ends.
///
/// # Errors
///
/// Its standard input cannot be read, or is not understood.
pub async fn lsp(io: &Io) -> Result<Exit, CommandError> {
    if io.start().terminal.stdin {
        io.note(concat!(
            "This speaks the Language Server Protocol with an editor. Ctrl-D ends it.\n\
                 To set up an editor, see ",
            env!("CARGO_PKG_REPOSITORY"),
            "/blob/main/docs/lsp.md"
        ))
        .await;
    }
    let mut server =
        Server { io: io.clone(), frames: Frames::default(), conversation: Conversation::default() };
    loop {
        // Findings wait until nothing else has come.
        if let Some(exit) = server.read(Some(0)).await? {
            return Ok(exit);
        }
        for message in server.conversation.settle() {
            server.send(&message).await;
        }
        if let Some(exit) = server.read(None).await? {
            return Ok(exit);
        }
    }
}

struct Server {
    io: Io,
    frames: Frames,
    conversation: Conversation,
}

impl Server {
    /// Reads and answers. With a bound of time, until nothing more comes within it.
    async fn read(&mut self, wait_ms: Option<u64>) -> Result<Option<Exit>, CommandError> {
        loop {
            let unit = InputUnit::Bytes;
            let request = Request::ReadInput { limit_bytes: limits::LSP_READ_BYTES, wait_ms, unit };
            let bytes = match self.io.request(request).await {
                // An editor that is gone has said all that it will.
                Ok(Outcome::Input { bytes }) if bytes.is_empty() => return Ok(Some(Exit::Failed)),
                Ok(Outcome::Input { bytes }) => bytes,
                Ok(Outcome::NoInput) => return Ok(None),
                Ok(_) => return Ok(Some(Exit::Bug)),
                Err(failure) if failure.is_interrupted() => return Ok(Some(Exit::Interrupted)),
                Err(failure) if failure.is_closed() => return Ok(Some(Exit::Failed)),
                Err(failure) => return Err(failure.into()),
            };
            self.frames.push(&bytes);
            if let Some(exit) = self.receive().await? {
                return Ok(Some(exit));
            }
            // Without a limit of time, one reading is enough.
            if wait_ms.is_none() {
                return Ok(None);
            }
        }
    }

    /// Takes in the messages that are complete, then answers them.
    async fn receive(&mut self) -> Result<Option<Exit>, CommandError> {
        let mut broken = None;
        while let Some(framed) = self.frames.take() {
            match framed {
                Framed::Message(message) => self.conversation.receive(&message),
                Framed::Refused(why) => self.conversation.receive_refused(&why),
                Framed::Broken(why) => {
                    self.conversation.receive_refused(&why);
                    broken = Some(why);
                }
            }
        }
        while self.conversation.has_waiting() {
            match self.conversation.handle_next() {
                Some(Handled::Send(message)) => self.send(&message).await,
                Some(Handled::Exit(exit)) => return Ok(Some(exit)),
                None => {}
            }
        }
        match broken {
            None => Ok(None),
            Some(why) => {
                Err(CommandError::failed("the conversation with the editor ended").because(why))
            }
        }
    }

    async fn send(&self, message: &Value) {
        let message = message.to_string();
        self.io.result(format!("Content-Length: {}\r\n\r\n{message}", message.len())).await;
    }
}
