//! The extension for VS Code: its package, its plain modules, and real extension hosts that load it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser;
use crate::command::{self, run, target_folder};
use crate::npm::install;
use crate::stage::Stop;
use crate::tally::Tally;
use crate::{runner, sources};

/// Most bytes that the package may have as it is published: its present size and a little more.
const PACKAGE_BYTES: u64 = 3090 * 1024;

/// Makes the package, tests the modules that do not know the editor, installs a pinned VS Code server
/// once, some hundred megabytes, and opens the package in it with a headless Chromium.
pub(crate) fn test() -> Result<Tally, Stop> {
    let extension = folder().join("npm/vscode");
    install(&extension)?;
    run(npm(&extension, &["run", "--silent", "check"]))?;
    run(npm(&extension, &["run", "--silent", "build"]))?;
    let modules = command::test(npm(&extension, &["test", "--silent"]))?;
    let package = package(&extension)?;

    let tests = folder().join("tests/vscode");
    install(&tests)?;
    let servers = target_folder().join("vscode");
    let mut fetch = Command::new("node");
    fetch.arg("install.mjs").arg(&servers).current_dir(&tests);
    run(fetch)?;
    let mut hosts = npm(&tests, &["test", "--silent"]);
    hosts.env("ONLOOP_TEST_VSIX", package).env("ONLOOP_TEST_VSCODE", servers);
    hosts.env(browser::VARIABLE, browser::program()?);
    Ok(modules + command::test(hosts)?)
}

/// The `.vsix`. With the quick npm package in it, its size means nothing.
fn package(extension: &Path) -> Result<PathBuf, Stop> {
    run(npm(extension, &["run", "--silent", "package"]))?;
    let package = extension.join("onloop.vsix");
    let metadata = package.metadata();
    let bytes = metadata.map_err(|error| format!("{}: {error}", package.display()))?.len();
    println!("the package has {} KiB; {} KiB are allowed", bytes / 1024, PACKAGE_BYTES / 1024);
    if runner::is_long() && bytes > PACKAGE_BYTES {
        return Err("the package is larger than its budget".to_owned().into());
    }
    Ok(package)
}

fn folder() -> &'static Path {
    sources::workspace_root()
}

fn npm(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(folder);
    command
}
