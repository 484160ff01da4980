//! Finds the run, the workflow file or the agent that a command line means.

pub mod agent;
pub mod project;
pub mod runs;
pub mod select;
pub mod workflow;
