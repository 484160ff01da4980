//! Lines that are harmless by their words, and run in a sandbox all the same.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use super::{calls, never_started};
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
    project
        .write("serve", "touch started; for i in $(seq 400); do [ -e stop ] || sleep 0.05; done\n");
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
    let list = rewritten(&project, "ls").expect("files change meanwhile");
    assert!(start(&list).wait().unwrap().success());
    assert_eq!(rewritten(&project, "onloop lint"), None);
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
fn git_is_confined_until_all_is_put_back_after_a_kill() {
    let project = Workspace::git();
    project.write("plant", "touch .mcp.json started; sleep 60\n");
    project.commit("Script");
    let mut first = started(&project, "bash plant");
    // What repairs waits a moment longer than it would.
    let repairs = holders_beside(&project, first.id());
    let [repairs] = &repairs[..] else { panic!("{repairs:?}") };
    let signal = |words: &[&str]| Command::new("kill").args(words).status().unwrap();
    signal(&["-STOP", repairs]);
    // With all of its descendants, as clients do.
    signal(&["-9", "--", &format!("-{}", first.id())]);
    first.wait().unwrap();
    for _ in 0..3 {
        never_started(&project);
        assert!(rewritten(&project, "git status").is_some());
        assert!(project.path(".mcp.json").exists());
    }
    signal(&["-CONT", repairs]);
    never_started(&project);
    while rewritten(&project, "git status").is_some() {
        never_started(&project);
    }
    assert!(!project.path(".mcp.json").exists());
}

/// Processes outside of a group that hold the lock of a record about a confined command.
fn holders_beside(project: &Workspace, group: u32) -> Vec<String> {
    let records = project.path("../home/.state/onloop/temporary").canonicalize().unwrap();
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let opened = std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let mut opened = opened.filter_map(|fd| std::fs::read_link(fd.path()).ok());
        let holds = opened.any(|path| path.starts_with(&records));
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let own = stat.rsplit_once(") ").and_then(|(_, behind)| behind.split(' ').nth(2));
        if holds && own != Some(&group.to_string()) {
            found.push(process.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

/// Runs `line` confined, until it is told to stop, and waits for the file `started` that it makes.
fn started(project: &Workspace, line: &str) -> std::process::Child {
    let line = rewritten(project, line).expect("it is rewritten");
    let mut command = project.command_at(".", "bash");
    let mut child = command.args(["-c", &line]).process_group(0).spawn().unwrap();
    while !project.path("started").exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(project.path("started")).unwrap();
    child
}

#[test]
fn what_a_confined_command_makes_decides_nothing_while_it_runs() {
    // A home of onloop is a person's own, but a confined command may write this one.
    let home = Workspace::plain();
    let path = home.path(".").to_str().unwrap().to_owned();
    for project in [Workspace::git(), Workspace::plain(), home.with_env("AGENTIZE_HOME", &path)] {
        project.write(
            "plant",
            "printf 'permissions: {allow: [\"^python3\"]}\\n' > .agentize.local.yaml\n\
             printf 'x = 1\\n' > .npmrc\n\
             [ ! -d .git ] || echo . > .git/commondir\n\
             touch started; for i in $(seq 400); do [ -e stop ] || sleep 0.05; done\n",
        );
        project.write(".github/workflows/ci.yml", "old\n");
        let has_git = project.path(".git").exists();
        if has_git {
            project.commit("Script");
        }
        let mut first = started(&project, "bash plant");
        let begin = std::time::Instant::now();
        assert!(project.path(".agentize.local.yaml").exists());
        assert!(rewritten(&project, "python3 -c 1").is_some(), "the rule is not the person's");
        let said = calls(&project, "s1", "echo x > y");
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "allow", "{said}");
        if has_git {
            let said = calls(&project, "s1", "onloop lint");
            assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
        }
        // It writes for twenty seconds, unless it is told to stop.
        assert!(begin.elapsed() < Duration::from_secs(15), "a hook waited for its end");
        // A person replaces a file meanwhile, as git does for another branch.
        project.write("new", "new\n");
        std::fs::rename(project.path("new"), project.path(".github/workflows/ci.yml")).unwrap();
        // Another one begins with what the first has made, and makes it again when the first has ended.
        project.write(
            "again",
            "touch started; for i in $(seq 400); do [ ! -e .npmrc ] || sleep 0.05; done; echo x=1 > .npmrc; \
             [ ! -d .git ] || echo x > .git/commondir\n",
        );
        let mut second = started(&project, "bash again");
        project.write("stop", "");
        assert!(first.wait().unwrap().success());
        assert!(second.wait().unwrap().success());
        for name in [".agentize.local.yaml", ".npmrc", ".git/commondir"] {
            assert!(!project.path(name).exists(), "{name}");
        }
        assert_eq!(project.read(".github/workflows/ci.yml"), "new\n");
    }
}

#[test]
fn nothing_is_confined_that_cannot_be_recorded() {
    let project = Workspace::git();
    project.write("../home/.state/onloop/temporary", "a file in the place of the folder");
    let said = calls(&project, "s1", "python3 x.py");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    let confined = project.onloop(&["confine", "--", "true"]);
    assert_ne!(confined.exit, Some(0), "{}", confined.stderr);
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
