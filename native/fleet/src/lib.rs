//! Fleet: runs on many machines. The engine that remembers them is one that exists; a worker is one
//! more host for the same programs.

pub mod engine;
