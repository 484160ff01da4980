//! Lines that are harmless by their words, and run in a sandbox all the same.

use std::os::unix::fs::symlink;
use std::time::Duration;

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
fn git_runs_confined_beside_a_confined_command() {
    let project = Workspace::git();
    project.write("serve", "touch started; while [ ! -e stop ]; do sleep 0.05; done\n");
    project.commit("Server");
    assert_eq!(rewritten(&project, "git status"), None);
    let line = rewritten(&project, "bash serve &>/dev/null").expect("it is rewritten");
    let start = |line: &str| project.command_at(".", "bash").args(["-c", line]).spawn().unwrap();
    // The client has not started it yet, or it has not said so.
    let commit = rewritten(&project, "git commit -q --allow-empty -m x").expect("it is rewritten");
    let mut server = start(&line);
    while !project.path("started").exists() {
        assert_eq!(server.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(start(&commit).wait().unwrap().success());
    let status = rewritten(&project, "git -C . status && ls").expect("it is rewritten");
    assert!(start(&status).wait().unwrap().success());
    assert_eq!(rewritten(&project, "ls"), None);
    let said = calls(&project, "s1", "git push origin topic");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("confined command"), "{reason}");
    // It concerns nobody else.
    let other = Workspace::git();
    let other = other.with_env("XDG_STATE_HOME", project.path("../home/.state").to_str().unwrap());
    assert_eq!(rewritten(&other, "git status"), None);
    project.write("stop", "");
    assert!(server.wait().unwrap().success());
    assert_eq!(rewritten(&project, "git status"), None);
    // A killed one leaves a record that means nothing once everything is put back.
    for name in ["stop", "started"] {
        std::fs::remove_file(project.path(name)).unwrap();
    }
    let mut server = start(&rewritten(&project, "bash serve &>/dev/null").unwrap());
    while !project.path("started").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    while let Some(line) = rewritten(&project, "git status") {
        assert!(start(&line).wait().unwrap().success());
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
