//! One binary for all integration tests: one link, and tests run in parallel.

mod host;
mod preflight;
#[cfg(unix)]
pub(crate) mod run;
#[cfg(unix)]
mod scenario;
mod sim;
mod workspace;
