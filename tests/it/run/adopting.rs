//! The workflow of a run in a worktree is edited where the person works.

use super::{FILE, workflow};
use crate::workspace::Workspace;

const STEPS: &str = "- [ ] **Step 1: First**\naction: go\nloop: false\nverify: true\ngate: human\n\
                     ```sh\ntrue\n```\n\n\
                     - [ ] **Step 2: Last**\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n";

/// A run in a worktree that waits at its gate, and the workflow file there, below the project.
fn started() -> (Workspace, String, String) {
    let project = Workspace::git();
    project.write(FILE, workflow("", STEPS));
    project.commit("Plan");
    project.onloop(&["run", "--mode", "worktree"]).expect_exit(3);
    let id = project.kept_ids().remove(0);
    let there = format!("../.hotl-worktrees/project/hotl-w/{FILE}");
    assert!(project.read(&there).contains("- [x] **Step 1"));
    (project, id, there)
}

fn edited() -> String {
    workflow(
        "",
        &STEPS.replace(
            "Last**\naction: go\nloop: false\nverify: true",
            "Last**\naction: go\nloop: false\nverify: test -e new",
        ),
    )
}

#[test]
fn an_edit_in_ones_own_checkout_is_noticed_and_offered() {
    let (project, id, there) = started();
    project.onloop(&["resume", &id]).expect_exit(3);
    project.write(FILE, edited());
    let file = project.path(FILE);
    let file = file.to_str().unwrap();
    let refused = project.onloop(&["resume", &id]).expect_exit(4);
    assert_eq!(
        crate::flat(&refused.stderr),
        format!(
            "error: the workflow file in your checkout, `{file}`, was edited since the run began ~ \
             Step 2: Last (verify changed) fix: use the edited file and keep the finished steps: \
             onloop resume {id} --adopt fix: continue with the plan that the run has: onloop resume \
             {id} --no-adopt fix: start anew with it: onloop run {file} --fresh"
        )
    );
    let left = project.onloop(&["resume", &id, "--no-adopt"]).expect_exit(3);
    assert!(left.stderr.starts_with("Not adopted: the workflow file in your checkout"), "{left:?}");
    assert!(!project.read(&there).contains("test -e new"));
    // An edit where the run works can be one of its agent: it does not come first.
    let more = "\n- [ ] **Step 3: More**\naction: go\nloop: false\nverify: test -e new\n";
    project.write(&there, project.read(&there) + more);
    let adopted = project.onloop(&["resume", &id, "--adopt"]).expect_exit(3);
    let said =
        format!("Adopted the edited workflow `{file}`:\n  ~ Step 2: Last (verify changed)\n");
    assert!(adopted.stderr.starts_with(&said), "{adopted:?}");
    assert!(!adopted.stderr.contains("More"), "{adopted:?}");
    let again = project.onloop(&["resume", &id, "--adopt"]).expect_exit(3);
    assert!(again.stderr.starts_with("Nothing was adopted: "), "{again:?}");
    // It is what the run goes by now, where it works, and is asked about no more.
    let copy = project.read(&there);
    assert!(copy.contains("test -e new") && copy.contains("- [x] **Step 1"), "{copy}");
    project.onloop(&["resume", &id]).expect_exit(3);
    project.onloop(&["gate", "1", "approved", "--run-id", &id]).expect_exit(0);
    let failed = project.onloop(&["resume", &id]).expect_exit(1);
    assert!(failed.stderr.contains("test -e new"), "{}", failed.stderr);
}

#[test]
fn after_an_edit_the_choices_are_named() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e done\n";
    let project = super::project("", steps);
    super::run(&project, &["--agent-command", "true"]).expect_exit(1);
    let id = project.kept_ids().remove(0);
    project.write(FILE, workflow("", &steps.replace("-e done", "-e new")));
    let next = project.onloop(&["next"]).expect_exit(0).stdout;
    let choices = format!(
        "blocked (step 1)\nonloop resume {id} --adopt\nonloop resume {id} --no-adopt\n\
         onloop step 1 reopen"
    );
    assert!(next.starts_with(&choices), "{next}");
    let status = project.onloop(&["status", &id]).expect_exit(0).stderr;
    let said = "\nThe workflow file was edited since the run began. ";
    assert!(status.starts_with(said), "{status}");
    assert!(!status.contains(&format!("onloop resume {id}\n")), "{status}");
    project.write("new", "");
    project.onloop(&["resume", &id, "--adopt"]).expect_exit(0);
}

#[test]
fn an_edit_with_errors_leaves_the_plan_that_the_run_has() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e done\n";
    let project = super::project("", steps);
    super::run(&project, &["--agent-command", "true"]).expect_exit(1);
    let id = project.kept_ids().remove(0);
    project.write(FILE, workflow("", &steps.replace("loop: false", "loop: nonsense")));
    let keep = format!("onloop resume {id} --no-adopt");
    let next = project.onloop(&["next"]).expect_exit(0).stdout;
    let choices = format!("blocked (step 1)\n{keep}\nonloop step 1 reopen");
    assert!(next.starts_with(&choices), "{next}");
    let status = project.onloop(&["status", &id]).expect_exit(0).stderr;
    assert!(status.contains(&keep) && !status.contains(" --adopt"), "{status}");
    for (words, exit) in [(&["resume", &id][..], 4), (&["resume", &id, "--adopt"][..], 2)] {
        let refused = project.onloop(words).expect_exit(exit).stderr;
        assert!(refused.contains("has errors now"), "{refused}");
        assert!(refused.contains(&keep), "{refused}");
    }
    project.write("done", "");
    let left = project.onloop(&["resume", &id, "--no-adopt"]).expect_exit(0);
    assert!(left.stderr.starts_with("Not adopted: the workflow file was edited"), "{left:?}");
}

#[test]
fn what_was_adopted_and_not_copied_is_copied_later() {
    let (project, id, there) = started();
    let before = project.read(&there);
    project.write(FILE, edited());
    project.onloop(&["resume", &id, "--adopt"]).expect_exit(3);
    // The power went in between.
    project.write(&there, before);
    project.onloop(&["resume", &id]).expect_exit(3);
    let copy = project.read(&there);
    assert!(copy.contains("test -e new") && copy.contains("- [x] **Step 1"), "{copy}");
}

#[test]
fn an_edit_in_the_worktree_does_not_make_one_of_the_original() {
    let (project, id, there) = started();
    project.write(&there, edited());
    let refused = project.onloop(&["resume", &id]).expect_exit(4);
    assert!(refused.stderr.starts_with("error: the workflow file was edited"), "{refused:?}");
    project.onloop(&["resume", &id, "--adopt"]).expect_exit(3);
    project.onloop(&["resume", &id]).expect_exit(3);
    // Other branches have other files, or none.
    std::fs::remove_file(project.path(FILE)).unwrap();
    project.onloop(&["resume", &id]).expect_exit(3);
    project.write(FILE, "half a fi");
    project.onloop(&["resume", &id]).expect_exit(3);
}
