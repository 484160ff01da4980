//! Fleet: runs on many machines. The engine that remembers them is one that exists; a worker is one
//! more host for the same programs.

#![cfg(unix)]

mod allow_list;
pub mod authority;
pub mod backoff;
pub mod cli;
pub mod client;
pub mod clone;
pub mod conduct;
pub mod engine;
pub mod git;
pub mod guard;
mod hidden;
pub mod journal;
pub mod key;
pub mod known;
pub mod leash;
mod log;
mod patient;
pub mod person;
pub mod private;
mod rest;
pub mod server;
mod status;
pub mod submit;
pub mod travel;
mod up;
pub mod worker;
