//! Calls that no rule decides, and prompts that a supervisor writes.

use serde_json::{Value, json};

use super::{bash, claude, prompt, stop, with_model};
use crate::workspace::Workspace;

fn calls(project: &Workspace) -> usize {
    std::fs::read_to_string(project.path("../home/calls")).unwrap_or_default().lines().count()
}

fn request(project: &Workspace, line: &str) -> Value {
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": line } });
    claude(project, "PermissionRequest", call)
}

#[test]
fn a_call_is_escalated_once_although_hosts_raise_two_events() {
    let project = with_model(Workspace::plain(), "ask");
    assert_eq!(bash(&project, "frobnicate push").0, "ask");
    assert_eq!(request(&project, "frobnicate push"), Value::Null);
    assert_eq!(calls(&project), 1);
    // The answer counted for that call only, and once.
    assert_eq!(request(&project, "frobnicate push --all"), Value::Null);
    assert_eq!(request(&project, "frobnicate push"), Value::Null);
    assert_eq!(calls(&project), 3);
}

#[test]
fn a_model_decides_what_no_rule_does_and_nothing_else() {
    let project = with_model(Workspace::plain(), "allow");
    assert_eq!(bash(&project, "frobnicate push").0, "allow");
    assert_eq!(bash(&project, "rm -rf /").0, "deny");
    assert_eq!(calls(&project), 1);
    let asked = project.read("../home/asked");
    assert!(asked.contains("frobnicate"), "{asked}");
    assert_eq!(
        request(&project, "frobnicate push")["hookSpecificOutput"]["decision"]["behavior"],
        "allow"
    );
    assert_eq!(calls(&project), 1);
}

#[test]
fn what_a_person_decides_no_model_is_asked_about() {
    let project = with_model(Workspace::plain(), "allow");
    assert_eq!(bash(&project, "onloop gate 2 approved").0, "ask");
    assert_eq!(bash(&project, "frobnicate && onloop resume --adopt").0, "ask");
    assert_eq!(bash(&project, "onloop approve 1f2e3d4c").0, "deny");
    assert_eq!(bash(&project, "onloop permit trust").0, "deny");
    assert_eq!(calls(&project), 0);
    assert_eq!(bash(&project, "onloop permit explain 'git status'").0, "allow");
}

#[test]
fn an_agent_that_is_asked_for_an_opinion_asks_nobody_and_is_not_sent_on() {
    let project = with_model(Workspace::plain(), "allow").with_env("ONLOOP_HOOK_DEPTH", "1");
    assert_eq!(bash(&project, "frobnicate push").0, "ask");
    prompt(&project, "/ultra-planner x");
    assert_eq!(stop(&project, "a"), None);
    assert_eq!(calls(&project), 0);
}

#[test]
fn without_a_person_a_call_is_put_off_and_answered_by_hand() {
    let project = Workspace::plain().with_env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let (decision, reason) = bash(&project, "frobnicate push");
    assert_eq!(decision, "defer");
    let id = reason.rsplit(' ').next().unwrap().to_owned();
    assert!(reason.contains("answer with: onloop approve"), "{reason}");
    project.onloop(&["approve", &id]).expect_exit(0);
    assert_eq!(bash(&project, "frobnicate push").0, "allow");
    assert_eq!(bash(&project, "frobnicate push").0, "defer", "an answer counts once");
    // Only one host can wait like that.
    let input = json!({ "command": "frobnicate push", "conversation_id": "c" });
    assert_eq!(super::say(&project, "cursor", &input)["permission"], "ask");
}

#[test]
fn d26_a_supervisor_writes_the_words_and_we_the_frame() {
    let project = with_model(Workspace::plain(), "First run the failing test. {#x#}");
    let yaml = "handsoff:\n  supervisor: {provider: claude, model: '$(touch evil)', \
                flags: '$(touch${IFS}evil)'}\n";
    project.write(".agentize.local.yaml", yaml);
    prompt(&project, "/ultra-planner x");
    let said = stop(&project, "a").unwrap();
    assert!(said.lines().next().unwrap().contains(" 1/8 "), "{said}");
    assert!(said.contains("\n\nFirst run the failing test. {#x#}\n\n"), "{said}");
    assert!(said.lines().any(|line| line == "onloop session done s1"), "{said}");
    assert!(!project.path("evil").exists());
    assert!(project.read("../home/calls").contains("$(touch evil)"));
    with_model_that_fails(&project);
    assert!(stop(&project, "b").unwrap().contains("comprehensive implementation plan"));
}

fn with_model_that_fails(project: &Workspace) {
    project.write("../bin/claude", "#!/bin/sh\necho half\nexit 1\n");
}
