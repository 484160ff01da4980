//! Verification commands, the worst ones included.

use super::agents::assert_gone;
use super::{project, run, standing};
use crate::workspace::Workspace;

/// One step whose script does nothing, and this verify block.
fn verified_by(verify: &str) -> Workspace {
    project(
        "",
        &format!(
            "- [ ] **Step 1: Check**\naction: nothing\nloop: false\n{verify}\n```sh\ntrue\n```\n"
        ),
    )
}

#[test]
fn a_check_has_limited_time() {
    let project = verified_by("verify: sleep 600");
    let run = run(&project, &["--verify-timeout", "200ms"]).expect_exit(1);
    assert!(run.stderr.contains("verify failed: timed out after 200 ms"), "{}", run.stderr);
    assert_eq!(standing(&project), "blocked: blocked");
}

#[test]
fn a_check_that_ignores_sigterm_is_ended_with_its_children() {
    // The second limit is for a machine too busy to start the check within the first.
    let checked = ["300ms", "20s"].into_iter().find_map(|limit| {
        let verify = "verify: trap '' TERM; (trap '' TERM; echo $$ > pid; sleep 600) & sleep 600";
        let project = verified_by(verify);
        run(&project, &["--verify-timeout", limit]).expect_exit(1);
        project.path("pid").exists().then_some(project)
    });
    assert_gone(&checked.expect("the check was started"), "pid");
}

#[test]
fn a_check_that_leaves_a_daemon_is_judged_by_its_own_end() {
    let project = verified_by("verify: (sleep 600 & echo $! > pid) ; echo fine");
    run(&project, &[]).expect_exit(0);
    assert_gone(&project, "pid");
    let project = verified_by("verify: setsid sh -c 'echo $$ > pid; sleep 600' & exit 7");
    let run = run(&project, &[]).expect_exit(1);
    assert!(run.stderr.contains("exit code 7"), "{}", run.stderr);
}

#[test]
fn a_check_has_nothing_to_read() {
    let project = verified_by("verify: test \"$(cat | wc -c)\" -eq 0");
    run(&project, &[]).expect_exit(0);
}

#[test]
fn a_check_that_never_stops_talking_is_cut_in_the_middle() {
    let project = verified_by(
        "verify: echo the beginning; head -c 50000000 /dev/zero | tr '\\0' x; echo the end; exit 1",
    );
    let run = run(&project, &[]).expect_exit(1);
    let output = project.record()["steps"][0]["verify"]["stdout"].as_str().unwrap().to_owned();
    assert!(output.starts_with("the beginning"), "{output:.100}");
    assert!(output.ends_with("the end\n"));
    assert!(output.contains("bytes not"), "the cut is said");
    assert!(output.len() < 64 * 1024, "{}", output.len());
    assert!(run.stderr.len() < 64 * 1024);
}

/// But for the mark by which what a check has started is found again.
#[test]
fn a_check_does_not_see_our_variables() {
    let project =
        verified_by("verify: env > seen; ! grep -E '^(ONLOOP|HOTL|HANDSOFF)_|^GIT_DIR=' seen | grep -v '^ONLOOP_WORK='")
            .with_env("ONLOOP_AGENT", "script")
            .with_env("HOTL_RUN_ID", "x-1")
            .with_env("HANDSOFF_MODE", "1")
            .with_env("GIT_DIR", "/nowhere")
            .with_env("KEPT", "yes");
    run(&project, &[]).expect_exit(0);
    assert!(project.read("seen").contains("KEPT=yes\n"));
}

#[test]
fn a_check_runs_where_and_how_it_says() {
    let project = verified_by(
        "verify:\n  type: shell\n  command: test \"$PWD\" = \"$ROOT/sub\" && test \"$COLOUR\" = red\n  \
         cwd: sub\n  env:\n    COLOUR: red\n  timeout: 20s",
    );
    project.write("sub/x", "");
    let root = project.path(".").canonicalize().unwrap();
    let project = project.with_env("ROOT", root.to_str().unwrap());
    run(&project, &[]).expect_exit(0);
}

#[test]
fn artifacts_are_looked_for_below_the_root_only() {
    let table = [
        ("path: out/a.txt\n  assert:\n    kind: exists", 0),
        ("path: out/b.txt\n  assert:\n    kind: exists", 1),
        ("path: out/a.txt\n  assert:\n    kind: contains\n    value: needle", 0),
        ("path: out/a.txt\n  assert:\n    kind: contains\n    value: thread", 1),
        ("path: out\n  assert:\n    kind: matches-glob\n    value: \"*.txt\"", 0),
        ("path: out\n  assert:\n    kind: matches-glob\n    value: \"*.md\"", 1),
        ("path: link/passwd\n  assert:\n    kind: exists", 1),
    ];
    for (artifact, exit) in table {
        let project = verified_by(&format!("verify:\n  type: artifact\n  {artifact}"));
        project.write("out/a.txt", "a needle\n");
        std::os::unix::fs::symlink("/etc", project.path("link")).unwrap();
        run(&project, &[]).expect_exit(exit);
    }
}

#[test]
fn an_artifact_of_another_kind_is_a_failed_check() {
    let table = [
        ("out/a.txt", "matches-glob\n    value: \"*.txt\"", "is a file, not a folder: out/a.txt"),
        ("out", "contains\n    value: a", "is a folder, not a file: out"),
        ("out/a.txt/b", "exists", "missing: out/a.txt/b"),
    ];
    for (path, kind, reason) in table {
        let check = format!("path: {path}\n  assert:\n    kind: {kind}");
        let project = verified_by(&format!("verify:\n  type: artifact\n  {check}"));
        project.write("out/a.txt", "a\n");
        let run = run(&project, &[]).expect_exit(1);
        assert!(run.stderr.contains(&format!("artifact {reason}")), "{run:?}");
    }
}

const PAGE: &str = "verify:\n  type: browser\n  url: http://127.0.0.1:9/\n  check: the page greets";

#[test]
fn a_page_is_looked_at_by_a_person_where_no_checker_is_configured() {
    let project = verified_by(PAGE);
    let run = run(&project, &[]).expect_exit(3);
    assert_eq!(standing(&project), "paused: blocked");
    assert!(run.stderr.contains("browser verify requested for http://127.0.0.1:9/"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_browser_that_makes_no_picture_says_why() {
    let project = verified_by(PAGE);
    let message =
        "[7:7:1126/ERROR:zygote.cc(101)] Running as root without --no-sandbox is not supported.";
    project.write("../bin/chromium", format!("#!/bin/sh\necho '{message}' >&2\nexit 1\n"));
    project.shell("chmod +x ../bin/chromium").expect_exit(0);
    let run = run(&project, &[]).expect_exit(3);
    let said = crate::flat(&run.stderr);
    let why = "(no screenshot: the browser failed: Running as root without --no-sandbox is not";
    assert!(said.contains(why), "{run:?}");
}

#[test]
fn a_configured_checker_looks_at_pages() {
    let checker = "test \"$BROWSER_CHECK_URL $BROWSER_CHECK_TEXT\" = \
                   'http://127.0.0.1:9/ the page greets'";
    for (checker, exit, expected) in [
        (checker.to_owned(), 0, "completed: done"),
        (format!("! {checker}"), 1, "blocked: blocked"),
        ("no-such-checker".to_owned(), 1, "blocked: blocked"),
    ] {
        let project = verified_by(PAGE).with_env("ONLOOP_BROWSER_CHECKER", &checker);
        run(&project, &[]).expect_exit(exit);
        assert_eq!(standing(&project), expected, "{checker}");
    }
}
