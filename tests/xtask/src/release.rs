//! The release workflow, performed step by step against stand-ins for what is out of reach.

use std::process::Command;

use crate::command::{self, target_folder};
use crate::npm::install;
use crate::sources;
use crate::stage::{self, Stop};
use crate::tally::Tally;

/// Performs `release.yml` from tag to release with what earlier stages built.
pub(crate) fn dry_run() -> Result<Tally, Stop> {
    let root = sources::workspace_root();
    let tests = root.join("tests/release");
    for folder in [&root.join("npm"), &root.join("npm/vscode"), &tests] {
        install(folder)?;
    }
    let stages: Vec<&str> = stage::STAGES.iter().map(|stage| stage.name).collect();
    let mut tests_command = Command::new("npm");
    tests_command.args(["test", "--silent"]).current_dir(tests);
    tests_command.env("ONLOOP_TEST_NATIVE", stage::program("onloop"));
    tests_command.env("ONLOOP_TEST_TARGET", target_folder());
    tests_command.env("ONLOOP_TEST_STAGES", stages.join(" "));
    command::test(tests_command)
}
