//! Fleet: runs on many machines. The engine that remembers them is one that exists; a worker is one
//! more host for the same programs.

pub mod client;
pub mod desk;
pub mod engine;
#[cfg(unix)]
pub mod guard;
pub mod key;
pub mod known;
pub mod private;
pub mod wire;
