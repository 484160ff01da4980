//! The first command of the README, as a reader types it after the first build.

use std::process::{Command, Stdio};

use crate::rounds::sampled;
use crate::temporary::temporary_folder;
use crate::workspace::{program, source_root};

/// `onloop demo` in a temporary folder, with both outputs as a terminal shows them.
fn demo(example: &str) -> (Option<i32>, String) {
    let folder = temporary_folder();
    let temporary = folder.path().canonicalize().unwrap();
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["ONLOOP_", "HOTL_", "GIT_", "XDG_"].iter().any(|own| name.starts_with(own)) {
            command.env_remove(&*name);
        }
    }
    let output = command
        .args(["-c", "\"$0\" demo \"$1\" 2>&1", program(), example])
        .env("TMPDIR", &temporary)
        .env("HOME", &temporary)
        .env("ONLOOP_NOW", "2026-03-20T21:23:15Z")
        .stdin(Stdio::null())
        .output()
        .expect("the demonstration can be started");
    let said = String::from_utf8(output.stdout).unwrap();
    let parts = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path());
    let made =
        parts.filter(|path| path.to_string_lossy().contains("onloop-demo")).collect::<Vec<_>>();
    let [made] = made.as_slice() else { panic!("one folder, not {made:?}: {said}") };
    // The README names one sandbox, and machines have another.
    let said = said.replace("Sandbox: landlock", "Sandbox: bubblewrap");
    (output.status.code(), said.replace(made.to_str().unwrap(), "/tmp/onloop-demo"))
}

#[test]
fn the_demonstration_completes_and_prints_what_the_readme_shows() {
    let (code, said) = demo("links");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\n  onloop web --open"), "{said}");
    let readme = std::fs::read_to_string(source_root().join("README.md")).unwrap();
    let readme = readme.replace("\r\n", "\n");
    let (before, rest) = readme.split_once("```text demo\n").expect("the recorded run is there");
    let (shown, after) = rest.split_once("```\n").expect("the fence is closed");
    let (run, _) = said.split_once("\nNext:\n").expect("it says what to do next");
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

#[test]
fn every_built_in_example_ends_as_its_files_say() {
    for (example, code) in sampled(3, [("release", 3), ("budget", 1), ("site", 0)]) {
        let (found, said) = demo(example);
        assert_eq!(found, Some(code), "{example}: {said}");
    }
}
