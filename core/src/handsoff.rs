//! Sessions of an agent that go on without a person at its side.

pub mod approval;
pub mod config;

/// Set in the environment of every agent that we ask for an opinion. Our own hook, called by
/// such an agent, must not ask another one: it answers from its rules alone.
pub const DEPTH_VARIABLE: &str = "ONLOOP_HOOK_DEPTH";
