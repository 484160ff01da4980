//! The real clients of agent hosts, with our hooks and a model on loopback.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, target_folder};
use crate::stage::{Stop, program};
use crate::tally::Tally;
use crate::{pinned, sources};

/// Files of tests that run at once. Clients mostly wait: for their model, for hooks, for timers.
const AT_ONCE: &str = "--test-concurrency=4";

/// The sandbox hides this folder, so that a checkout in it keeps the clients and the program elsewhere.
const HIDDEN: &str = "/tmp";
const VISIBLE: &str = "/var/tmp";

/// Installs the pinned clients once, some hundred megabytes, and lets them work.
pub(crate) fn test() -> Result<Tally, Stop> {
    let folder = sources::workspace_root().join("tests/hosts");
    let (clients, native) = places()?;
    pinned::install(&folder, &clients, "the clients of agent hosts")?;
    let mut tests = Command::new("node");
    tests
        .args(["--test", "--test-reporter=tap", AT_ONCE])
        .args(suites(&folder)?)
        .current_dir(&folder);
    tests.env("ONLOOP_TEST_NATIVE", native);
    tests.env("ONLOOP_TEST_STREAM_EVENTS", program("stream-events"));
    tests.env("ONLOOP_TEST_CLIENTS", &clients);
    command::test(tests)
}

/// Where the clients and the program are visible inside the sandbox.
fn places() -> Result<(PathBuf, PathBuf), String> {
    let (target, program) = (target_folder(), program("onloop"));
    let Ok(below) = target.strip_prefix(HIDDEN) else {
        return Ok((target.join("hosts"), program));
    };
    let name = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "-");
    let place = Path::new(VISIBLE).join(format!("onloop-hosts-{name}"));
    let copy = place.join("onloop");
    std::fs::create_dir_all(&place)
        .and_then(|()| std::fs::copy(&program, &copy))
        .map_err(|error| format!("{}: {error}", place.display()))?;
    Ok((place.join("clients"), copy))
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
