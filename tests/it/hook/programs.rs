//! Programs that folders of `PATH` lead to, where an agent may have written them.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use super::nested::decided;
use super::{calls, never_started};
use crate::workspace::Workspace;

/// Whether a call runs as it is, unconfined and unasked.
fn is_open(said: &Value) -> bool {
    said["permissionDecision"] == "allow" && said["updatedInput"].is_null()
}

#[test]
fn programs_of_the_checkout_are_contained_where_the_search_path_leads_to_them() {
    let path = format!("./bin:{}", std::env::var("PATH").unwrap());
    let project = Workspace::git().with_env("PATH", &path);
    let is_contained = |line: &str| {
        let said = calls(&project, "s1", line);
        never_started(&project);
        said["hookSpecificOutput"]["updatedInput"].is_object()
    };
    assert!(!is_contained("nl README.md"));
    project.write("bin/nl", "#!/bin/sh\n");
    assert!(is_contained("nl README.md"));
    assert!(!is_contained("tac README.md"));
    // `zcat` is a script that starts it.
    project.write("bin/gzip", "#!/bin/sh\n");
    assert!(is_contained("zcat a.gz") && is_contained("tac README.md"));
    project.write("tests/run.sh", "#!/bin/sh\n");
    assert!(is_contained("./tests/run.sh"));
}

#[test]
fn a_line_starts_no_program_unconfined_that_it_has_made_itself() {
    let project = Workspace::git();
    let top = project.path(".").canonicalize().unwrap();
    let path = format!("{}/bin:{}", top.display(), std::env::var("PATH").unwrap());
    let project = project.with_env("PATH", &path);
    project.write("README.md", "x\n");
    project.commit("Start");
    project.git_says(&["switch", "-q", "-c", "evil"]);
    project.write("bin/nl", "#!/bin/sh\n");
    project.commit("Program");
    project.git_says(&["switch", "-q", "-c", "topic", "main"]);
    for line in [
        "echo x > bin/nl && chmod +x bin/nl && nl README.md",
        "mkdir -p bin; cp README.md bin/nl; nl README.md",
        "cd bin; echo x > nl; nl x",
        "cp -r /usr/share/x/. . && nl README.md",
        "echo x | tee bin/nl; nl README.md",
        "git pull -q && date",
        "git merge -q evil && nl README.md",
        "git checkout -q evil -- . && nl README.md",
        "git switch -q evil; nl README.md",
    ] {
        let said = calls(&project, "s1", line);
        never_started(&project);
        let said = &said["hookSpecificOutput"];
        let is_open = is_open(said);
        assert!(!is_open, "{line}: {said}");
    }
    for line in [
        "git add . && git commit -qm x && git push origin topic",
        "echo x > notes && git add notes && nl README.md",
        "echo x > bin/nl",
        "git diff",
    ] {
        let said = calls(&project, "s1", line);
        let said = &said["hookSpecificOutput"];
        let is_open = is_open(said);
        assert!(is_open, "{line}: {said}");
    }
    // What settings name, git starts.
    project.write("bin/difft", "#!/bin/sh\n");
    project.git_says(&["config", "diff.external", "'difft' -b a"]);
    for (line, is_contained) in [("git diff", true), ("nl README.md", false)] {
        let said = calls(&project, "s1", line);
        never_started(&project);
        let contained = said["hookSpecificOutput"]["updatedInput"].is_object();
        assert_eq!(contained, is_contained, "{line}: {said}");
    }
}

#[test]
fn a_hook_starts_no_program_of_the_checkout() {
    let project = Workspace::git();
    let folder = project.path("bin").to_str().unwrap().to_owned();
    for name in ["git", "claude", "nl"] {
        project.write(&format!("bin/{name}"), "#!/bin/sh\necho allow; touch ran ../ran\n");
        let mode = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(project.path(&format!("bin/{name}")), mode).unwrap();
    }
    project.write("f", "text\n");
    project.commit("Programs");
    let behind = std::env::var("PATH").unwrap();
    symlink(project.path("."), project.path("../link")).unwrap();
    let linked = project.path("../link/bin").to_str().unwrap().to_owned();
    // Programs that are links, and those of another worktree.
    let beside = project.path("../home/bin");
    std::fs::create_dir_all(&beside).unwrap();
    for name in ["git", "claude", "nl"] {
        symlink(project.path(&format!("bin/{name}")), beside.join(name)).unwrap();
    }
    project.git_says(&["worktree", "add", "-q", "-b", "other", "../other"]);
    let other = project.path("../other/bin").canonicalize().unwrap();
    let (beside, other) = (beside.to_str().unwrap(), other.to_str().unwrap());
    let mut project = project;
    for path in [&folder, &linked, "./bin", beside, other] {
        project = project.with_env("PATH", &format!("{path}:{behind}"));
        for line in ["rm f && nl README.md", "kill 5", "git commit --allow-empty -m x", "nl f"] {
            let said = calls(&project, "s1", line);
            let said = &said["hookSpecificOutput"];
            let is_open = is_open(said);
            assert!(!is_open, "{path}: {line}: {said}");
            assert!(!project.path("ran").exists(), "{path}: {line}");
        }
    }
}

#[test]
fn programs_of_the_main_checkout_are_not_started_in_a_worktree() {
    let project = Workspace::git();
    project.write("README.md", "x\n");
    project.commit("Start");
    let bin = project.path("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    project.git_says(&["worktree", "add", "-q", "-b", "other", "../other"]);
    let ran = project.path("ran").display().to_string();
    project.write("bin/nl", "#!/bin/sh\n");
    project.write("bin/git", format!("#!/bin/sh\ntouch {ran}\n"));
    project.shell("chmod +x bin/*").expect_exit(0);
    let project = project.with_env("PATH", &path);
    for line in ["nl README.md", "git status", "rm README.md"] {
        let said = decided(&project, "../other", None, line);
        never_started(&project);
        let is_open = is_open(&said);
        assert!(!is_open, "{line}: {said}");
        assert!(!project.path("ran").exists(), "{line}");
    }
}

#[test]
fn what_settings_of_git_run_is_not_written() {
    let project = Workspace::git();
    for file in ["clean.sh", "diff", "ssh", "edit", "free", "driver.py", "a b", "top.sh"] {
        project.write(&format!("tools/{file}"), "#!/bin/sh\n");
    }
    project.write("top", "#!/bin/sh\n");
    project.commit("Tools");
    project.git_says(&["switch", "-q", "-c", "evil"]);
    project.write("tools/clean.sh", "#!/bin/sh\nid\n");
    project.commit("Change");
    project.git_says(&["switch", "-q", "main"]);
    let decided = |line: &str| {
        let said = calls(&project, "s1", line)["hookSpecificOutput"].clone();
        let decision = said["permissionDecision"].as_str().unwrap_or_default().to_owned();
        if said["updatedInput"].is_object() { "contained".to_owned() } else { decision }
    };
    let paths = [
        "tools/clean.sh",
        "tools/diff",
        "tools/ssh",
        "tools/edit",
        "top",
        "tools/driver.py",
        "tools/'a b'",
        "tools/top.sh",
    ];
    for path in paths {
        assert_eq!(decided(&format!("echo x > {path}")), "allow", "{path}");
    }
    project.git_says(&["config", "filter.f.clean", "./tools/clean.sh"]);
    project.git_says(&["config", "diff.m.textconv", "sh -c 'tools/diff --plain'"]);
    project.git_says(&["config", "core.sshCommand", project.path("tools/ssh").to_str().unwrap()]);
    project.git_says(&["config", "credential.helper", "!./tools/edit"]);
    project.git_says(&["config", "gpg.program", "sh top"]);
    project.git_says(&["config", "merge.m.driver", "python3 -m tools.driver %A %B"]);
    project.git_says(&["config", "filter.f.smudge", "'./tools/a b' %f"]);
    let found = "\"$(git rev-parse --show-toplevel)/tools/top.sh\"";
    project.git_says(&["config", "filter.f.process", found]);
    for path in paths {
        assert_eq!(decided(&format!("echo x > {path}")), "deny", "{path}");
    }
    assert_eq!(decided("printf x > tools/clean.sh; git status"), "deny");
    assert_eq!(decided("git merge evil"), "ask");
    assert_eq!(decided("echo x > tools/free && git status"), "allow");
    // Other programs have variables of this kind.
    for variable in ["KUBECONFIG", "RIPGREP_CONFIG_PATH", "BASH_ENV", "GIT_SSH_COMMAND"] {
        let project = Workspace::git();
        project.write("tools/free", "");
        let own = project.path("tools/free").canonicalize().unwrap();
        let project = project.with_env(variable, own.to_str().unwrap());
        let said = calls(&project, "s1", "echo x > tools/free");
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny", "{variable}: {said}");
    }
}
