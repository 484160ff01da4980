//! The fleet on a real engine: its contract, its kills, and a stage that breaks everything.

use crate::cargo::Cargo;
use crate::command::target_folder;
use crate::stage::Stop;
use crate::tally::Tally;
use crate::{pinned, runner, sources};

/// Test programs of the fleet that need the engine. `latency` measures, and is for a quiet machine.
const NEED_ENGINE: [&str; 4] = ["restate", "up", "document", "chaos"];
/// Names the engine's program, in the environment.
const VARIABLE: &str = "ONLOOP_RESTATE_SERVER";

/// Installs the engine, two hundred megabytes, once, and runs the fleet on it. Workers start the program
/// beside them, which the stage `programs` compiled.
pub(crate) fn test() -> Result<Tally, Stop> {
    let engine = target_folder().join("fleet");
    pinned::install(&sources::workspace_root().join("tests/fleet"), &engine, "the fleet's engine")?;
    let server = engine.join("node_modules/.bin/restate-server").display().to_string();
    let tests = Cargo::new("test --locked --no-fail-fast --workspace");
    let tests = NEED_ENGINE.iter().fold(tests, |tests, name| tests.arg("--test").arg(name));
    tests.env(VARIABLE, &server).env("RUST_TEST_NOCAPTURE", "1").tests(runner::is_long())
}
