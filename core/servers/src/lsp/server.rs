//! `onloop lsp`: reads what an editor writes, and writes what the conversation makes of it.

use serde_json::Value;

use super::{Conversation, Framed, Frames, Handled};
use onloop_effect::{Exit, FailureKind, InputUnit, Io, Outcome, Request};
use onloop_syntax::limits;

/// `onloop lsp`: speaks until it is told to end, or its standard input ends.
pub async fn lsp(io: &Io) -> Exit {
    if io.start().terminal.stdin {
        io.note(
            "This speaks the Language Server Protocol with an editor; docs/lsp.md says how to \
             set one up. Ctrl-D ends it.",
        )
        .await;
    }
    let mut server =
        Server { io: io.clone(), frames: Frames::default(), conversation: Conversation::default() };
    loop {
        // Findings wait until nothing else has come.
        if let Some(exit) = server.read(Some(0)).await {
            return exit;
        }
        for message in server.conversation.settle() {
            server.send(&message).await;
        }
        if let Some(exit) = server.read(None).await {
            return exit;
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
    async fn read(&mut self, wait_ms: Option<u64>) -> Option<Exit> {
        loop {
            let unit = InputUnit::Bytes;
            let request = Request::ReadInput { limit_bytes: limits::LSP_READ_BYTES, wait_ms, unit };
            let bytes = match self.io.request(request).await {
                // An editor that is gone has said all that it will.
                Ok(Outcome::Input { bytes }) if bytes.is_empty() => return Some(Exit::Failed),
                Ok(Outcome::Input { bytes }) => bytes,
                Ok(Outcome::NoInput) => return None,
                Ok(_) => return Some(Exit::Bug),
                Err(failure) if failure.is_interrupted() => return Some(Exit::Interrupted),
                Err(failure) if failure.kind == FailureKind::Closed => return Some(Exit::Failed),
                Err(failure) => {
                    self.io.note(format!("error: {failure}")).await;
                    return Some(Exit::Refused);
                }
            };
            self.frames.push(&bytes);
            if let Some(exit) = self.receive().await {
                return Some(exit);
            }
            // Who waits without a limit has now got something.
            wait_ms?;
        }
    }

    /// Takes in the messages that are complete, then answers them.
    async fn receive(&mut self) -> Option<Exit> {
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
                Some(Handled::Exit(exit)) => return Some(exit),
                None => {}
            }
        }
        let why = broken?;
        self.io.note(format!("error: {why}; the conversation ends here")).await;
        Some(Exit::Failed)
    }

    async fn send(&self, message: &Value) {
        let message = message.to_string();
        self.io.result(format!("Content-Length: {}\r\n\r\n{message}", message.len())).await;
    }
}
