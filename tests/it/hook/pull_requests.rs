//! Sessions of `/issue-to-impl` end by their pull request, where it can be read.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{claude, prompt, state, stop};
use crate::workspace::Workspace;

/// `gh`, which knows the pull request that is in the file `request`.
const GH: &str = r#"#!/bin/sh
test "$1 $2 $3" = "pr view work" || exit 1
sed "s/HEAD/$(git rev-parse HEAD)/" "$HOME/request"
"#;

/// A session on the branch `work`, whose pull request is what `request` says.
fn session(request: Option<&str>) -> Workspace {
    let project = Workspace::git();
    project.git_says(&["checkout", "--quiet", "-b", "work"]);
    project.write("../bin/gh", GH);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/gh"), executable).unwrap();
    if let Some(request) = request {
        project.write("../home/request", request);
    }
    prompt(&project, "/issue-to-impl 42");
    project
}

fn request(state: &str, commit: &str, conclusion: &str) -> String {
    let status = if conclusion.is_empty() { "IN_PROGRESS" } else { "COMPLETED" };
    let check = json!({ "name": "deploy", "status": status, "conclusion": conclusion });
    json!({
        "state": state, "headRefOid": commit, "mergeable": "MERGEABLE",
        "statusCheckRollup": [check],
    })
    .to_string()
}

#[test]
fn a_pull_request_that_is_done_ends_the_session_whatever_the_agent_says() {
    for (state_of, conclusion, reason) in [
        ("OPEN", "SUCCESS", "its pull request is green"),
        ("MERGED", "FAILURE", "its pull request is merged"),
    ] {
        let project = session(Some(&request(state_of, "HEAD", conclusion)));
        let said = claude(&project, "Stop", json!({ "last_assistant_message": "part 1" }));
        assert_eq!(said["systemMessage"], format!("onloop: session s1 is done: {reason}"));
        assert_eq!(said["decision"], json!(null));
        let session = state(&project, "s1");
        assert_eq!((&session["state"], &session["reason"]), (&json!("done"), &json!(reason)));
        let log = project.onloop(&["session", "log", "s1"]).expect_exit(0).stdout;
        assert!(log.contains(reason), "{log}");
    }
}

#[test]
fn the_word_of_the_agent_does_not_end_a_session_whose_pull_request_is_not_done() {
    for (conclusion, error, fix) in [
        ("FAILURE", "its pull request is not done: failed: `deploy`", "repair that, push"),
        ("", "the checks of its pull request run", "gh pr checks --watch --fail-fast"),
    ] {
        let project = session(Some(&request("OPEN", "HEAD", conclusion)));
        let done = project.onloop(&["session", "done", "s1"]).expect_exit(1);
        assert!(done.stderr.contains(error) && done.stderr.contains(fix), "{}", done.stderr);
        assert!(done.stderr.contains("onloop session stop s1"), "{}", done.stderr);
        let next = stop(&project, "The pull request is open.").expect("it is continued");
        assert!(next.contains("Goal: a pull request on GitHub"), "{next}");
        project.write("../home/request", request("OPEN", "HEAD", "SUCCESS"));
        project.onloop(&["session", "done", "s1"]).expect_exit(0);
        let reason = "by `onloop session done`: its pull request is green";
        assert_eq!(state(&project, "s1")["reason"], reason);
    }
}

#[test]
fn where_no_pull_request_of_this_commit_can_be_read_the_word_of_the_agent_counts() {
    let other = "0123456789012345678901234567890123456789";
    let unchecked = r#"{"state": "OPEN", "headRefOid": "HEAD", "mergeable": "MERGEABLE",
        "statusCheckRollup": []}"#;
    let closed = request("CLOSED", "HEAD", "FAILURE");
    let elsewhere = request("OPEN", other, "SUCCESS");
    for request in [None, Some(unchecked), Some(&closed), Some(&elsewhere), Some("no JSON")] {
        let project = session(request);
        assert!(stop(&project, "part 1").is_some(), "{request:?}");
        project.onloop(&["session", "done", "s1"]).expect_exit(0);
        assert_eq!(state(&project, "s1")["reason"], "by `onloop session done`", "{request:?}");
    }
}
