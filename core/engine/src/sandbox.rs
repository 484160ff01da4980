//! Whether agents and checks run in a sandbox, and what it lets them touch.

pub(crate) mod automation;
pub mod choice;
pub mod confinement;
pub mod leftovers;
pub(crate) mod network;
pub mod programs;
pub mod running;
