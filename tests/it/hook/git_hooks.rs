//! Hooks of git among the files of the checkout.

use super::permission::tool;
use super::{bash, calls};
use crate::workspace::Workspace;
use serde_json::json;

#[test]
fn the_folder_of_hooks_is_not_written_wherever_it_is() {
    for (configured, hook) in [
        ("tools/hooks", "tools/hooks/pre-commit"),
        ("./.husky/_", ".husky/_/pre-commit"),
        (".", "pre-commit"),
    ] {
        let project = Workspace::git();
        project.write(hook, "#!/bin/sh\n");
        project.commit("Hooks");
        let write = |path: &str| {
            tool(&project, "Write", json!({ "file_path": project.path(path), "content": "x" }))
        };
        assert_ne!(write(hook), "deny", "{hook}");
        project.git_says(&["config", "core.hooksPath", configured]);
        assert_eq!(write(hook), "deny", "{hook}");
        assert_eq!(write("src/a"), "allow");
        for line in [format!("echo x > {hook}"), format!("sed -i s/a/b/ {hook}")] {
            assert_eq!(bash(&project, &line).0, "deny", "{line}");
        }
        assert_eq!(bash(&project, &format!("cat {hook}")).0, "allow");
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_a_hook_is_a_link_to_is_a_hook() {
    let project = Workspace::git();
    project.write("tools/check.sh", "#!/bin/sh\n");
    std::fs::create_dir_all(project.path(".git/hooks")).unwrap();
    std::os::unix::fs::symlink("../../tools/check.sh", project.path(".git/hooks/pre-commit"))
        .unwrap();
    assert_eq!(bash(&project, "echo x > tools/check.sh").0, "deny");
}

#[test]
fn hooks_and_settings_are_not_written_in_a_git_folder_of_another_name() {
    let project = Workspace::git();
    let run = project.shell("mv .git store && echo 'gitdir: store' > .git && git status --short");
    run.expect_exit(0);
    for path in ["store/hooks/pre-commit", "store/config"] {
        assert_eq!(bash(&project, &format!("echo x > {path}")).0, "deny", "{path}");
    }
}

#[test]
fn files_that_look_like_a_bare_repository_are_not_used_as_one() {
    let project = Workspace::plain();
    assert_eq!(bash(&project, "git status").0, "allow");
    let write = |path: &str| {
        tool(&project, "Write", json!({ "file_path": project.path(path), "content": "x" }))
    };
    assert_eq!(write("HEAD"), "allow");
    project.write("HEAD", "ref: refs/heads/main\n");
    project.write("config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch ran\n");
    project.write("objects/x", "");
    project.write("refs/x", "");
    // As git does, outside of onloop.
    project.git_says(&["status", "--short"]);
    assert!(project.path("ran").exists());
    std::fs::remove_file(project.path("ran")).unwrap();
    let said = calls(&project, "s1", "git status");
    assert!(said["hookSpecificOutput"]["updatedInput"].is_object(), "{said}");
    assert_ne!(bash(&project, "rm objects/x && git add .").0, "allow");
    assert!(!project.path("ran").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_contained_line_adds_no_hook_to_the_top_folder() {
    let project = Workspace::git();
    project.write("mk.py", "open('pre-commit', 'w').write('evil')\n");
    project.commit("Program");
    project.git_says(&["config", "core.hooksPath", "."]);
    let said = calls(&project, "s1", "python3 mk.py");
    let line = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned();
    project.command_at(".", "bash").args(["-c", &line]).status().unwrap();
    assert!(!project.path("pre-commit").exists() || project.read("pre-commit").is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_contained_line_changes_no_hook() {
    let project = Workspace::git();
    project.write(".husky/_/pre-commit", "#!/bin/sh\n");
    project.write(".husky/pre-commit", "#!/bin/sh\n");
    project.write("mk.py", "open('.husky/pre-commit', 'w').write('evil')\n");
    project.commit("Hooks");
    project.git_says(&["config", "core.hooksPath", ".husky/_"]);
    let said = calls(&project, "s1", "python3 mk.py");
    let line = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned();
    project.command_at(".", "bash").args(["-c", &line]).status().unwrap();
    assert_eq!(project.read(".husky/pre-commit"), "#!/bin/sh\n");
}
