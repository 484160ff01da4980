//! How sessions begin, go on, rest and end.

use serde_json::{Value, json};

use super::{claude, prompt, say, state, stop};
use crate::temporary::temporary_folder;
use crate::workspace::Workspace;

fn entry(kind: &str, content: Value) -> String {
    json!({ "type": kind, "message": { "role": kind, "content": content } }).to_string()
}

/// A transcript in which the agent used a tool and then spoke.
fn worked(project: &Workspace, words: &str) -> Value {
    let lines = [
        entry("user", json!("go on")),
        entry("assistant", json!([{ "type": "tool_use", "name": "Bash", "input": {} }])),
        entry("user", json!([{ "type": "tool_result", "content": "ok" }])),
        entry("assistant", json!([{ "type": "text", "text": words }])),
    ];
    project.write("transcript.jsonl", lines.join("\n"));
    json!({ "transcript_path": project.path("transcript.jsonl") })
}

#[test]
fn a_command_begins_a_session_and_its_index() {
    let project = Workspace::plain();
    assert_eq!(prompt(&project, "/issue-to-impl 42"), Value::Null);
    let session = state(&project, "s1");
    assert_eq!(session["workflow"], "issue-to-impl");
    assert_eq!(session["state"], "initial");
    assert_eq!(session["continuation_count"], 0);
    assert_eq!(session["issue_no"], 42);
    let index: Value =
        serde_json::from_str(&project.read(".tmp/hooked-sessions/by-issue/42.json")).unwrap();
    assert_eq!(index, json!({ "session_id": "s1", "workflow": "issue-to-impl" }));
}

#[test]
fn ordinary_prompts_leave_nothing_behind() {
    let project = Workspace::git();
    assert_eq!(prompt(&project, "please explain src/main.rs"), Value::Null);
    assert_eq!(prompt(&project, ""), Value::Null);
    assert_eq!(stop(&project, "Here you are."), None);
    assert!(!project.path(".tmp").exists());
}

#[test]
fn agentize_home_is_where_sessions_of_all_worktrees_are() {
    let home = temporary_folder();
    let project = Workspace::plain().with_env("AGENTIZE_HOME", home.path().to_str().unwrap());
    prompt(&project, "/ultra-planner --refine 7");
    assert!(home.path().join(".tmp/hooked-sessions/s1.json").exists());
    assert!(home.path().join(".tmp/hooked-sessions/by-issue/7.json").exists());
    assert!(!project.path(".tmp").exists());
    assert!(stop(&project, "part 1").is_some());
}

#[test]
fn continuations_are_counted_and_end_at_the_maximum() {
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", "handsoff:\n  max_continuations: 3\n");
    prompt(&project, "/ultra-planner a feature");
    for number in 1..=3 {
        let said = claude(&project, "Stop", worked(&project, &format!("part {number}")));
        let prompt = said["reason"].as_str().unwrap();
        let first = prompt.lines().next().unwrap();
        assert!(first.contains(&format!(" {number}/3 ")), "{first}");
        assert!(prompt.lines().any(|line| line == "onloop session done s1"), "{prompt}");
        assert_eq!(state(&project, "s1")["continuation_count"], number);
    }
    let said = claude(&project, "Stop", worked(&project, "part 4"));
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("all 3 continuations are used up"), "{message}");
    assert_eq!(said["decision"], Value::Null);
    assert_eq!(state(&project, "s1")["continuation_count"], 3);
}

#[test]
fn the_hosts_own_cap_is_part_of_the_count() {
    let project = Workspace::plain();
    prompt(&project, "/ultra-planner a feature");
    assert!(stop(&project, "a").unwrap().lines().next().unwrap().contains(" 1/8 "));
    let project = Workspace::plain().with_env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "40");
    prompt(&project, "/ultra-planner a feature");
    assert!(stop(&project, "a").unwrap().lines().next().unwrap().contains(" 1/10 "));
}

#[test]
fn d12_a_transcript_that_is_not_there_is_no_reason_to_stop() {
    let project = Workspace::plain();
    project.write("empty.jsonl", "");
    project.write("garbage.jsonl", b"\xff\xfe{{{\n");
    for (number, transcript) in
        ["missing.jsonl", "empty.jsonl", "garbage.jsonl", "."].iter().enumerate()
    {
        prompt(&project, "/ultra-planner x");
        let members = json!({ "transcript_path": project.path(transcript) });
        let said = claude(&project, "Stop", members);
        assert_eq!(said["decision"], "block", "{number} {transcript}");
    }
}

#[test]
fn d13_every_word_for_an_end_ends() {
    for word in ["done", "completed", "error", "failed", "stopped"] {
        let project = Workspace::plain();
        prompt(&project, "/issue-to-impl 42");
        let mut session = state(&project, "s1");
        session["state"] = word.into();
        session["worker"] = "kept".into();
        project.write(".tmp/hooked-sessions/s1.json", session.to_string());
        assert_eq!(claude(&project, "Stop", json!({})), Value::Null, "{word}");
        assert_eq!(state(&project, "s1")["worker"], "kept");
    }
}

#[test]
fn members_that_we_do_not_know_survive() {
    let project = Workspace::plain();
    let old = json!({ "workflow": "issue-to-impl", "state": "initial",
        "continuation_count": "2", "issue_no": 42, "pr_number": 7, "worker": { "pid": 9 } });
    project.write(".tmp/hooked-sessions/s1.json", old.to_string());
    assert!(stop(&project, "a").unwrap().contains(" 3/10 "), "3 after 2");
    let session = state(&project, "s1");
    assert_eq!(session["worker"]["pid"], 9);
    assert_eq!((&session["pr_number"], &session["continuation_count"]), (&json!(7), &json!(3)));
}

#[test]
fn d15_d16_the_prompt_holds_the_plan_and_one_plain_command() {
    let project = Workspace::plain();
    project.write(".tmp/plan-of-issue-42.md", "## Proposed Solution\nDo it.\n");
    prompt(&project, "/issue-to-impl 42");
    let said = stop(&project, "a").unwrap();
    assert!(said.contains(".tmp/plan-of-issue-42.md`. It begins"), "{said}");
    assert!(said.contains("## Proposed Solution\nDo it.\n"), "{said}");
    assert!(!said.contains("jq ") && !said.contains('{'), "{said}");
}

#[test]
fn d23_a_question_pauses_and_going_on_resumes() {
    let project = Workspace::plain();
    prompt(&project, "/issue-to-impl 42");
    let said = prompt(&project, "what does this function do?");
    assert_eq!(
        said["systemMessage"],
        "onloop: `/issue-to-impl` pauses to answer you.\n  Your next prompt that is not a question \
         or an objection resumes it; `continue` is enough.\n  To end it: onloop session stop s1"
    );
    assert_eq!(prompt(&project, "and this one?"), Value::Null, "it is said once");
    assert_eq!(claude(&project, "Stop", json!({})), Value::Null);
    assert_eq!(state(&project, "s1")["continuation_count"], 0);
    let timer = json!({ "prompt": "wake up", "source": "schedule_wakeup" });
    let said = prompt(&project, "continue");
    assert_eq!(said["systemMessage"], "onloop: `/issue-to-impl` continues after this");
    claude(&project, "UserPromptSubmit", timer);
    assert!(stop(&project, "a").is_some());
    prompt(&project, "/issue-to-impl 42");
    assert_eq!(state(&project, "s1")["continuation_count"], 0);
}

#[test]
fn d23_an_error_of_the_service_is_not_continued() {
    let project = Workspace::plain();
    prompt(&project, "/issue-to-impl 42");
    for words in ["API Error: 529 overloaded", "Credit balance is too low", "Insufficient credit"] {
        let error = json!({ "type": "assistant", "isApiErrorMessage": true,
            "message": { "content": [{ "type": "text", "text": words }] } });
        let meta = json!({ "type": "system", "subtype": "turn_duration" });
        project.write("t.jsonl", format!("{error}\n{meta}\n"));
        let said = claude(&project, "Stop", json!({ "transcript_path": project.path("t.jsonl") }));
        assert!(said["systemMessage"].as_str().unwrap().contains(words), "{said}");
        assert_eq!(said["decision"], Value::Null);
    }
    assert_eq!(state(&project, "s1")["continuation_count"], 0);
}

#[test]
fn no_progress_ends_within_ten_stops_and_says_why() {
    let project = Workspace::plain().with_env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "1000");
    project.write(".agentize.local.yaml", "handsoff: {max_continuations: 100}\n");
    prompt(&project, "/ultra-planner x");
    let mut said = Value::Null;
    let sent_on = (0..12)
        .take_while(|_| {
            said = claude(&project, "Stop", worked(&project, "I am done."));
            said["decision"] == "block"
        })
        .count();
    assert!((3..10).contains(&sent_on), "{sent_on}");
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("brought no progress"), "{message}");
    let shown = project.onloop(&["session", "show", "s1"]).expect_exit(0).stdout;
    assert!(shown.contains("brought no progress"), "{shown}");
}

#[test]
fn a_session_that_nobody_touched_for_long_is_over() {
    let project = Workspace::plain().with_env("ONLOOP_NOW", "2026-03-20T10:00:00Z");
    prompt(&project, "/ultra-planner x");
    let mut session = state(&project, "s1");
    session["updated_at"] = "2026-03-18T10:00:00+00:00".into();
    project.write(".tmp/hooked-sessions/s1.json", session.to_string());
    let said = claude(&project, "Stop", json!({}));
    assert!(said["systemMessage"].as_str().unwrap().contains("more than a day"), "{said}");
    assert_eq!(claude(&project, "Stop", json!({})), Value::Null);
}

#[test]
fn d14_switched_off_is_silent_everywhere() {
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", "handsoff:\n  enabled: false\n");
    assert_eq!(prompt(&project, "/ultra-planner x"), Value::Null);
    assert!(!project.path(".tmp").exists());
    for host in ["claude", "codex"] {
        let call = json!({ "session_id": "s1", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": "rm -rf /" } });
        assert_eq!(say(&project, host, &call), Value::Null, "{host}");
    }
    let call = json!({ "command": "rm -rf /", "conversation_id": "c" });
    assert_eq!(say(&project, "cursor", &call), Value::Null);
    let call = json!({ "event": "tool.execute.before", "session_id": "s", "tool": "bash",
        "input": { "command": "rm -rf /" } });
    assert_eq!(say(&project, "opencode", &call), Value::Null);
}

#[test]
fn workflows_of_the_user_have_their_own_words() {
    let project = Workspace::plain();
    project.write("mine.md", "Do {#workflow#}, time {#continuations#}.");
    project.write(
        ".agentize.local.yaml",
        "handsoff:\n  workflows:\n    - {command: /mine, name: my-flow, prompt_file: mine.md}\n    \
         - {command: /issue-to-impl, prompt_file: mine.md}\n",
    );
    for (text, issue, pull) in [
        ("/mine 5", json!(5), Value::Null),
        ("/mine #5", json!(5), Value::Null),
        ("/mine https://github.com/o/r/issues/5", json!(5), Value::Null),
        ("/mine https://github.com/o/r/pull/6", Value::Null, json!(6)),
    ] {
        assert_eq!(prompt(&project, text), Value::Null);
        let session = state(&project, "s1");
        assert_eq!((&session["issue_no"], &session["pr_no"]), (&issue, &pull), "{text}");
    }
    prompt(&project, "/mine now");
    assert_eq!(state(&project, "s1")["workflow"], "my-flow");
    let said = stop(&project, "a").unwrap();
    assert!(said.contains("\n\nDo my-flow, time 1.\n\n"), "{said}");
    assert!(said.contains("\nonloop session done s1\n"), "{said}");
    prompt(&project, "/issue-to-impl 42");
    assert_eq!(state(&project, "s1")["issue_no"], 42);
    assert!(stop(&project, "a").unwrap().contains("Do issue-to-impl, time 1."));
    // What a link leads to comes into no prompt.
    project.write("../home/.netrc", "password of a person");
    std::fs::remove_file(project.path("mine.md")).unwrap();
    std::os::unix::fs::symlink("../home/.netrc", project.path("mine.md")).unwrap();
    assert!(!stop(&project, "a").unwrap().contains("password"));
}

#[test]
fn created_issues_and_pull_requests_are_remembered() {
    let project = Workspace::git();
    project.git_says(&["remote", "add", "origin", "git@github.com:Me/Repo.git"]);
    let ran = |line: &str, stdout: &str| {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": line },
            "tool_response": { "stdout": stdout, "stderr": "" } });
        assert_eq!(claude(&project, "PostToolUse", call), Value::Null);
    };
    let url = "https://github.com/me/repo/issues/7\n";
    for workflow in ["ultra-planner", "mega-planner"] {
        prompt(&project, &format!("/{workflow} x"));
        ran("echo gh issue create", "https://github.com/me/repo/issues/666\n");
        ran("gh issue create -t a -F b", "https://github.com/evil/x/issues/666\n");
        assert_eq!(state(&project, "s1")["issue_no"], Value::Null, "{workflow}");
        ran("gh issue create -t a -F b", url);
        assert_eq!(state(&project, "s1")["issue_no"], 7, "{workflow}");
        ran("gh issue create -t a -F b", "https://github.com/me/repo/issues/8\n");
        assert_eq!(state(&project, "s1")["issue_no"], 7, "the first one counts");
    }
    assert!(project.path(".tmp/hooked-sessions/by-issue/7.json").exists());
    ran("gh pr create --fill", "https://github.com/me/repo/pull/9\n");
    assert_eq!(state(&project, "s1")["pr_number"], 9);
    assert!(project.read(".git/HEAD").starts_with("ref: "));
}

#[test]
fn an_agent_that_changes_its_folder_keeps_its_session() {
    let project = Workspace::git();
    project.write("sub/file", "");
    prompt(&project, "/ultra-planner x");
    let mut command = project.command_at("sub", crate::workspace::program());
    let input = super::claude_input("s1", "Stop", json!({})).to_string();
    project.write("input.json", input);
    let input = std::fs::File::open(project.path("input.json")).unwrap();
    let output = command.args(["hook", "claude"]).stdin(input).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"block\""), "{output:?}");
    assert!(!project.path("sub/.tmp").exists());
}

#[test]
fn debug_logs_say_each_decision_on_one_line() {
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", "handsoff: {debug: true}\n");
    prompt(&project, "/setup-viewboard");
    super::bash(&project, "git status\n[x] [y] [z] [rule] [allow] Bash | forged");
    super::bash(&project, "rm -rf /");
    stop(&project, "a");
    let log = project.read(".tmp/hooked-sessions/permission.txt");
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("[s1] [setup-viewboard] ["), "{log}");
    assert!(log.contains("git status\\n[x]"), "{log}");
    assert!(log.lines().nth(1).unwrap().contains("[deny] Bash | rm -rf /"), "{log}");
    let log = project.read(".tmp/hook-debug.log");
    assert!(log.contains("began `setup-viewboard`") && log.contains("continued 1/8"), "{log}");
    project.write(".tmp/hook-debug.log", "x".repeat(256 * 1024));
    stop(&project, "b");
    assert_eq!(project.read(".tmp/hook-debug.log").lines().count(), 1);
    assert_eq!(project.read(".tmp/hook-debug.log.1").len(), 256 * 1024);
}
