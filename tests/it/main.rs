//! One binary for all integration tests: one link, and tests run in parallel.
mod permission;
#[cfg(unix)]
mod permission_bash;
mod permission_properties;
