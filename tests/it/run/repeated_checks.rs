//! Before a run counts as completed its machine checks are repeated.

use super::{command_below, project, run, standing};
use crate::workspace::Workspace;

/// The second step breaks what the first one made.
fn breaking() -> Workspace {
    project(
        "",
        "- [ ] **Step 1: Make**\naction: make it\nloop: false\nverify: test -e made\n\
         ```sh\ntouch made\n```\n\n\
         - [ ] **Step 2: Break**\naction: break it\nloop: false\nverify: test -e broke\n\
         ```sh\nrm made; touch broke\n```\n",
    )
}

#[test]
fn a_later_step_that_breaks_an_earlier_one_is_found() {
    let project = breaking();
    let run = run(&project, &[]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: failed, done");
    assert!(run.stderr.contains("passed before, but not after the last step"), "{}", run.stderr);
    assert!(run.stderr.contains("✗ test -e made\n"), "{}", run.stderr);
    let file = project.read(super::FILE);
    assert!(file.contains("- [ ] **Step 1") && file.contains("- [x] **Step 2"), "{file}");
    // Mended by hand, it is verified before anything is done again.
    project.write("made", "");
    project.shell(&command_below(&run, "then continue")).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.record()["steps"][0]["attempts"], 1);
}

#[test]
fn a_command_behind_a_bang_must_not_succeed_at_the_end() {
    let project = project(
        "",
        "- [ ] **Step 1: Rename**\naction: rename it\nloop: false\nverify: ! grep -q old names\n\
         ```sh\necho new >names\n```\n\n\
         - [ ] **Step 2: Add**\naction: add one\nloop: false\nverify: grep -q more names\n\
         ```sh\necho more old >>names\n```\n",
    );
    let run = run(&project, &[]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: failed, done");
    let why = "passed before, but not after the last step: exit code 1. A check of how things were \
               before the work has `expect: fail` instead of `!`";
    assert!(crate::flat(&run.stderr).contains(why), "{}", run.stderr);
}

#[test]
fn it_can_be_left_out() {
    let project = breaking();
    run(&project, &["--no-reverify"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    let report = project.read(&format!(".hotl/reports/{id}.md"));
    assert!(report.contains("were not repeated after the last step, as asked"), "{report}");
}

#[test]
fn checks_that_had_to_fail_are_not_repeated() {
    for red in [
        "verify: ! test -e made",
        "verify:\n  type: shell\n  command: test -e made\n  expect: fail",
    ] {
        let project = project(
            "",
            &format!(
                "- [ ] **Step 1: Red**\naction: see it fail\nloop: false\n{red}\n```sh\ntrue\n```\n\n\
                 - [ ] **Step 2: Green**\naction: make it\nloop: false\nverify: test -e made\n\
                 ```sh\ntouch made\n```\n"
            ),
        );
        run(&project, &[]).expect_exit(0);
        assert_eq!(standing(&project), "completed: done, done", "{red}");
    }
}
