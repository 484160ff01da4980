//! The language server, the MCP server and the web page as programs.
#![forbid(unsafe_code)]

pub mod lsp;
pub mod mcp;
#[cfg(test)]
mod short_messages;
pub mod watch;
pub mod web;
