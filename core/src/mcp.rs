//! The Model Context Protocol as a state machine: lines in, acts out, nothing performed.
//!
//! [`Connection`] is one conversation with one client: what was agreed on, which requests of
//! the client are open, which of ours. [`Tool`] is what we offer; its input schema and the
//! check of its input are made from the same table. The program that performs the acts is
//! [`mcp`].

mod answer;
mod connection;
mod message;
mod resource;
mod server;
#[cfg(test)]
mod tests;
mod tool;

pub use answer::{Capped, error_result, tool_result};
pub use connection::{Act, Connection, Question, QuestionAnswer, Work};
pub use message::{Id, RpcError};
pub use resource::{Resource, ResourceKind, listed};
pub use server::mcp;
pub use tool::{Asked, Call, Tool};

/// Versions of the protocol that we speak, the newest first. Those after it know no
/// `initialize`; their clients try it when a server does not understand what comes before.
pub const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
