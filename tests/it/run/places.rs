//! Where a run works: worktree, branch, the checkout as it is, or no git at all.

use super::{FILE, standing, workflow};
use crate::workspace::Workspace;

const ONE_STEP: &str = "\
- [ ] **Step 1: Write**
action: write it
loop: false
verify: test -s out.txt
```sh
echo done > out.txt
```
";

fn repository() -> Workspace {
    let project = Workspace::git();
    project.write(FILE, workflow("", ONE_STEP));
    project
}

#[test]
fn a_worktree_keeps_the_checkout_as_it_was() {
    let project = repository();
    let run = project.onloop(&["run", FILE]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    let worktree = project.worktree("hotl/w");
    let told = worktree.canonicalize().unwrap();
    assert!(run.stderr.contains(&*told.to_string_lossy()), "{}", run.stderr);
    assert!(worktree.join("out.txt").is_file());
    assert!(!project.path("out.txt").exists());
    assert_eq!(project.git_says(&["branch", "--show-current"]), "main");
    assert_eq!(project.git_says(&["status", "--porcelain"]), format!("?? {FILE}"));
    assert!(project.read(FILE).contains("- [ ] **Step 1"), "the source file is left alone");
    let copy = std::fs::read_to_string(worktree.join(FILE)).unwrap();
    assert_eq!(copy, project.read(FILE).replace("- [ ]", "- [x]"));
}

#[test]
#[ignore = "only with --all"]
fn what_is_advised_instead_of_a_lost_worktree_keeps_the_agent() {
    let project = repository();
    project.onloop(&["run", FILE]).expect_exit(0);
    let line =
        ["run", FILE, "--fresh", "--on-existing", "recreate", "--agent-command", "echo > out.txt"];
    let refused = project.onloop(&line).expect_exit(4);
    let fresh = super::command_below(&refused, "the next free name");
    assert_eq!(fresh, format!("onloop run --fresh {FILE} --agent-command 'echo > out.txt'"));
    project.shell(&fresh).expect_exit(0);
}

#[test]
fn a_branch_in_place() {
    let project = repository();
    project.onloop(&["run", FILE, "--mode", "branch"]).expect_exit(0);
    assert_eq!(project.git_says(&["branch", "--show-current"]), "hotl/w");
    assert_eq!(project.read("out.txt"), "done\n");
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn the_checkout_as_it_is() {
    let project = repository();
    let refused = project.onloop(&["run", FILE, "--mode", "host"]).expect_exit(4);
    assert!(crate::flat(&refused.stderr).contains("main"), "{}", refused.stderr);
    assert!(!project.path(".hotl").exists(), "a refusal leaves nothing behind");
    project.git_says(&["switch", "--quiet", "--create", "topic"]);
    project.onloop(&["run", FILE, "--mode", "host"]).expect_exit(0);
    assert_eq!(project.git_says(&["branch", "--show-current"]), "topic");
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn no_git_at_all() {
    let project = Workspace::plain();
    project.write(FILE, workflow("", ONE_STEP));
    project.onloop(&["run"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    assert!(!project.path(".git").exists());
}

#[test]
fn a_repository_without_a_commit() {
    let project = Workspace::without_commit();
    project.write(FILE, workflow("", ONE_STEP));
    project.onloop(&["run"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn git_never_sees_the_records() {
    for mode in ["branch", "host", "none"] {
        let project = repository();
        project.git_says(&["switch", "--quiet", "--create", "topic"]);
        project.commit("Add the workflow");
        project.onloop(&["run", FILE, "--mode", mode]).expect_exit(0);
        assert!(project.path(".hotl/state").is_dir());
        let status = project.git_says(&["status", "--porcelain", "--untracked-files=all"]);
        assert!(!status.contains(".hotl"), "{mode}: {status}");
        project.git_says(&["add", "--all"]);
        assert!(!project.git_says(&["ls-files"]).contains(".hotl"), "{mode}");
    }
}

#[test]
fn records_are_not_written_through_a_link() {
    let project = repository();
    std::fs::create_dir(project.path("../elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", project.path(".hotl")).unwrap();
    let run = project.onloop(&["run", FILE, "--mode", "none"]).expect_exit(4);
    assert!(crate::flat(&run.stderr).contains(".hotl"), "{}", run.stderr);
    let left = std::fs::read_dir(project.path("../elsewhere")).unwrap().count();
    assert_eq!(left, 0, "something was written through the link");
    assert!(!project.path("out.txt").exists(), "nothing ran");
}

#[test]
fn runs_of_one_second_have_different_names() {
    let project = Workspace::plain().with_env("ONLOOP_NOW", "2026-03-20T21:23:15Z");
    project.write(FILE, workflow("", ONE_STEP));
    for _ in 0..3 {
        project.onloop(&["run"]).expect_exit(0);
    }
    let ids: Vec<String> =
        project.records().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
    let stamp = "w-20260320T212315Z";
    assert_eq!(ids, [format!("{stamp}-2"), format!("{stamp}-3"), stamp.to_owned()]);
}

#[test]
fn two_workflows_that_begin_at_once_do_not_share_a_record() {
    let project = Workspace::plain().with_env("ONLOOP_NOW", "2026-03-20T21:23:15Z");
    let steps = ONE_STEP.replace("test -s out.txt", "true");
    project.write(FILE, workflow("", &steps));
    let runs: Vec<_> =
        (0..4).map(|_| super::begin(&project, &["run", "--fresh", "--mode", "none"])).collect();
    for run in runs {
        super::output_of(run).expect_exit(0);
    }
    assert_eq!(project.records().len(), 4);
}
