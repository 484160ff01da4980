//! Fleet: runs on many machines. The engine that remembers them is one that exists; a worker is one
//! more host for the same programs.

pub mod cli;
pub mod client;
pub mod desk;
pub mod engine;
#[cfg(unix)]
pub mod guard;
pub mod key;
pub mod known;
#[cfg(unix)]
mod log;
pub mod private;
mod status;
#[cfg(unix)]
mod up;
pub mod wire;
