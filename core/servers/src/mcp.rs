//! The Model Context Protocol as a state machine: lines in, reactions out, nothing performed.
//!
//! [`Connection`] is one conversation with one client: what was agreed on, which requests of
//! the client are open, which of ours. [`Tool`] is what we offer; its input schema and the
//! check of its input are made from the same table. The program that carries the reactions out
//! is [`mcp`].

use onloop_install::canary::PROTOCOL_VERSION;

mod answer;
mod completion;
mod connection;
mod output;
mod prompt;
mod resource;
mod server;
mod subscription;
mod terms;
#[cfg(test)]
mod tests;
mod tool;

pub use answer::{Capped, error_result, started_result, tool_result};
pub use completion::Completion;
pub use connection::{
    ClientAnswer, ClientRequest, Connection, Reaction, ServerRequest, input_required,
};
pub use onloop_syntax::syntax::json_rpc::{Id, RpcError};
pub use prompt::ServedPrompt;
pub use resource::{Resource, ResourceKind, listed};
pub use server::mcp;
pub use terms::{ClientSettings, LogLevel, Protocol, STATELESS_VERSION};
pub use tool::{InputError, Tool, ToolCall, ToolProgram};

/// Versions of the protocol that begin with `initialize`, the newest first. Beside them there is
/// [`STATELESS_VERSION`].
pub const VERSIONS: [&str; 2] = [PROTOCOL_VERSION, "2025-06-18"];
