//! Errors of `onloop fleet` when something is missing.
#![cfg(unix)]

use std::process::{Command, Output};

fn fleet(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_onloop-fleet"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("ONLOOP_STATE_HOME", folder.join("home"))
        .output()
        .expect("it runs")
}

#[test]
fn a_missing_engine_is_named_with_the_command_that_installs_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = fleet(folder.path(), &["up", "--data", "data"]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(4), "{said}");
    let data = folder.path().canonicalize().expect("a folder").join("data");
    let command = format!("npm install --prefix {} @restatedev/restate-server", data.display());
    assert!(said.contains(&command), "{said}");
}

#[test]
fn a_machine_without_a_fleet_is_told_how_to_have_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = fleet(folder.path(), &["fleet", "status"]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(4), [].as_slice()),
        "{said}"
    );
    assert!(said.contains("`onloop fleet up`"), "{said}");
}

#[test]
fn a_wrong_argument_is_a_wrong_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, word) in [
        (&["up", "--lease", "1h"][..], "1h"),
        (&["up", "--limit", "claude"], "claude=2"),
        (&["up", "--no-worker", "--slots", "2"], "--slots"),
        (&["sideways"], "sideways"),
    ] {
        let output = fleet(folder.path(), arguments);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(word), "{said}");
    }
}
