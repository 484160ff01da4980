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

pub mod cli;

pub use onloop_agents as agent;
pub use onloop_agents::confine;
pub use onloop_auto as auto;
pub use onloop_documents as documents;
pub use onloop_documents::page;
pub use onloop_effect as effect;
pub use onloop_engine as engine;
pub use onloop_git as git;
pub use onloop_install as install;
pub use onloop_permission as permission;
pub use onloop_run as run;
pub use onloop_run::preflight;
pub use onloop_servers::{lsp, mcp, watch, web};
pub use onloop_sessions::{handsoff, hooks};
pub use onloop_syntax::{diagnostic, limits, money, syntax, text, time, tokens};
pub use onloop_verbs as verb;
pub use onloop_workflow as workflow;
pub use onloop_workflow::language;
