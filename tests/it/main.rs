//! One binary for all integration tests: one link, and tests run in parallel.
mod permission;
mod permission_properties;
#[cfg(unix)]
mod permission_bash;
