//! onloop's core decides; hosts act.
//!
//! It reads workflow files, keeps the record of a run, says what happens next and writes
//! every verb of the command line as a program that *asks* for effects. It never touches a
//! file, a process, a clock or a socket itself.
//!
//! A host is a loop: start a [`effect::Program`], perform each [`effect::Request`] it
//! returns, and resume it with the [`effect::Reply`] until it exits.
//!
//! ```
//! use onloop_core::effect::{Exit, Outcome, Program, Reply, Start, Turn};
//! use onloop_core::time::Timestamp;
//!
//! let start = Start::example(["greet"]);
//! let mut program = Program::new(start, |io| async move {
//!     io.result("hello\n").await;
//!     Exit::Done
//! });
//! let mut reply = None;
//! let exit = loop {
//!     match program.resume(reply.take()) {
//!         Turn::Exit(exit) => break exit,
//!         Turn::Request(_request) => {
//!             // A real host performs the request here.
//!             reply = Some(Reply { at: Timestamp::EPOCH, outcome: Ok(Outcome::Done) });
//!         }
//!     }
//! };
//! assert_eq!(exit.code(), 0);
//! ```
#![forbid(unsafe_code)]

pub mod agent;
pub mod auto;
#[cfg(feature = "cli")]
pub mod cli;
pub mod confine;
pub mod diagnostic;
pub mod documents;
pub mod effect;
pub mod engine;
pub mod handsoff;
pub mod hooks;
pub mod install;
pub mod language;
pub mod limits;
pub mod lsp;
pub mod mcp;
pub mod money;
pub mod page;
pub mod permission;
pub mod preflight;
pub mod run;
pub mod syntax;
pub mod text;
pub mod time;
pub mod tokens;
pub mod verb;
pub mod watch;
pub mod web;
pub mod workflow;
