//! A person changes what the steps at work began with.

use super::endings::drivers;
use super::{SHARED, Step, forks, project, run, shared, worktrees};
use crate::run::{FILE, wait_until};
use crate::workspace::Workspace;

/// A gate, two steps beside it that wait until the file `go` is there, and a last step.
fn at_a_gate() -> Workspace {
    let script = |me: &str| {
        format!("touch {SHARED}/{me}; until test -e {SHARED}/go; do sleep 0.02; done; touch {me}")
    };
    let project = project(
        "max_parallel: 3\n",
        &[
            Step("gate: human\nloop: until it is there\n", "test -e a", "touch a"),
            Step("depends_on: []\n", "test -e b", &script("b")),
            Step("depends_on: []\n", "test -e c", &script("c")),
            Step("depends_on: [1, 2, 3]\n", "true", "echo old > last"),
        ],
    );
    run(&project, &[]).expect_exit(3);
    wait_until("both work", || shared(&project, "b").exists() && shared(&project, "c").exists());
    project
}

fn approve_and_resume(project: &Workspace, options: &[&str]) -> String {
    project.onloop(&["approve", "w"]).expect_exit(0);
    std::fs::write(shared(project, "go"), "").unwrap();
    let said = project.onloop(&[&["resume"], options].concat()).expect_exit(0).stderr;
    assert_eq!(forks(project), ["done merged", "done merged", "done merged", "done -"]);
    assert_eq!(worktrees(project), 2, "{}", project.git_says(&["worktree", "list"]));
    said
}

#[test]
fn undo_stops_the_steps_at_work_and_they_begin_anew() {
    let project = at_a_gate();
    let said = project.onloop(&["undo", "0"]).expect_exit(0).stderr;
    assert!(said.contains("Begun anew when the run continues, in new worktrees: steps 2 and 3"));
    assert_eq!(drivers(&project), [] as [i32; 0]);
    let said = project.onloop(&["resume"]).expect_exit(3).stderr;
    let dropped = "· Step 2: Its own worktree is dropped: what it was based on was undone";
    assert!(said.contains(dropped), "{said}");
    approve_and_resume(&project, &[]);
}

/// The check of the first step holds without its work, so that nothing does it again.
#[test]
#[ignore = "only with --all"]
fn the_steps_beside_begin_without_what_was_undone() {
    let waits = |me: &str| format!("until test -e {SHARED}/go; do sleep 0.02; done; touch {me}");
    let project = project(
        "max_parallel: 3\n",
        &[
            Step("gate: human\n", "true", "touch undone"),
            Step("depends_on: []\n", "test -e b -a ! -e undone", &waits("b")),
            Step("depends_on: []\n", "test -e c -a ! -e undone", &waits("c")),
        ],
    );
    run(&project, &[]).expect_exit(3);
    project.onloop(&["undo", "0"]).expect_exit(0);
    project.onloop(&["resume"]).expect_exit(3);
    project.onloop(&["approve", "w"]).expect_exit(0);
    std::fs::write(shared(&project, "go"), "").unwrap();
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged", "done merged"]);
    let worktree = project.worktree("hotl/w");
    let names = ["b", "c", "undone"].map(|name| worktree.join(name).exists());
    assert_eq!(names, [true, true, false]);
}

#[test]
#[ignore = "only with --all"]
fn an_edited_workflow_is_adopted_and_the_steps_at_work_begin_anew() {
    let project = at_a_gate();
    let file = project.worktree("hotl/w").join(FILE);
    let edited = std::fs::read_to_string(&file).unwrap().replace("echo old", "echo new");
    std::fs::write(&file, edited).unwrap();
    let said = approve_and_resume(&project, &["--adopt"]);
    let dropped = "· Step 2: Its own worktree is dropped: the workflow was edited";
    assert!(said.contains(dropped), "{said}");
    let last = std::fs::read_to_string(project.worktree("hotl/w").join("last")).unwrap();
    assert_eq!(last, "new\n");
}
