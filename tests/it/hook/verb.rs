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
        let run = project.onloop(&["session", verb, "s1"]).expect_exit(2);
        assert!(crate::flat(&run.stderr).contains("there is no session `s1`"), "{run:?}");
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
        assert!(crate::flat(&run.stderr).contains("`../x` is not a session id"), "{run:?}");
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

/// A checkout whose remote is `github.com/me/shop`.
fn shop() -> Workspace {
    let project = Workspace::git().with_env("ONLOOP_NOW", "2026-03-20T10:00:00Z");
    project.shell("git remote add origin git@github.com:me/shop.git").expect_exit(0);
    project
}

#[test]
fn the_morning_is_told_from_anywhere() {
    let project = shop();
    project.write(".agentize.local.yaml", "handsoff:\n  max_continuations: 1\n");
    prompt(&project, "/issue-to-impl 42");
    let done = json!({ "tool_name": "Bash", "tool_input": { "command": "gh pr create --fill" },
        "tool_response": "https://github.com/me/shop/pull/7" });
    super::claude(&project, "PostToolUse", done);
    assert_eq!(super::bash(&project, "rm -rf /").0, "deny");
    stop(&project, "a");
    stop(&project, "b");
    let run = project
        .shell("mkdir -p ../elsewhere && cd ../elsewhere && onloop session list --everywhere");
    let folder = project.path(".").canonicalize().unwrap();
    let expected = format!(
        "⏸ s1  waits for you: the only continuation is used up
    goal      a pull request for issue #42
    issue     #42 https://github.com/me/shop/issues/42
    PR        #7 https://github.com/me/shop/pull/7
    folder    {0}
    continued 1 time
    last      2026-03-20T10:00:00+00:00 session s1 is not continued: the only continuation is used up
    decision  2026-03-20T10:00:00+00:00 denied by rule path:outside: Bash `rm -rf /`
    resume    cd {0} && claude -r s1
",
        folder.display()
    );
    assert_eq!(run.expect_exit(0).stdout, expected);
    let json = project.shell("cd ../elsewhere && onloop session list --everywhere --json");
    let json: Value = serde_json::from_str(&json.expect_exit(0).stdout).unwrap();
    let session = &json["sessions"][0];
    assert_eq!((&session["activity"], &session["host"]), (&json!("waits"), &json!("Claude Code")));
    assert_eq!(json["calls"], json!([]));
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    let run = project.shell("cd ../elsewhere && onloop session list --everywhere").expect_exit(0);
    assert!(
        run.stdout.starts_with("✓ s1  ended: done: by `onloop session done`\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("resume"), "{}", run.stdout);
    let log = project.shell("cd ../elsewhere && onloop session log s1").expect_exit(0).stdout;
    let tells = |words: &str| log.lines().filter(|line| line.contains(words)).count();
    assert_eq!(tells("ended by `onloop session done`"), 1, "{log}");
    assert_eq!((tells("began `issue-to-impl`"), tells("denied by rule")), (1, 1), "{log}");
    let other = project.onloop(&["session", "log", "s2"]).expect_exit(0);
    assert_eq!(other.stdout, "");
}

#[test]
fn calls_that_wait_and_who_answered_them_are_told() {
    let project = shop().with_env("CLAUDE_CODE_SESSION_ATTENDED", "0").with_env("USER", "ann");
    prompt(&project, "/issue-to-impl 42");
    assert_eq!(super::bash(&project, "frobnicate push --now").0, "defer");
    let list = |project: &Workspace| {
        project.onloop(&["session", "list", "--everywhere"]).expect_exit(0).stdout
    };
    let said = list(&project);
    assert!(
        said.starts_with("⏸ s1  waits for you: 1 call of its agent waits for an answer\n"),
        "{said}"
    );
    let (_, call) = said
        .split_once("    call      2026-03-20T10:00:00+00:00 Bash: frobnicate push --now; ")
        .unwrap();
    let id = call.strip_prefix("onloop approve ").unwrap().lines().next().unwrap();
    project.onloop(&["approve", id]).expect_exit(0);
    assert_eq!(super::bash(&project, "frobnicate push --now").0, "allow");
    let said = list(&project);
    assert!(said.starts_with("→ s1  works\n"), "{said}");
    assert!(said.contains("allowed by person ann: Bash `frobnicate push --now`\n"), "{said}");
}

#[test]
fn many_sessions_are_forgotten_at_once() {
    let project = shop();
    for id in ["s1", "s2"] {
        let begin =
            super::claude_input(id, "UserPromptSubmit", json!({ "prompt": "/issue-to-impl 4" }));
        super::say(&project, "claude", &begin);
    }
    let later = |words: &str| {
        project
            .shell(&format!("export ONLOOP_NOW=2026-03-21T10:00:00Z; onloop session clear {words}"))
    };
    let run = later("--older-than 2d").expect_exit(0);
    assert_eq!(run.stderr, "0 sessions are forgotten\n");
    let run = later("--older-than 8x").expect_exit(2);
    assert_eq!(
        crate::flat(&run.stderr),
        "error: `--older-than 8x`: expected a time such as `90s`, `12h` or `7d`, at most `7d`"
    );
    project.shell("mkdir -p ../elsewhere").expect_exit(0);
    later("s1").expect_exit(0);
    let run = project
        .shell("cd ../elsewhere; ONLOOP_NOW=2026-03-21T10:00:00Z onloop session clear --older-than 12h --everywhere")
        .expect_exit(0);
    assert_eq!(run.stderr, "1 session is forgotten\n");
    assert!(!project.path(".tmp/hooked-sessions/s2.json").exists());
    let run = project.onloop(&["session", "clear", "--all"]).expect_exit(0);
    assert_eq!(run.stderr, "0 sessions are forgotten\n");
    project.onloop(&["session", "clear"]).expect_exit(2);
    let run = project.onloop(&["session", "list", "--everywhere"]).expect_exit(0);
    assert_eq!(run.stdout, "");
}

#[test]
fn the_audit_log_is_bounded_and_keeps_no_secret() {
    let project = shop().with_env("MY_API_TOKEN", "s3cret-value-of-mine");
    let audit_log = project.path("../home/.state/onloop/audit.jsonl");
    std::fs::create_dir_all(audit_log.parent().unwrap()).unwrap();
    std::fs::write(&audit_log, "x".repeat(1024 * 1024) + "\n").unwrap();
    assert_eq!(super::bash(&project, "rm -rf / s3cret-value-of-mine").0, "deny");
    let text = std::fs::read_to_string(&audit_log).unwrap();
    assert_eq!(text.lines().count(), 1, "it was begun anew");
    assert!(text.contains("\"stage\":\"rule\"") && !text.contains("s3cret"), "{text}");
    assert!(audit_log.with_file_name("audit.1.jsonl").exists());
}

#[test]
fn a_session_whose_file_lies_elsewhere_is_shown_where_its_agent_works() {
    let home = crate::workspace::Workspace::plain();
    let home = home.path(".").canonicalize().unwrap();
    let project = shop().with_env("AGENTIZE_HOME", home.to_str().unwrap());
    prompt(&project, "/issue-to-impl 42");
    let run = project.shell("cd .. && onloop session list --everywhere").expect_exit(0);
    let folder = project.path(".").canonicalize().unwrap();
    assert!(run.stdout.contains(&format!("folder    {}\n", folder.display())), "{}", run.stdout);
    assert!(run.stdout.contains("https://github.com/me/shop/issues/42"), "{}", run.stdout);
    assert!(
        run.stdout.contains(&format!("resume    cd {} && claude -r s1\n", folder.display())),
        "{}",
        run.stdout
    );
}

#[test]
fn an_end_by_an_edited_file_is_logged_once() {
    let project = shop();
    prompt(&project, "/issue-to-impl 42");
    stop(&project, "a");
    let path = ".tmp/hooked-sessions/s1.json";
    let edited = project.read(path).replace("\"initial\"", "\"done\"");
    project.write(path, edited);
    for _ in 0..2 {
        assert_eq!(stop(&project, "b"), None);
    }
    let log = project.onloop(&["session", "log"]).expect_exit(0).stdout;
    assert_eq!(log.matches("ended as done: its file says so").count(), 1, "{log}");
}
