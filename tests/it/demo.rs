//! The first command of the README, as a reader types it after the first checkout.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::surroundings::temporary_folder;
use crate::workspace::{program, source_root};

/// `./demo`, building where these tests were built, so that little is left to build.
fn demo(example: &str) -> (Option<i32>, String) {
    let folder = temporary_folder();
    // The folder that it makes would outlive the test.
    let temporary = folder.path().canonicalize().unwrap();
    let target = Path::new(program()).ancestors().nth(2).expect("a program is in target/debug");
    let mut command = Command::new(source_root().join("demo"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["ONLOOP_", "HOTL_", "GIT_", "CARGO_PKG_"].iter().any(|own| name.starts_with(own)) {
            command.env_remove(&*name);
        }
    }
    let output = command
        .arg(example)
        .env("CARGO_TARGET_DIR", target)
        .env("TMPDIR", &temporary)
        .env("ONLOOP_NOW", "2026-03-20T21:23:15Z")
        .stdin(Stdio::null())
        .output()
        .expect("the demonstration can be started");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stdout.contains("Exit code"), "{stdout}{stderr}");
    let parts = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path());
    let made = parts.filter(|path| path.is_dir()).collect::<Vec<_>>();
    let [made] = made.as_slice() else { panic!("one folder, not {made:?}") };
    // The README names one sandbox, and machines have another.
    let stdout = stdout.replace("Sandbox: landlock", "Sandbox: bubblewrap");
    (output.status.code(), stdout.replace(made.to_str().unwrap(), "/tmp/onloop-demo"))
}

#[test]
fn the_demonstration_completes_and_prints_what_the_readme_shows() {
    let (code, said) = demo("links");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("**Status:** completed"), "{said}");
    let readme = std::fs::read_to_string(source_root().join("README.md")).unwrap();
    let readme = readme.replace("\r\n", "\n");
    let (before, rest) = readme.split_once("```text demo\n").expect("the recorded run is there");
    let (shown, after) = rest.split_once("```\n").expect("the fence is closed");
    let (run, _) = said.split_once("\nExit code").expect("it says how the run ended");
    let run = run.trim_matches('\n').to_owned() + "\n";
    if shown == run {
        return;
    }
    if std::env::var_os("ONLOOP_WRITE_DOCUMENTS").is_some() {
        let text = format!("{before}```text demo\n{run}```\n{after}");
        std::fs::write(source_root().join("README.md"), text).unwrap();
        return;
    }
    panic!("the README shows\n{shown}\nand the demonstration prints\n{run}");
}
