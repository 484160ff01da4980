//! `onloop session`.

use serde_json::{Value, json};

use super::{prompt, state, stop};
use crate::workspace::Workspace;

#[test]
fn sessions_are_listed_shown_and_ended() {
    let project = Workspace::plain().with_env("ONLOOP_NOW", "2026-03-20T10:00:00Z");
    let empty = project.onloop(&["session", "list"]).expect_exit(0);
    assert!(empty.stdout.is_empty() && empty.stderr.contains("No sessions here"), "{empty:?}");
    assert_eq!(project.onloop(&["session", "list", "--json"]).expect_exit(0).stdout, "[]\n");
    prompt(&project, "/issue-to-impl 42");
    stop(&project, "a");
    let list = project.onloop(&["session", "list"]).expect_exit(0).stdout;
    assert_eq!(
        list,
        "· s1\n    issue-to-impl open, issue #42, continued 1 time, changed \
         2026-03-20T10:00:00+00:00\n"
    );
    let shown = project.onloop(&["session", "show", "s1", "--json"]).expect_exit(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["session_id"], &shown["status"]), (&json!("s1"), &json!("open")));
    assert_eq!((&shown["issue_no"], &shown["continuation_count"]), (&json!(42), &json!(1)));
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    assert_eq!(state(&project, "s1")["state"], "done");
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    assert_eq!(stop(&project, "b"), None);
    prompt(&project, "/issue-to-impl 42");
    project.onloop(&["session", "stop", "s1"]).expect_exit(0);
    assert_eq!(state(&project, "s1")["state"], "stopped");
    assert_eq!(stop(&project, "c"), None);
    project.onloop(&["session", "clear", "s1"]).expect_exit(0);
    assert!(!project.path(".tmp/hooked-sessions/s1.json").exists());
    assert!(!project.path(".tmp/hooked-sessions/by-issue/42.json").exists());
    for verb in ["show", "done", "stop", "clear"] {
        let run = project.onloop(&["session", verb, "s1"]).expect_exit(4);
        assert!(run.stderr.contains("there is no session `s1` here"), "{run:?}");
    }
}

#[test]
fn sessions_of_the_checkout_are_found_from_below() {
    let project = Workspace::git();
    project.write("sub/file", "");
    prompt(&project, "/issue-to-impl 42");
    let list = project.onloop_at("sub", &["session", "list"]).expect_exit(0).stdout;
    assert!(list.contains("issue #42"), "{list}");
    project.onloop_at("sub", &["session", "done", "s1"]).expect_exit(0);
    assert_eq!(state(&project, "s1")["state"], "done");
}

#[test]
fn an_id_that_is_none_is_named() {
    let project = Workspace::plain();
    for verb in ["show", "done", "stop", "clear"] {
        let run = project.onloop(&["session", verb, "../x"]).expect_exit(2);
        assert!(run.stderr.contains("`../x` is not a session id"), "{run:?}");
    }
}

#[test]
fn damaged_files_are_listed_and_can_be_cleared() {
    let project = Workspace::plain();
    project.write(".tmp/hooked-sessions/s1.json", "{");
    let list = project.onloop(&["session", "list", "--json"]).expect_exit(0).stdout;
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list[0]["status"], "unreadable");
    project.onloop(&["session", "show", "s1"]).expect_exit(4);
    project.onloop(&["session", "clear", "s1"]).expect_exit(0);
    assert_eq!(project.onloop(&["session", "list", "--json"]).expect_exit(0).stdout, "[]\n");
}
