//! One binary for all integration tests: one link, and tests run in parallel.

mod finish;
#[cfg(unix)]
mod host;
mod preflight;
mod sim;
mod workspace;
