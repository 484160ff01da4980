//! `--review`: an agent reads the work before it counts as done.

use super::{FILE, command_below, decide_and_resume, project, run, standing};
use crate::workspace::Workspace;

fn small(front: &str, gate: &str) -> Workspace {
    project(
        front,
        &format!(
            "- [ ] **Step 1: Go**\naction: go\nloop: false\nverify: test -e first\n{gate}\
             ```sh\necho x >> first\n```\n"
        ),
    )
}

#[test]
fn verdicts() {
    let table = [
        ("echo 'VERDICT: READY'", 0, "completed: done"),
        ("echo 'WARN: slow'; echo 'VERDICT: READY WITH WARNINGS'", 0, "completed: done"),
        ("echo 'VERDICT: NOT READY'", 3, "paused: done"),
        ("echo 'BLOCK: it leaks'; echo 'VERDICT: READY'", 3, "paused: done"),
        ("echo 'looks READY to me'", 3, "paused: done"),
        ("echo 'VERDICT: READY'; exit 1", 3, "paused: done"),
        ("./no-such-reviewer", 3, "paused: done"),
        ("kill -9 $$", 3, "paused: done"),
    ];
    for (reviewer, exit, expected) in table {
        let project = small("", "");
        run(&project, &["--review", reviewer]).expect_exit(exit);
        assert_eq!(standing(&project), expected, "{reviewer}");
    }
}

#[test]
fn a_reviewer_that_could_not_run_says_so() {
    let table = [
        ("echo quota exceeded >&2; exit 3", "the reviewer could not run", "NOT REVIEWED"),
        ("./gone", "the reviewer `./gone` failed: exit code 127", "NOT REVIEWED"),
        ("echo looks good", "the review came to no verdict", "NO VERDICT"),
        ("echo 'VERDICT: NOT READY'", "the review found problems", "NOT READY"),
    ];
    for (reviewer, problem, verdict) in table {
        let project = small("", "");
        let said = run(&project, &["--review", reviewer]).expect_exit(3).stderr;
        assert!(said.contains(problem) && said.contains(verdict), "{reviewer}: {said}");
    }
}

#[test]
fn a_word_that_is_no_reviewer_is_refused_before_anything_happens() {
    let expected = "fix: name one of claude, codex, opencode, cursor, gemini, copilot, cline, \
                    goose, qwen, or give a command line: a path such as ./review.sh, or words with a space";
    let unknown = "is neither an agent nor a program on PATH";
    let table = [
        ("cluade", format!("`cluade` {unknown}; did you mean `claude`?")),
        ("no-such-reviewer", format!("`no-such-reviewer` {unknown}")),
        ("script", "`script` cannot review".to_owned()),
        ("", format!("`` {unknown}")),
    ];
    for (reviewer, why) in table {
        let project = small("", "");
        let refused = run(&project, &["--review", reviewer]).expect_exit(2);
        let said = crate::flat(&refused.stderr);
        assert_eq!(said, format!("error: --review: {why} {expected}"));
        assert!(!project.path(".hotl").exists(), "{reviewer}");
    }
}

#[test]
fn a_verdict_that_holds_the_run_up_is_reviewed_again_or_accepted() {
    let project = small("", "");
    project.write("reviewer.sh", "cat > asked; cat verdict; echo x >> reviews");
    project.write("verdict", "BLOCK: it leaks\nVERDICT: NOT READY\n");
    let paused = run(&project, &["--review", "sh reviewer.sh"]).expect_exit(3);
    assert!(project.read("asked").contains("Intent: Try it"));
    let again = project.shell(&command_below(&paused, "then review again")).expect_exit(3);
    assert_eq!(project.read("reviews"), "x\nx\n");
    decide_and_resume(&project, &again, "accept the verdict").expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    assert_eq!(project.read("reviews"), "x\nx\n", "what was accepted is not reviewed again");
    let report = project.onloop(&["report", project.record()["run_id"].as_str().unwrap()]);
    assert!(report.stdout.contains("it leaks"), "{}", report.stdout);
    assert!(report.stdout.contains("accepted by a person"), "{}", report.stdout);
}

#[test]
fn a_corrected_verdict_completes_the_run() {
    let project = small("", "");
    project.write("verdict", "VERDICT: NOT READY\n");
    let paused = run(&project, &["--review", "cat verdict"]).expect_exit(3);
    project.write("verdict", "VERDICT: READY\n");
    project.shell(&command_below(&paused, "then review again")).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn a_risky_gate_is_reviewed_before_a_person_is_asked() {
    let project = small("risk_level: high\n", "gate: human\n");
    let paused = run(&project, &["--review", "echo 'VERDICT: NOT READY'"]).expect_exit(3);
    assert!(paused.stderr.contains("accept the verdict"), "{}", paused.stderr);
    let gate = decide_and_resume(&project, &paused, "accept the verdict").expect_exit(3);
    assert!(gate.stderr.contains("Approve and continue"), "{}", gate.stderr);
    assert_eq!(standing(&project), "paused: done");
}

#[test]
fn warnings_are_shown_and_findings_become_the_next_prompt() {
    let project = small("", "");
    let answer = "printf 'WARN: it is slow\\nVERDICT: READY WITH WARNINGS\\n'";
    run(&project, &["--review", answer]).expect_exit(0);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    let summary = project.onloop(&["summary", &id, "--json"]).expect_exit(0).stdout;
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["review"]["verdict"], "READY WITH WARNINGS");
    assert_eq!(summary["review"]["findings"], "WARN: it is slow\nVERDICT: READY WITH WARNINGS\n");
    let project = small("", "");
    project.write("verdict", "BLOCK: it leaks\nVERDICT: NOT READY\n");
    run(&project, &["--review", "cat verdict"]).expect_exit(3);
    let words = ["gate", "1", "rejected", "--redo", "--reason", "stop the leak"];
    project.onloop(&words).expect_exit(0);
    project.write("verdict", "VERDICT: READY\n");
    project.onloop(&["resume", "--agent-command", "cat > asked"]).expect_exit(0);
    let asked = project.read("asked");
    assert!(asked.contains("it has to be done again: stop the leak\n"), "{asked}");
    assert!(asked.contains("BLOCK: it leaks\n"), "{asked}");
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn an_agent_fixes_what_a_review_finds_before_a_person_is_asked() {
    let project = small("", "");
    project.write(
        "reviewer.sh",
        "echo x >> reviews\ntest -e fixed && echo 'VERDICT: READY' && exit\n\
        echo 'BLOCK: it leaks'; echo 'VERDICT: NOT READY'\n",
    );
    let agent = "cat > prompt; touch first; grep -q 'it leaks' prompt && touch fixed; true";
    let words = ["--review", "sh reviewer.sh", "--agent-command", agent];
    let done = run(&project, &words).expect_exit(0);
    assert_eq!(project.read("reviews"), "x\nx\n");
    assert!(done.stderr.contains("Review: NOT READY\n    | BLOCK: it leaks"), "{}", done.stderr);
    // What is not fixed goes back twice, then a person decides and sees why.
    let project = small("", "");
    let words = ["--review", "sh reviewer.sh", "--agent-command", "touch first"];
    project
        .write("reviewer.sh", "echo x >> reviews; echo 'BLOCK: no'; echo 'VERDICT: NOT READY'\n");
    let paused = run(&project, &words).expect_exit(3);
    assert_eq!(project.read("reviews"), "x\nx\nx\n");
    assert!(paused.stderr.matches("BLOCK: no").count() > 3, "{}", paused.stderr);
    let project = small("max_review_rounds: 0\n", "");
    project.write("reviewer.sh", "echo x >> reviews; echo 'VERDICT: NOT READY'\n");
    run(&project, &words).expect_exit(3);
    assert_eq!(project.read("reviews"), "x\n");
}

#[test]
fn a_reviewer_that_is_not_there_is_named_when_a_run_by_verbs_begins() {
    for (reviewer, why) in [
        ("claude", "`claude` is not on PATH"),
        ("nope", "`nope` is neither an agent nor a program on PATH"),
    ] {
        let said = small(&format!("review: {reviewer}\n"), "").onloop(&["init", FILE]).stderr;
        let warning = format!("warning: the review of this run cannot take place: {why} fix: ");
        assert!(crate::flat(&said).contains(&warning), "{said}");
    }
}

#[test]
fn a_run_that_an_agent_drives_by_verbs_is_held_to_its_review() {
    let project = small("review: claude\n", "");
    project.write("../bin/claude", "#!/bin/sh\ncat verdict\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/claude"), mode).unwrap();
    project.write("verdict", "BLOCK: it leaks\nVERDICT: NOT READY\n");
    let verb = |words: &[&str]| project.onloop(words);
    assert_eq!(verb(&["init", FILE]).expect_exit(0).stderr, "");
    verb(&["step", "1", "start"]).expect_exit(0);
    project.write("first", "");
    verb(&["step", "1", "verify"]).expect_exit(0);
    let refused = verb(&["finalize"]).expect_exit(1);
    assert!(refused.stderr.contains("BLOCK: it leaks"), "{}", refused.stderr);
    assert_eq!(standing(&project), "running: pending");
    project.write("verdict", "VERDICT: READY\n");
    verb(&["step", "1", "start"]).expect_exit(0);
    verb(&["step", "1", "verify"]).expect_exit(0);
    verb(&["finalize"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
}
