//! The Language Server Protocol for workflow files: bytes in, messages out, nothing performed.
//!
//! [`Frames`] finds the messages in what an editor writes, [`Conversation`] is one conversation with
//! one editor. What it answers is computed by [`language`](onloop_workflow::language). The program that reads
//! and writes is [`lsp`].

mod answer;
mod ask;
mod conversation;
mod frame;
mod open;
mod server;
#[cfg(test)]
mod tests;

pub use conversation::{Conversation, Handled};
pub use frame::{Framed, Frames};
pub use server::lsp;
