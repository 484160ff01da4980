//! Lines that are harmless by their words, and run in a sandbox all the same.

use std::os::unix::fs::symlink;

use super::calls;
use crate::workspace::Workspace;

/// What a session of Claude Code runs instead of `line`, if it is allowed.
fn rewritten(project: &Workspace, line: &str) -> Option<String> {
    let said = calls(project, "s1", line);
    said["hookSpecificOutput"]["updatedInput"]["command"].as_str().map(str::to_owned)
}

#[test]
fn a_build_runs_in_the_sandbox_where_there_is_one() {
    let makefile = "test:\n\techo run >> here.txt\n\techo run >> ../beside.txt\n";
    let project = Workspace::git();
    project.write("Makefile", makefile);
    project.commit("Makefile");
    let line = rewritten(&project, "make -i test").expect("it is rewritten");
    project.command_at(".", "bash").args(["-c", &line]).status().unwrap();
    assert_eq!(project.read("here.txt"), "run\n");
    assert!(!project.path("../beside.txt").exists());

    // A folder that holds the home of the user cannot be confined.
    let home = project.path(".").to_str().unwrap().to_owned();
    let project = project.with_env("HOME", &home);
    let said = calls(&project, "s1", "make test");
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], "allow");
    assert!(said["updatedInput"].is_null(), "{said}");
    let said = calls(&project, "s1", "make deploy");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[test]
fn links_that_git_brings_lead_nowhere() {
    let project = Workspace::git();
    project.write("../home/.netrc", "password\n");
    project.write("f", "text\n");
    project.commit("File");
    project.git_says(&["switch", "-q", "-c", "evil"]);
    std::fs::remove_file(project.path("f")).unwrap();
    symlink(project.path("../home/.netrc"), project.path("f")).unwrap();
    project.commit("Link");
    for line in [
        "git checkout -q -b new evil && cat f",
        "git checkout -q - && cat f",
        "git restore -s evil f && cat f",
        "git restore -s evil f && echo more >> f",
        "git switch -q evil && git diff --output=f main",
        "git switch -q evil && git commit -q --allow-empty -F f && git log -1",
    ] {
        project.git_says(&["switch", "-q", "evil"]);
        project.git_says(&["switch", "-q", "main"]);
        if let Some(line) = rewritten(&project, line) {
            let ran = project.command_at(".", "bash").args(["-c", &line]).output().unwrap();
            assert!(!String::from_utf8_lossy(&ran.stdout).contains("password"), "{line}");
        } else {
            let said = calls(&project, "s1", line);
            assert_ne!(said["hookSpecificOutput"]["permissionDecision"], "allow", "{line}");
        }
        assert_eq!(project.read("../home/.netrc"), "password\n", "{line}");
        project.git_says(&["reset", "-q", "--hard"]);
    }
}

#[test]
fn a_pause_of_a_person_stays() {
    let project = Workspace::git();
    project.write(".ai/PAUSE.md", "later\n");
    let line = "python3 -c 'import os; os.unlink(\".ai/PAUSE.md\")'";
    let line = rewritten(&project, line).expect("it is rewritten");
    assert!(!project.command_at(".", "bash").args(["-c", &line]).status().unwrap().success());
    assert_eq!(project.read(".ai/PAUSE.md"), "later\n");
}
