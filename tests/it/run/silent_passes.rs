//! Verifications that other runtimes let pass without having verified anything. Each must be
//! refused, or really run.

use super::{project, run, standing};
use crate::workspace::{Run, Workspace};

/// Runs one step with this verify block, in a world where the step does nothing.
fn attempt(verify: &str) -> (Workspace, Run) {
    let project = project(
        "",
        &format!(
            "- [ ] **Step 1: Check**\naction: nothing\nloop: false\n{verify}\n```sh\ntrue\n```\n"
        ),
    );
    let run = run(&project, &[]);
    (project, run)
}

/// The verification ran, and it failed.
#[track_caller]
fn fails(verify: &str) {
    let (project, run) = attempt(verify);
    run.expect_exit(1);
    assert_eq!(standing(&project), "blocked: blocked", "{verify}");
}

/// The file is refused before anything happens.
#[track_caller]
fn is_refused(verify: &str) {
    let (project, run) = attempt(verify);
    let run = run.expect_exit(2);
    assert!(run.stderr.contains("error: `hotl-workflow-w.md` has "), "{verify}: {}", run.stderr);
    assert!(!project.path(".hotl").exists() && project.kept_ids().is_empty(), "{verify}");
}

#[test]
fn list_items_without_a_command_key_are_run() {
    fails("verify:\n  - true\n  - false");
    let (_, run) = attempt("verify:\n  - true\n  - test -d .");
    run.expect_exit(0);
}

#[test]
fn heredoc_commands_are_run_whole() {
    fails("verify: |\n  cat > seen <<'EOF'\n  one\n  EOF\n  grep -q two seen");
    fails("verify:\n  type: shell\n  command: |\n    sh <<'EOF'\n    exit 3\n    EOF");
}

#[test]
fn an_empty_verify_is_an_error() {
    is_refused("verify:");
    is_refused("verify:\n  type: shell");
    is_refused("verify:\n  type: shell\n  command:");
    is_refused("verify: |\n  # only a comment");
    is_refused("verify: >\n  # only\n\n  # comments");
    is_refused("verify:\n  type: shell\n  command: |\n    # only a comment");
    is_refused("verify:\n  - true\n  - type: shell\n    command: |\n      # only a comment");
    is_refused("verify: \"\"");
    is_refused("verify: []");
    is_refused("verify:\n  - type: shell\n    command: \"\"");
}

#[test]
fn an_unparsed_verify_is_an_error() {
    is_refused("verify:\n  kind: shell\n  cmd: true");
    is_refused("verify:\n  type: shel\n  command: true");
    is_refused("verify:\n  type: artifact\n  path: x\n  assert:\n    kind: exist");
    is_refused("verify:\n  type: artifact\n  assert:\n    kind: exists");
    is_refused("verify:\n  type: artifact\n  path: x\n  assert:\n    kind: contains");
    is_refused("verify:\n  type: browser\n  check: nice");
    is_refused(
        "verify:\n  type: artifact\n  path: x\n  assert:\n    kind: matches-glob\n    value: a/*.txt",
    );
}

#[test]
fn an_exit_of_the_command_does_not_end_us() {
    fails("verify: exit 3");
    fails("verify: exec false");
    fails("verify: kill -9 $$");
    let (_, run) = attempt("verify: exit 0");
    run.expect_exit(0);
}

#[test]
fn exit_code_200_is_a_failure_like_any_other() {
    let (project, run) = attempt("verify: exit 200");
    assert!(run.expect_exit(1).stderr.contains("exit code 200"));
    assert_eq!(standing(&project), "blocked: blocked");
}

#[test]
fn a_program_that_is_missing_has_not_failed_as_expected() {
    fails("verify:\n  type: shell\n  command: no-such-program\n  expect: fail");
    fails("verify:\n  type: shell\n  command: kill -9 $$\n  expect: fail");
}

#[test]
fn a_negated_command_keeps_its_negation() {
    fails("verify: ! true");
    let (_, run) = attempt("verify: ! false");
    run.expect_exit(0);
}

#[test]
fn the_last_of_several_lines_is_not_the_only_one_that_counts_when_it_says_so() {
    fails("verify:\n  - false\n  - true");
    fails("verify: false && true");
}
