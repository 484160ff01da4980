//! Whether agents and checks are confined, and to what.

pub mod run;
pub mod status;
