//! Each host's own events and answers, with the real program.

use serde_json::{Value, json};

use super::{say, state};
use crate::workspace::Workspace;

#[test]
fn claude_code_is_told_each_decision_with_its_reason() {
    let project = Workspace::plain();
    for (line, expected) in
        [("git status", "allow"), ("rm -rf /", "deny"), ("frobnicate push", "ask")]
    {
        let (decision, reason) = super::bash(&project, line);
        assert_eq!(decision, expected, "{line}: {reason}");
        assert!(reason.starts_with("onloop ("), "{reason}");
    }
}

#[test]
fn d20_a_permission_request_is_answered_or_left_to_the_person() {
    let project = Workspace::plain();
    let request = |host: &str, line: &str| {
        let input = json!({ "session_id": "s1", "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": { "command": line } });
        say(&project, host, &input)["hookSpecificOutput"]["decision"]["behavior"].clone()
    };
    for host in ["claude", "codex"] {
        assert_eq!(request(host, "git status"), "allow");
        assert_eq!(request(host, "rm -rf /"), "deny");
        assert_eq!(request(host, "frobnicate"), Value::Null);
    }
}

#[test]
fn codex_hears_nothing_but_refusals() {
    let project = Workspace::plain();
    let call = |tool: &str, command: &str| {
        let input = json!({ "session_id": "s1", "turn_id": "t", "model": "m", "cwd": "/r",
            "transcript_path": null, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "u",
            "tool_input": { "command": command } });
        say(&project, "codex", &input)
    };
    assert_eq!(call("Bash", "git status"), Value::Null);
    assert_eq!(call("Bash", "frobnicate"), Value::Null);
    let denied = call("Bash", "rm -rf /");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&denied), ["hookSpecificOutput"]);
    let expected = ["hookEventName", "permissionDecision", "permissionDecisionReason"];
    assert_eq!(keys(&denied["hookSpecificOutput"]), expected);
    let patch =
        "*** Begin Patch\n*** Update File: .git/hooks/pre-commit\n@@\n-a\n+b\n*** End Patch";
    assert_eq!(call("apply_patch", patch)["hookSpecificOutput"]["permissionDecision"], "deny");
    // What loses work or leaves the machine would run unasked.
    for line in ["make deploy", "./deploy.sh", "git config core.hooksPath x", "mv a b", "rm -r src"]
    {
        let output = &call("Bash", line)["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "deny", "{line}");
    }
}

#[test]
fn codex_is_sent_on_without_a_cap_of_its_own() {
    let project = Workspace::plain();
    let event = |name: &str, more: Value| {
        let mut input = json!({ "session_id": "s1", "turn_id": "t", "model": "m",
            "hook_event_name": name, "transcript_path": null });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        say(&project, "codex", &input)
    };
    event("UserPromptSubmit", json!({ "prompt": "/agentize:issue-to-impl 42" }));
    let said = event("Stop", json!({ "stop_hook_active": false, "last_assistant_message": "a" }));
    assert_eq!(said["decision"], "block");
    let prompt = said["reason"].as_str().unwrap();
    assert!(prompt.lines().next().unwrap().contains(" 1/10 "), "{prompt}");
    assert_eq!(said.as_object().unwrap().len(), 2);
    for name in ["SessionStart", "SubagentStart", "SubagentStop", "PreCompact", "Interrupt"] {
        assert_eq!(event(name, json!({})), Value::Null, "{name}");
    }
}

#[test]
fn d18_d19_cursor_judges_calls_and_goes_on_by_follow_ups() {
    let project = Workspace::plain();
    let event = |name: &str, more: Value| {
        let mut input = json!({ "conversation_id": "c1", "generation_id": "g1",
            "hook_event_name": name, "workspace_roots": [project.path(".")] });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        say(&project, "cursor", &input)
    };
    let shell = |line: &str| event("beforeShellExecution", json!({ "command": line, "cwd": "" }));
    assert_eq!(shell("git status"), json!({ "permission": "allow" }));
    assert_eq!(shell("rm -rf /")["permission"], "deny");
    assert!(shell("rm -rf /")["agent_message"].as_str().unwrap().starts_with("onloop ("));
    assert_eq!(shell("frobnicate")["permission"], "ask");
    let read = event("beforeReadFile", json!({ "file_path": project.path(".env") }));
    assert_eq!(read["permission"], "deny");

    let go_on = json!({ "continue": true });
    assert_eq!(event("beforeSubmitPrompt", json!({ "prompt": "" })), go_on);
    assert_eq!(event("beforeSubmitPrompt", json!({ "prompt": "/ultra-planner x" })), go_on);
    let said = event("stop", json!({ "status": "completed", "loop_count": 0 }));
    let follow_up = said["followup_message"].as_str().unwrap().to_owned();
    assert!(follow_up.lines().next().unwrap().contains(" 1/5 "), "{follow_up}");
    // Cursor sends it as if a person had; that is no other request.
    assert_eq!(event("beforeSubmitPrompt", json!({ "prompt": follow_up })), go_on);
    assert!(event("stop", json!({ "status": "completed" }))["followup_message"].is_string());
    for status in ["aborted", "error"] {
        assert_eq!(event("stop", json!({ "status": status })), Value::Null);
    }
    assert_eq!(state(&project, "c1")["continuation_count"], 2);
}

#[test]
fn cursor_keeps_the_rules_of_its_project_in_other_folders() {
    let project = Workspace::git();
    project.write(".agentize.local.yaml", "permissions: {deny: [\"^git log\"]}\n");
    project.write(".gitignore", ".agentize.local.yaml\n");
    let elsewhere = project.path("../elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let event = |name: &str, more: Value| {
        let mut input = json!({ "conversation_id": "c1", "generation_id": "g1", "cwd": elsewhere,
            "hook_event_name": name, "workspace_roots": [project.path("")] });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        say(&project, "cursor", &input)["permission"].clone()
    };
    assert_eq!(event("beforeShellExecution", json!({ "command": "git log" })), "deny");
    assert_ne!(event("beforeShellExecution", json!({ "command": "echo x > y" })), "allow");
    let file = json!({ "file_path": elsewhere.join("x"), "content": "x" });
    let write = json!({ "tool_name": "Write", "tool_input": file });
    assert_ne!(event("preToolUse", write), "allow");
}

#[test]
fn vs_code_has_its_own_form_and_its_own_tools() {
    let project = Workspace::plain();
    let event = |name: &str, more: Value| {
        let mut input = json!({ "sessionId": "v1", "hookEventName": name,
            "timestamp": "2026-03-20T10:00:00Z", "cwd": project.path(".") });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        input
    };
    let tool = |tool: &str, input: Value| {
        event("PreToolUse", json!({ "tool_name": tool, "tool_input": input }))
    };
    let decision = |input: &Value| {
        say(&project, "vscode", input)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let file = |name: &str| json!({ "filePath": project.path(name), "content": "x" });
    assert_eq!(decision(&tool("create_file", file("src/a.rs"))), "allow");
    assert_eq!(decision(&tool("create_file", file(".git/hooks/pre-commit"))), "deny");
    assert_eq!(decision(&tool("run_in_terminal", json!({ "command": "rm -rf /" }))), "deny");
    assert_eq!(decision(&tool("some_extension_tool", json!({}))), "ask");

    let begun = event("UserPromptSubmit", json!({ "prompt": "/ultra-planner x" }));
    assert_eq!(say(&project, "vscode", &begun), Value::Null);
    let said = say(&project, "vscode", &event("Stop", json!({})));
    assert_eq!(said["hookSpecificOutput"]["decision"], "block", "{said}");
    assert_eq!(said["hookSpecificOutput"]["hookEventName"], "Stop");

    // The hook for Claude Code is called for all of this, too.
    for input in [
        tool("create_file", file(".git/hooks/pre-commit")),
        tool("run_in_terminal", json!({ "command": "rm -rf /" })),
        event("UserPromptSubmit", json!({ "prompt": "/issue-to-impl 42" })),
        event("Stop", json!({})),
    ] {
        assert_eq!(say(&project, "claude", &input), Value::Null, "{input}");
    }
    assert_eq!(state(&project, "v1")["workflow"], "ultra-planner");
}

#[test]
fn opencode_is_answered_in_the_form_of_our_plugin() {
    let project = Workspace::plain();
    let event = |name: &str, more: Value| {
        let mut input = json!({ "event": name, "session_id": "o1", "cwd": project.path(".") });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        say(&project, "opencode", &input)
    };
    let call = |tool: &str, input: Value| {
        event("tool.execute.before", json!({ "tool": tool, "input": input }))["decision"].clone()
    };
    assert_eq!(call("bash", json!({ "command": "git status" })), "allow");
    assert_eq!(call("bash", json!({ "command": "rm -rf /" })), "deny");
    assert_eq!(call("read", json!({ "filePath": project.path(".env") })), "deny");
    assert_eq!(call("mystery", json!({})), "deny");
    assert_eq!(event("session.idle", json!({})), Value::Null);
    assert_eq!(event("chat.message", json!({ "text": "/ultra-planner x" })), Value::Null);
    let said = event("session.idle", json!({}));
    assert_eq!(said["continue"], true);
    let prompt = said["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.lines().next().unwrap().contains(" 1/10 "), "{prompt}");
    event("chat.message", json!({ "text": prompt }));
    assert_eq!(event("session.idle", json!({ "last_message": "b" }))["continue"], true);
}

#[test]
fn a_stop_that_the_hooks_of_two_hosts_are_asked_about_counts_once() {
    let project = Workspace::plain();
    let begun = json!({ "sessionId": "v1", "hookEventName": "UserPromptSubmit",
        "cwd": project.path("."), "prompt": "/ultra-planner x" });
    say(&project, "vscode", &begun);
    let transcript = project.path("events.jsonl");
    let mut conversation = String::new();
    for number in 1..=3 {
        conversation +=
            &format!("{{\"type\":\"assistant.message\",\"data\":{{\"n\":{number}}}}}\n");
        project.write("events.jsonl", &conversation);
        let stop = json!({ "sessionId": "v1", "hookEventName": "Stop",
            "cwd": project.path("."), "transcript_path": transcript });
        let said = say(&project, "vscode", &stop);
        let words = said["hookSpecificOutput"]["reason"].as_str().unwrap().to_owned();
        assert!(words.contains(&format!(" {number}/10 ")), "{words}");
        // Copilot CLI reads both files, and what it wrote about a hook changes nothing.
        let noted = format!("{conversation}{{\"type\":\"hook.end\",\"data\":{{}}}}\n");
        project.write("events.jsonl", noted);
        let stop = json!({ "sessionId": "v1", "timestamp": 0, "stopReason": "end_turn",
            "cwd": project.path("."), "transcriptPath": transcript });
        let again = say(&project, "copilot", &stop);
        assert_eq!(again["reason"].as_str().unwrap().lines().next(), words.lines().next());
    }
    assert_eq!(state(&project, "v1")["continuation_count"], 3);
}
