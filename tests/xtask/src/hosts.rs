//! The real clients of agent hosts, with our hooks and a model on loopback.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::Cargo;
use crate::sources;
use crate::stage::Stop;
use crate::tally::Tally;

/// Installs the pinned clients, some hundred megabytes, and lets them work.
pub(crate) fn test() -> Result<Tally, Stop> {
    Cargo::new("build --locked -p onloop --bins").run()?;
    let folder = sources::workspace_root().join("tests/hosts");
    // A client that cannot be installed is a failure: a stage that says nothing tests nothing.
    let mut install = Command::new("npm");
    // Not `npm ci`: it wants a lock file that names what only other platforms need.
    let options = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(install.args(options), &folder)?;
    let mut tests = Command::new("node");
    tests.args(["--test", "claude.test.mjs", "codex.test.mjs", "opencode.test.mjs"]);
    run(tests.env("ONLOOP_TEST_NATIVE", target_folder().join("debug/onloop")), &folder)
}

fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| sources::workspace_root().join("target"), PathBuf::from)
}

fn run(command: &mut Command, folder: &Path) -> Result<Tally, Stop> {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    let shown = words.join(" ");
    println!("$ {shown}");
    let status = command.current_dir(folder).status();
    let status = status.map_err(|error| format!("could not run {shown}: {error}"))?;
    if status.success() { Ok(Tally::default()) } else { Err(format!("failed: {shown}").into()) }
}
