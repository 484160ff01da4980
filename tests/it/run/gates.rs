//! Who approves a step, and what a decision does.

use super::{command_below, decide_and_resume, project, run, standing};
use crate::workspace::Workspace;

/// Two steps; the first has these further lines.
fn gated(front: &str, first: &str) -> Workspace {
    project(
        front,
        &format!(
            "- [ ] **Step 1: First**\naction: go\nloop: false\n{first}\n```sh\necho x >> first\n```\n\n\
             - [ ] **Step 2: Second**\naction: go\nloop: false\nverify: test -e first\n\
             ```sh\necho x >> second\n```\n"
        ),
    )
}

#[test]
fn a_human_gate_pauses_and_the_printed_command_goes_on() {
    let project = gated("", "verify: test -e first\ngate: human");
    let paused = run(&project, &[]).expect_exit(3);
    assert_eq!(standing(&project), "paused: done, pending");
    assert!(!project.path("second").exists());
    assert!(paused.stderr.contains("Report: "), "{}", paused.stderr);
    let command = command_below(&paused, "Approve and continue");
    let approved = project.shell(&command).expect_exit(0);
    assert_eq!(approved.stdout, "gate 1: approved (human)\n");
    let further = command_below(&approved, "Continue the run (`run.continue: never`)");
    project.shell(&further).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.read("first"), "x\n", "nothing was done twice");
}

#[test]
fn resuming_does_not_decide() {
    let project = gated("", "verify: test -e first\ngate: human");
    run(&project, &[]).expect_exit(3);
    for _ in 0..2 {
        project.onloop(&["resume"]).expect_exit(3);
        assert_eq!(standing(&project), "paused: done, pending");
    }
}

#[test]
fn a_rejected_gate_blocks_and_can_be_turned_around() {
    let project = gated("", "verify: test -e first\ngate: human");
    let paused = run(&project, &[]).expect_exit(3);
    assert!(command_below(&paused, "Reject").ends_with(" --reason TEXT"));
    let rejected = project.onloop(&["gate", "1", "rejected"]).expect_exit(0);
    assert_eq!(rejected.stdout, "gate 1: rejected (human)\n");
    assert_eq!(standing(&project), "blocked: done, pending");
    let still = project.onloop(&["resume"]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: done, pending", "resuming is no approval");
    decide_and_resume(&project, &still, "Approve after all").expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
}

#[test]
fn a_rejection_with_a_reason_ends_the_run() {
    let project = gated("", "verify: test -e first\ngate: human");
    run(&project, &[]).expect_exit(3);
    for refused in [["approved", "--reason", "x"], ["rejected", "--reason", " "]] {
        project.onloop(&[&["gate", "1"][..], &refused].concat()).expect_exit(1);
        assert_eq!(standing(&project), "paused: done, pending", "{refused:?}");
    }
    let auto = ["gate", "1", "rejected", "--mode", "auto", "--reason", "x"];
    project.onloop(&auto).expect_exit(1);
    let rejected = project.onloop(&["gate", "1", "rejected", "--reason", "not needed"]);
    assert_eq!(rejected.expect_exit(0).stdout, "gate 1: rejected (human)\n");
    assert_eq!(standing(&project), "abandoned: done, pending");
    assert_eq!(project.record()["steps"][0]["gate_result"], "rejected");
    assert_ne!(project.onloop(&["gate", "1", "approved"]).exit, Some(0));
}

#[test]
fn who_is_asked() {
    let human = "verify: test -e first\ngate: human";
    let secret = "verify: test -e first # password\ngate: human";
    let auto = "verify: test -e first\ngate: auto";
    let table: &[(&str, &str, &[&str], i32)] = &[
        ("", human, &[], 3),
        ("auto_approve: true\n", human, &[], 0),
        ("", human, &["--auto-approve"], 0),
        ("auto_approve: true\nrisk_level: high\n", human, &[], 3),
        ("risk_level: high\n", human, &["--auto-approve"], 3),
        ("auto_approve: true\n", secret, &[], 3),
        ("", secret, &["--auto-approve"], 3),
        ("", auto, &[], 0),
        ("", "verify: test -e first", &[], 0),
    ];
    for (front, first, arguments, exit) in table {
        let project = gated(front, first);
        let run = run(&project, arguments);
        assert_eq!(run.exit, Some(*exit), "{front}{first} {arguments:?}: {}", run.stderr);
        let mode = &project.record()["steps"][0]["gate_mode"];
        let expected = if *exit == 0 && first.contains("gate") { "auto" } else { "" };
        assert_eq!(mode.as_str().unwrap_or(""), expected, "{front}{first}");
    }
}

#[test]
fn the_rules_cannot_be_claimed_from_outside() {
    for (front, first) in [
        ("risk_level: high\n", "verify: test -e first\ngate: human"),
        ("", "verify: test -e first\ngate: human"),
        ("auto_approve: true\n", "verify:\n  type: human-review\n  prompt: nice?"),
    ] {
        let project = gated(front, first);
        run(&project, &[]).expect_exit(3);
        let before = standing(&project);
        let refused = project.onloop(&["gate", "1", "approved", "--mode", "auto"]).expect_exit(1);
        assert!(crate::flat(&refused.stderr).contains("human"), "{}", refused.stderr);
        assert_eq!(standing(&project), before);
    }
}

const REVIEW_FIRST: &str = "verify:\n  - type: human-review\n    prompt: is it nice?\n  \
                            - type: shell\n    command: test -e good";

#[test]
fn a_person_is_not_asked_about_what_a_machine_refuses() {
    let project = gated("", REVIEW_FIRST);
    run(&project, &[]).expect_exit(1);
    assert_eq!(standing(&project), "blocked: blocked, pending");
    let approved = project.onloop(&["gate", "1", "approved"]).expect_exit(1);
    assert!(crate::flat(&approved.stderr).contains("step 1 is `blocked`"), "{}", approved.stderr);
}

#[test]
fn approving_a_review_skips_no_check() {
    let project = gated("", REVIEW_FIRST);
    project.write("good", "");
    let paused = run(&project, &[]).expect_exit(3);
    assert!(paused.stderr.contains("To review: is it nice?"), "{}", paused.stderr);
    let checks = project.record()["steps"][0]["verify"]["checks"].clone();
    assert_eq!(checks[1]["passed"], true, "the machine check was evaluated: {checks}");
    decide_and_resume(&project, &paused, "Approve and continue").expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
    // What no longer holds at the end is found, approved or not.
    let project = gated("", REVIEW_FIRST);
    project.write("good", "");
    let paused = run(&project, &[]).expect_exit(3);
    std::fs::remove_file(project.path("good")).unwrap();
    decide_and_resume(&project, &paused, "Approve and continue").expect_exit(1);
    assert_eq!(standing(&project), "blocked: failed, done");
}

#[test]
fn a_rejected_review_can_be_approved_later() {
    let project = gated("", "verify:\n  type: human-review\n  prompt: nice?");
    run(&project, &[]).expect_exit(3);
    project.onloop(&["gate", "1", "rejected"]).expect_exit(0);
    assert_eq!(standing(&project), "blocked: blocked, pending");
    let still = project.onloop(&["resume"]).expect_exit(1);
    decide_and_resume(&project, &still, "Approve after all").expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
}

#[test]
fn a_rejected_step_can_be_done_again_for_a_reason() {
    let project = gated("", "verify: test -e first\ngate: human");
    let line = "cat > asked-$ONLOOP_STEP; echo x >> first; echo x >> second";
    run(&project, &["--agent-command", line]).expect_exit(3);
    let gate = |words: &[&str]| project.onloop(&[&["gate", "1"][..], words].concat());
    let said = gate(&["approved", "--redo", "--reason", "x"]).expect_exit(1).stderr;
    assert!(said.starts_with("error: `--redo` needs `rejected` and a reason"), "{said}");
    gate(&["rejected", "--redo"]).expect_exit(2);
    let redone = gate(&["rejected", "--redo", "--reason", "shorter\nplease"]).expect_exit(0);
    assert_eq!(redone.stdout, "step 1: to be done again\n");
    assert_eq!(standing(&project), "running: pending, pending");
    project.onloop(&["resume", "--agent-command", line]).expect_exit(3);
    assert_eq!(standing(&project), "paused: done, pending");
    let asked = project.read("asked-1");
    let expected = "The attempt before failed: it has to be done again: shorter please\n";
    assert!(asked.contains(expected), "{asked}");
    gate(&["approved"]).expect_exit(0);
    let said = gate(&["rejected", "--redo", "--reason", "late"]).expect_exit(1).stderr;
    let first = said.lines().next();
    assert_eq!(first, Some("error: step 1 is `done`, expected a step that waits for a decision"));
    project.onloop(&["resume", "--agent-command", line]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done");
}
