//! What is said while something takes longer than a moment, to whoever sees no status line.

use std::os::unix::fs::PermissionsExt;

use super::{FILE, project, run, workflow};
use crate::workspace::Workspace;

const STEP: &str =
    "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n";

#[test]
#[ignore = "only with --all"]
fn a_slow_git_says_what_it_does_and_a_quick_one_nothing() {
    let project = Workspace::git();
    project.write(FILE, workflow("", STEP));
    project.commit("Plan");
    let quick = project.onloop(&["run", "--mode", "branch"]).expect_exit(0);
    assert!(!quick.stderr.contains(" …\n"), "{}", quick.stderr);
    let slow = "#!/bin/sh\ncase \"$*\" in *write-tree*) test -e ../slept || { touch ../slept; sleep 4; };; esac\n\
                exec \"$(PATH=\"${PATH#*:}\" command -v git)\" \"$@\"\n";
    project.write("../bin/git", slow);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/git"), mode).unwrap();
    let slow = project.onloop(&["run", "--mode", "branch", "--fresh", "--on-existing", "reuse"]);
    let slow = slow.expect_exit(0);
    assert!(project.path("../slept").exists());
    assert!(slow.stderr.contains("\n  keeping the work …\n"), "{}", slow.stderr);
}

#[test]
fn a_long_list_of_checks_says_how_far_it_is() {
    let step = STEP.replace(
        "verify: true",
        "verify:\n  - type: shell\n    command: sleep 1.2\n  - type: shell\n    command: true\n  - type: \
         artifact\n    path: .\n    assert:\n      kind: exists",
    );
    let project = project("", &step);
    let told = run(&project, &["--no-reverify"]).expect_exit(0);
    let lines: Vec<&str> = told.stderr.lines().filter(|line| line.contains("/3 ")).collect();
    assert_eq!(lines.len(), 1, "{}", told.stderr);
    assert!(lines[0].starts_with("    ✓ 1/3 command sleep 1.2 (1."), "{lines:?}");
}
