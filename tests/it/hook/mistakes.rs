//! A mistake in the configuration is said at once, and once.

use serde_json::{Value, json};

use super::{bash, claude, claude_input, prompt, say, send};
use crate::workspace::Workspace;

const ODD: &str = "handsof: {enabled: true}\ntelegram: {enabled: true}\n";
const NOTES: [&str; 2] = [
    "line 1, column 1: `handsof` is not known; did you mean `handsoff`?",
    "`telegram` is off: it needs `token` and `chat_id`",
];

#[test]
fn the_first_hook_of_a_session_says_it_and_no_other() {
    let project = Workspace::plain();
    assert_eq!(prompt(&project, "hello"), Value::Null);
    project.write(".agentize.local.yaml", ODD);
    assert_eq!(bash(&project, "ls").0, "allow", "calls are judged, and nothing is said");
    let place = project.path(".agentize.local.yaml");
    let expected = format!(
        "onloop: your configuration has mistakes (`{}`):\n  - {}\n  - {}\n  `onloop doctor` shows \
         them again.",
        place.display(),
        NOTES[0],
        NOTES[1]
    );
    assert_eq!(prompt(&project, "hello")["systemMessage"], expected);
    assert_eq!(prompt(&project, "hello again"), Value::Null);
    assert_eq!(claude(&project, "Stop", json!({})), Value::Null);
    let other = claude_input("s2", "UserPromptSubmit", json!({ "prompt": "hello" }));
    assert_eq!(say(&project, "claude", &other)["systemMessage"], expected);
    // Another mistake is new.
    project.write(".agentize.local.yaml", "handsoff: [");
    let said = prompt(&project, "hello");
    assert!(said["systemMessage"].as_str().unwrap().contains("nothing is continued"), "{said}");
    project.write(".agentize.local.yaml", "handsoff: {enabled: true}\n");
    assert_eq!(prompt(&project, "hello"), Value::Null);
}

#[test]
fn it_is_said_in_every_host_that_can_say_something() {
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", ODD);
    let codex =
        json!({ "session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "hi" });
    let vscode = json!({ "sessionId": "s2", "hookEventName": "UserPromptSubmit", "prompt": "hi" });
    for (host, input) in [("codex", codex), ("vscode", vscode)] {
        let said = say(&project, host, &input);
        assert!(said["systemMessage"].as_str().unwrap().contains(NOTES[0]), "{host}: {said}");
    }
    let opencode = json!({ "session_id": "s3", "event": "chat.message", "text": "hi" });
    let said = say(&project, "opencode", &opencode);
    assert!(said["message"].as_str().unwrap().contains(NOTES[0]), "{said}");
    let cursor =
        json!({ "conversation_id": "c", "hook_event_name": "beforeSubmitPrompt", "prompt": "hi" });
    let run = send(&project, "cursor", cursor.to_string()).expect_exit(0);
    assert!(run.stderr.contains(NOTES[0]), "{run:?}");
    assert_eq!(run.stdout, "{\"continue\":true}\n");
    let again = send(&project, "cursor", cursor.to_string()).expect_exit(0);
    assert_eq!(again.stderr, "");
}

#[test]
fn the_verbs_that_people_ask_say_it_too() {
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", ODD);
    let doctor = project.onloop(&["doctor", "codex"]).expect_exit(1);
    let list = project.onloop(&["session", "list"]).expect_exit(0);
    for note in NOTES {
        assert!(doctor.stdout.contains(&format!("  ✗ configuration: {note}\n")), "{doctor:?}");
        let warning = format!("warning: configuration: {note}");
        assert!(crate::flat(&list.stderr).contains(&warning), "{list:?}");
    }
}
