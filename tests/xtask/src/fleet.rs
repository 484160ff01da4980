//! The fleet on a real engine: its contract, its kills, and a stage that breaks everything.

use crate::cargo::Cargo;
use crate::command::target_folder;
use crate::stage::Stop;
use crate::tally::Tally;
use crate::{pinned, sources};

/// Test programs of the fleet that need the engine. `latency` measures, and is for a quiet machine.
const NEED_ENGINE: [&str; 4] = ["restate", "up", "document", "chaos"];
/// Names the engine's program, in the environment.
const VARIABLE: &str = "ONLOOP_RESTATE_SERVER";

/// Installs the engine, two hundred megabytes, where that was not done yet, and lets the fleet work on it.
pub(crate) fn test() -> Result<Tally, Stop> {
    let engine = target_folder().join("fleet");
    pinned::install(&sources::workspace_root().join("tests/fleet"), &engine, "the fleet's engine")?;
    // Workers start the program that lies beside them.
    Cargo::new("build --locked -p onloop --bins").run()?;
    let mut tests = Tally::default();
    for name in NEED_ENGINE {
        let program = engine.join("node_modules/.bin/restate-server").display().to_string();
        let line =
            Cargo::new("test --locked -p onloop-fleet --test").arg(name).args("-- --nocapture");
        tests = tests + line.env(VARIABLE, &program).test()?;
    }
    Ok(tests)
}
