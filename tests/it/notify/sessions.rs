//! Sessions that are not continued any more.

use super::{Board, webhook};
use crate::hook::{prompt, stop};
use crate::workspace::Workspace;

/// A session with one continuation.
fn session(board: &Board) -> Workspace {
    let project = Workspace::plain();
    let yaml = format!("handsoff:\n  max_continuations: 1\n{}", webhook(board));
    project.write(".agentize.local.yaml", yaml);
    prompt(&project, "/ultra-planner a feature");
    project
}

#[test]
fn the_end_of_a_session_is_told_once() {
    let board = Board::start();
    let project = session(&board);
    assert!(stop(&project, "part 1").is_some());
    assert!(board.asked().is_empty());
    for _ in 0..2 {
        assert_eq!(stop(&project, "part 2"), None);
    }
    let notices = board.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0]["event"], "session");
    assert_eq!(notices[0]["title"], "Session s1 (ultra-planner) is not continued");
    assert_eq!(notices[0]["session_id"], "s1");
    let text = notices[0]["text"].as_str().unwrap();
    assert!(
        text.contains("continuations are used up\nSession: s1\n") || text.contains("used up"),
        "{text}"
    );
    assert_eq!(notices[0]["advice"], "Continue it:\n  claude -r s1");
}

#[test]
fn a_receiver_that_is_down_is_tried_when_the_hook_is_called_again() {
    let board = Board::start();
    let project = session(&board);
    stop(&project, "part 1");
    board.answer(500);
    stop(&project, "part 2");
    board.answer(200);
    stop(&project, "part 2");
    stop(&project, "part 2");
    assert_eq!(board.told(), ["session null", "session null"]);
}

#[test]
fn an_agent_that_says_that_it_is_done_is_news() {
    let board = Board::start();
    let project = session(&board);
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    assert_eq!(board.told(), ["session null"]);
    assert_eq!(board.notices()[0]["title"], "Session s1 (ultra-planner) is done");
}

#[test]
fn a_session_that_is_done_names_its_pull_request_with_a_link() {
    let board = Board::start();
    let project = Workspace::git();
    project.shell("git remote add origin https://github.com/me/shop").expect_exit(0);
    project.write(".agentize.local.yaml", webhook(&board));
    prompt(&project, "/issue-to-impl 42");
    let done = serde_json::json!({ "tool_name": "Bash",
        "tool_input": { "command": "gh pr create --fill" },
        "tool_response": "https://github.com/me/shop/pull/7" });
    crate::hook::claude(&project, "PostToolUse", done);
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    let notice = &board.notices()[0];
    assert_eq!(notice["title"], "Session s1 (issue-to-impl) is done");
    let text = notice["text"].as_str().unwrap();
    let links = "\nIssue: https://github.com/me/shop/issues/42\nPull request: \
                 https://github.com/me/shop/pull/7";
    assert!(text.ends_with(links), "{text}");
}
