//! The real clients of agent hosts, with our hooks and a model on loopback.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::Cargo;
use crate::command::{self, run, target_folder};
use crate::stage::Stop;
use crate::tally::Tally;
use crate::{npm, sources};

/// What says which clients are wanted; the last one how npm is to behave.
const NAMED_BY: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];
/// Written when everything is there.
const COMPLETE: &str = "complete";
/// Files of tests that run at once. Clients mostly wait: for their model, for hooks, for timers.
const AT_ONCE: &str = "--test-concurrency=4";

/// What is confined has one of its own.
const HIDDEN: &str = "/tmp";

/// Installs the pinned clients where that was not done yet, some hundred megabytes, and lets
/// them work.
pub(crate) fn test() -> Result<Tally, Stop> {
    Cargo::new("build --locked -p onloop --bins").run()?;
    // The plugin as it is published has the package in it.
    if !sources::workspace_root().join("npm/dist/onloop.wasm").exists() {
        npm::package()?;
    }
    let folder = sources::workspace_root().join("tests/hosts");
    let clients = target_folder().join("hosts");
    if clients.starts_with(HIDDEN) {
        let place = clients.display();
        let why =
            format!("the clients would be in {place}, and confined runs see nothing of {HIDDEN}");
        return Err(Stop::from(format!("{why}; set CARGO_TARGET_DIR to a folder elsewhere")));
    }
    install(&folder, &clients)?;
    let mut tests = Command::new("node");
    tests
        .args(["--test", "--test-reporter=tap", AT_ONCE])
        .args(suites(&folder)?)
        .current_dir(&folder);
    tests.env("ONLOOP_TEST_NATIVE", target_folder().join("debug/onloop"));
    tests.env("ONLOOP_TEST_CLIENTS", &clients);
    command::test(tests)
}

/// The clients that `folder` names, in `clients`. One that cannot be installed is a failure: a
/// stage that says nothing tests nothing.
fn install(folder: &Path, clients: &Path) -> Result<(), Stop> {
    if is_installed(folder, clients) {
        return Ok(());
    }
    println!(
        "the clients are not in {} yet, or are other ones; installing them",
        clients.display()
    );
    let failed = |error: std::io::Error| Stop::from(format!("{}: {error}", clients.display()));
    if clients.exists() {
        std::fs::remove_dir_all(clients).map_err(failed)?;
    }
    std::fs::create_dir_all(clients).map_err(failed)?;
    for name in NAMED_BY {
        std::fs::copy(folder.join(name), clients.join(name)).map_err(failed)?;
    }
    let mut npm = Command::new("npm");
    // Not `npm ci`: it wants a lock file that names what only other platforms need.
    let options = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    npm.args(options).current_dir(clients);
    run(npm).map_err(|stop| {
        let why = format!("the clients of agent hosts could not be installed\n{}", stop.why);
        Stop { why, ..stop }
    })?;
    // npm writes its own opinion into the lock file; what was asked for is what counts.
    for name in NAMED_BY {
        std::fs::copy(folder.join(name), clients.join(name)).map_err(failed)?;
    }
    std::fs::write(clients.join(COMPLETE), "").map_err(failed)
}

/// Whether an installation ran to its end, of the very versions that are wanted now.
fn is_installed(folder: &Path, clients: &Path) -> bool {
    let is_same = |name: &&str| {
        let wanted = std::fs::read(folder.join(name));
        wanted.is_ok_and(|wanted| {
            std::fs::read(clients.join(name)).is_ok_and(|found| found == wanted)
        })
    };
    clients.join(COMPLETE).exists() && NAMED_BY.iter().all(is_same)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_installed_again_when_others_are_wanted_and_after_a_broken_installation() {
        let place = std::env::temp_dir().join(format!("onloop-clients-{}", std::process::id()));
        let (folder, clients) = (place.join("wanted"), place.join("installed"));
        for folder in [&folder, &clients] {
            std::fs::create_dir_all(folder).unwrap();
            for name in NAMED_BY {
                std::fs::write(folder.join(name), name).unwrap();
            }
        }
        assert!(!is_installed(&folder, &clients), "it never ran to its end");
        std::fs::write(clients.join(COMPLETE), "").unwrap();
        assert!(is_installed(&folder, &clients));
        std::fs::write(folder.join("package-lock.json"), "another version").unwrap();
        assert!(!is_installed(&folder, &clients));
        std::fs::remove_dir_all(place).unwrap();
    }
}
