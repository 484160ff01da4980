//! The release workflow, performed step by step against stand-ins for what is out of reach.

use std::process::Command;

use crate::cargo::Cargo;
use crate::command::{self, target_folder};
use crate::npm::install;
use crate::sources;
use crate::stage::{self, Stop};
use crate::tally::Tally;

/// Performs `release.yml` from tag to release, with what earlier stages built: nothing is compiled
/// but the native program, where that has not been done yet.
pub(crate) fn rehearse() -> Result<Tally, Stop> {
    let root = sources::workspace_root();
    if !root.join("npm/dist/onloop.wasm").exists() {
        return Err("the npm package is not built; run `cargo xtask npm-package`"
            .to_owned()
            .into());
    }
    Cargo::new("build --locked -p onloop --bin onloop").run()?;
    let tests = root.join("tests/release");
    for folder in [&root.join("npm"), &root.join("npm/vscode"), &tests] {
        install(folder)?;
    }
    let stages: Vec<&str> = stage::CI.iter().map(|stage| stage.name).collect();
    let mut rehearsal = Command::new("npm");
    rehearsal.args(["test", "--silent"]).current_dir(tests);
    rehearsal.env("ONLOOP_TEST_NATIVE", target_folder().join("debug/onloop"));
    rehearsal.env("ONLOOP_TEST_TARGET", target_folder());
    rehearsal.env("ONLOOP_TEST_STAGES", stages.join(" "));
    command::test(rehearsal)
}
