//! Fleet: runs on many machines. The engine that remembers them is one that exists; a worker is one
//! more host for the same programs.

pub mod calls;
pub mod client;
pub mod clone;
pub mod conduct;
pub mod desk;
pub mod engine;
pub mod git;
pub mod guard;
pub mod journal;
pub mod key;
pub mod known;
pub mod leash;
pub mod person;
pub mod private;
mod rest;
pub mod submit;
pub mod travel;
pub mod wire;
pub mod worker;
