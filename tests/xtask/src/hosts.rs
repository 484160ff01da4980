//! The real clients of agent hosts, with our hooks and a model on loopback.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, target_folder};
use crate::stage::{Stop, program};
use crate::tally::Tally;
use crate::{pinned, sources};

/// Files of tests that run at once. Clients mostly wait: for their model, for hooks, for timers.
const AT_ONCE: &str = "--test-concurrency=4";

/// What is confined has one of its own.
const HIDDEN: &str = "/tmp";

/// Installs the pinned clients where that was not done yet, some hundred megabytes, and lets
/// them work.
pub(crate) fn test() -> Result<Tally, Stop> {
    let folder = sources::workspace_root().join("tests/hosts");
    let clients = target_folder().join("hosts");
    if clients.starts_with(HIDDEN) {
        let place = clients.display();
        let why =
            format!("the clients would be in {place}, and confined runs see nothing of {HIDDEN}");
        return Err(Stop::from(format!("{why}; set CARGO_TARGET_DIR to a folder elsewhere")));
    }
    pinned::install(&folder, &clients, "the clients of agent hosts")?;
    let mut tests = Command::new("node");
    tests
        .args(["--test", "--test-reporter=tap", AT_ONCE])
        .args(suites(&folder)?)
        .current_dir(&folder);
    tests.env("ONLOOP_TEST_NATIVE", program("onloop"));
    tests.env("ONLOOP_TEST_CLIENTS", &clients);
    command::test(tests)
}

/// Every file of tests, sorted.
fn suites(folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    let failed = |error: std::io::Error| Stop::from(format!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = PathBuf::from(entry.map_err(failed)?.file_name());
        if name.to_string_lossy().ends_with(".test.mjs") {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}
