//! Runs on several machines. A durable engine stores the runs, and workers are hosts of the same
//! programs.

#![cfg(unix)]

mod allow_list;
pub mod authority;
pub mod backoff;
pub mod cli;
pub mod client;
pub mod clone;
pub mod config;
pub mod driver;
pub mod engine;
pub mod git;
mod git_retry;
pub mod guard;
mod hidden;
pub mod journal;
pub mod key;
mod log;
pub mod outbox;
pub mod private;
mod queue_state;
mod run_options;
pub mod server;
mod status;
pub mod submit;
pub mod supervisor;
mod up;
pub mod verbs;
pub mod watchdog;
pub mod worker;
