//! Hooks in the turn of a run's agent: the run's own, and those that the user has installed.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{claude_input, with_model};
use crate::workspace::{Workspace, program};

/// A project in whose run the agent may call `./tool`, and a model that takes its time to allow.
fn project(answer: &str) -> Workspace {
    let project = with_model(Workspace::plain(), &format!("'; sleep 0.3; echo '{answer}"));
    let state_home = project.path("../home/state").display().to_string();
    let policy = json!({
        "verification": ["./tool"], "allowed": [], "on_ask": "deny",
        "state_home": state_home, "calls": format!("{state_home}/calls.jsonl"),
    });
    project.write("../home/state/policy.json", policy.to_string());
    project.write("../home/state/calls.jsonl", "");
    project
}

/// Asks a hook about a call with this id and line; the run's own names the policy with an option.
fn ask(project: &Workspace, is_installed: bool, id: &str, line: &str) -> Child {
    let policy = project.path("../home/state/policy.json");
    let mut command = project.command_at(".", program());
    command.args(["hook", "claude"]).env("HANDSOFF_AUTO_PERMISSION", "1");
    if is_installed {
        command.env("ONLOOP_TURN_POLICY", policy);
    } else {
        command.arg("--policy").arg(policy);
    }
    let input = json!({ "command": line });
    let call = json!({ "tool_name": "Bash", "tool_input": input, "tool_use_id": id });
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = claude_input("s1", "PreToolUse", call).to_string();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child
}

fn decision(child: Child) -> String {
    let said: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

/// Both at once, as some clients ask.
fn both(project: &Workspace, id: &str, line: &str) -> [String; 2] {
    [false, true].map(|is_installed| ask(project, is_installed, id, line)).map(decision)
}

fn questions(project: &Workspace) -> usize {
    std::fs::read_to_string(project.path("../home/calls")).unwrap_or_default().lines().count()
}

#[test]
fn installed_hooks_know_what_the_run_knows_and_nobody_is_asked_twice() {
    let project = project("allow");
    assert_eq!(both(&project, "1", "./tool"), ["allow", "allow"], "it verifies the step");
    assert_eq!(both(&project, "2", "rm -rf /"), ["deny", "deny"]);
    assert_eq!(questions(&project), 0);
    assert_eq!(both(&project, "3", "frobnicate"), ["allow", "allow"]);
    assert_eq!(questions(&project), 1);
    // The answer counted for one call, whatever the next one is called.
    assert_eq!(both(&project, "4", "frobnicate"), ["allow", "allow"]);
    assert_eq!(both(&project, "4", "frobnicate --all"), ["allow", "allow"]);
    assert_eq!(questions(&project), 3);
    let calls = project.read("../home/state/calls.jsonl");
    let of = |is_installed: &bool| {
        let calls = calls.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        calls
            .filter(|call| call["by_installed"].as_bool().unwrap_or(false) == *is_installed)
            .count()
    };
    assert_eq!([false, true].map(|is_installed| of(&is_installed)), [5, 5], "{calls}");
}

#[test]
fn what_nobody_decides_is_refused_by_both_and_a_policy_that_is_gone_refuses_everything() {
    let project = project("no idea");
    assert_eq!(both(&project, "1", "frobnicate"), ["deny", "deny"]);
    assert_eq!(questions(&project), 1);
    std::fs::remove_file(project.path("../home/state/policy.json")).unwrap();
    assert_eq!(both(&project, "2", "./tool"), ["deny", "deny"]);
    assert_eq!(both(&project, "3", "ls"), ["deny", "deny"]);
}
