//! One binary for all integration tests: one link, and tests run in parallel.

/// What was said, with one blank for each line break: errors are wrapped.
pub(crate) fn flat(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

mod agents;
#[cfg(unix)]
pub(crate) mod approval;
mod auto;
mod board;
#[cfg(unix)]
mod checkpoints;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(unix)]
mod demo;
mod do_task;
#[cfg(unix)]
mod durability;
mod examples;
mod fences;
mod finish;
mod guide;
#[cfg(unix)]
pub(crate) mod hook;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod language;
#[cfg(target_os = "linux")]
mod lsp;
#[cfg(unix)]
mod mcp;
mod mutations;
#[cfg(unix)]
mod night;
mod notify;
mod parallel;
mod permission;
#[cfg(unix)]
mod permission_bash;
#[cfg(unix)]
mod permission_owners;
mod permission_properties;
#[cfg(unix)]
mod permission_staged;
mod permission_told;
#[cfg(target_os = "linux")]
mod permission_touches;
#[cfg(unix)]
mod plan;
mod preflight;
#[cfg(unix)]
#[cfg(unix)]
mod pull_request;
mod replay;
mod rounds;
#[cfg(unix)]
pub(crate) mod run;
mod scenario;
mod schema;
mod sim;
mod simulation;
mod telemetry;
#[path = "../../native/src/host/git/tests/temporary.rs"]
mod temporary;
mod test_runners;
#[cfg(unix)]
mod travel;
mod web;
mod workflow_corpus;
mod workflow_docs;
mod workflow_hostile;
mod workspace;
