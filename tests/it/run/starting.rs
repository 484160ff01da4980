//! Agents that cannot start: the run waits, with what is wrong and what mends it.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{project, run, standing};
use crate::finish::statement_of;
use crate::workspace::{Run, Workspace};

const STEP: &str = "- [ ] **Step 1: Go**\naction: go\nloop: until it is done\nmax_iterations: 2\n\
                    verify:\n  - test -d .\n  - test -f done\n";

/// A project whose `claude` is this script.
pub(super) fn with_claude(script: &str) -> Workspace {
    let project = project("", STEP);
    let client = "../bin/claude";
    project.write(client, format!("#!/bin/sh\n{script}"));
    std::fs::set_permissions(project.path(client), PermissionsExt::from_mode(0o755)).unwrap();
    project
}

fn paused(project: &Workspace) -> Run {
    let run = run(project, &["--agent", "claude"]).expect_exit(3);
    assert_eq!(standing(project), "paused: in_progress");
    run
}

#[test]
fn a_client_that_is_not_logged_in_is_no_failed_attempt() {
    let told = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"Not logged in · Please run /login","session_id":"s","num_turns":1}"#;
    let project = with_claude(&format!(
        "cat > /dev/null\n[ -e key ] || {{ echo '{told}'; exit 1; }}\ntouch done\n"
    ));
    let said = paused(&project);
    let why = "Paused: `claude` is not logged in, or its key is refused (agent failed: Not logged in · \
               Please run /login); log in with `claude /login`, or set ANTHROPIC_API_KEY";
    assert!(crate::flat(&said.stderr).contains(why), "{}", said.stderr);
    assert!(said.stderr.contains("Continue:\n  onloop resume "), "{}", said.stderr);
    // Two attempts are allowed, and neither was made.
    let record = project.record();
    assert_eq!(record["steps"][0]["last_failure"], serde_json::Value::Null);
    let id = record["run_id"].as_str().unwrap();
    project.onloop(&["resume", id, "--agent", "claude"]).expect_exit(3);
    let uncounted = &project.record()["steps"][0]["uncounted_attempts"];
    assert_eq!(uncounted, 1, "{}", project.record()["steps"][0]);
}

#[test]
fn a_client_that_is_too_old_says_so_with_its_version() {
    let project = with_claude(
        "[ \"$1\" = --version ] && { echo '2.1.150 (Claude Code)'; exit; }\n\
         echo \"error: unknown option '--setting-sources'\" >&2; exit 1\n",
    );
    let said = paused(&project);
    let why = "Paused: `claude` 2.1.150 is too old for what a run needs (unknown option \
               '--setting-sources'); update it with `npm install -g @anthropic-ai/claude-code`";
    assert!(crate::flat(&said.stderr).contains(why), "{}", said.stderr);
}

#[test]
fn a_client_that_is_known_to_be_too_old_is_not_even_started() {
    let project = with_claude(
        "echo \"$1\" >> ../asked\n[ \"$1\" = --version ] && echo '2.0.9 (Claude Code)'\n",
    );
    let said = paused(&project);
    let why = "Paused: `claude` 2.0.9 is too old for what a run needs (2.1.139 or newer); update it \
               with `npm install -g @anthropic-ai/claude-code`";
    assert!(crate::flat(&said.stderr).contains(why), "{}", said.stderr);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    project.onloop(&["resume", &id, "--agent", "claude"]).expect_exit(3);
    assert_eq!(project.read("../asked"), "--version\n", "it is asked once");
}

#[test]
fn the_version_of_a_client_is_asked_once_for_each_file_and_kept_with_its_turns() {
    let told = r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"x","session_id":"s","num_turns":1}"#;
    let script = |version: &str| {
        format!(
            "echo \"$1\" >> ../asked\n[ \"$1\" = --version ] && {{ echo '{version} (Claude Code)'; \
             exit; }}\ncat > /dev/null; echo '{told}'\n[ \"$(grep -c -- -p ../asked)\" -gt 1 ] && touch done\n\
             true\n"
        )
    };
    let project = with_claude(&script("2.1.330"));
    run(&project, &["--agent", "claude"]).expect_exit(0);
    assert_eq!(project.read("../asked"), "--version\n-p\n-p\n");
    let turns = &project.record()["turns"];
    assert_eq!(
        (&turns[0]["client_version"], &turns[1]["client_version"]),
        (&"2.1.330".into(), &"2.1.330".into()),
        "{turns}"
    );
    // Another file is asked again.
    project.write("../bin/claude", format!("#!/bin/sh\n{}# new\n", script("2.1.331")));
    project.write("../asked", "");
    std::fs::remove_file(project.path("done")).unwrap();
    run(&project, &["--agent", "claude"]).expect_exit(0);
    assert_eq!(project.read("../asked"), "--version\n-p\n-p\n");
}

#[test]
fn a_receipt_names_the_version_of_the_client_that_worked() {
    let told = r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"x","session_id":"s","num_turns":1}"#;
    let project = with_claude(&format!(
        "[ \"$1\" = --version ] && {{ echo '2.1.330 (Claude Code)'; exit; }}\n\
         cat > /dev/null; touch done; echo '{told}'\n"
    ));
    project.git_says(&["init", "--quiet"]);
    project.identify();
    project.commit("Begin");
    project.onloop(&["run", "--mode", "branch", "--agent", "claude"]).expect_exit(0);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    let (receipt, key) = (project.path("../receipt"), "../key");
    let words = ["receipt", &id, "--format", "intoto", "--out", "../receipt"];
    project.onloop(&words).expect_exit(0);
    project.write(key, project.onloop(&["receipt", "key"]).expect_exit(0).stdout);
    let statement = statement_of(&receipt, &project.path(key));
    let claude = json!({ "agent": "claude", "model": null, "version": "2.1.330", "steps": [1] });
    assert_eq!(statement["predicate"]["onloop"]["agents"], json!([claude]));
}

#[test]
fn a_check_that_fails_is_named_with_what_was_expected_among_the_others() {
    let project = project("", STEP);
    let said = run(&project, &["--agent-command", "true"]).expect_exit(1);
    let checks = "    verify failed: exit code 1\n    ✓ test -d .\n    ✗ test -f done\n      expected \
                  exit code 0; found: exit code 1\n";
    assert!(said.stderr.contains(checks), "{}", said.stderr);
    // The same where an agent drives the run itself.
    let project = super::project("", STEP);
    let init = project.onloop(&["init", super::FILE]).expect_exit(0);
    let id = ["--run-id", init.stdout.trim()];
    let step = |action: &str| project.onloop(&[&["step", "1", action], &id[..]].concat());
    step("start").expect_exit(0);
    let failed = step("verify").expect_exit(1);
    assert_eq!(failed.stdout, "fail\n");
    assert!(failed.stderr.contains("    ✗ test -f done\n"), "{}", failed.stderr);
}
