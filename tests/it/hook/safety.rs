//! Whatever happens inside, a hook answers, and never with a permission.

use serde_json::{Value, json};

use super::{claude, prompt, send, state};
use crate::workspace::Workspace;

const HOSTS: [&str; 5] = ["claude", "codex", "cursor", "vscode", "opencode"];

/// The one answer to what cannot be understood.
#[track_caller]
fn is_safe(host: &str, stdout: &str) {
    let said: Value =
        serde_json::from_str(stdout).unwrap_or_else(|e| panic!("{host}: {e} {stdout}"));
    let specific = &said["hookSpecificOutput"];
    let (decision, reason) = match host {
        "cursor" => (&said["permission"], &said["agent_message"]),
        "opencode" => (&said["decision"], &said["reason"]),
        _ => (&specific["permissionDecision"], &specific["permissionDecisionReason"]),
    };
    let wanted = if matches!(host, "claude" | "vscode") { "ask" } else { "deny" };
    assert_eq!(*decision, *wanted, "{host}: {stdout}");
    assert!(!reason.as_str().unwrap().is_empty(), "{host}: {stdout}");
}

#[test]
fn input_that_cannot_be_understood_is_never_allowed_and_never_silence() {
    let project = Workspace::plain();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let twice = r#"{"hook_event_name":"PreToolUse","event":"tool.execute.before","hookEventName":
        "PreToolUse","tool":"bash","tool_name":"Bash","tool_input":{"command":"ls","command":"id"},
        "input":{"command":"ls","command":"id"},"command":"ls","command":"id"}"#;
    let inputs: [&[u8]; 9] = [
        b"",
        b"\n",
        b"not json",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Ba",
        deep.as_bytes(),
        twice.as_bytes(),
    ];
    for host in HOSTS {
        for input in inputs {
            let run = send(&project, host, input).expect_exit(0);
            is_safe(host, &run.stdout);
        }
    }
    assert!(!project.path(".tmp").exists());
}

#[test]
fn an_input_that_is_too_large_is_refused() {
    let project = Workspace::plain();
    let mut input = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","x":""#.to_vec();
    input.resize(9 * 1024 * 1024, b'a');
    input.extend(b"\"}\n");
    for host in ["claude", "codex"] {
        is_safe(host, &send(&project, host, &input).expect_exit(0).stdout);
    }
    let lines = "{\"a\":\n".repeat(2_000_000);
    is_safe("codex", &send(&project, "codex", lines).expect_exit(0).stdout);
}

#[test]
fn a_panic_answers_too() {
    for host in HOSTS {
        let mut probe = std::process::Command::new(env!("CARGO_BIN_EXE_host-probe"));
        let output = probe.args(["hook", host]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        is_safe(host, std::str::from_utf8(&output.stdout).unwrap());
        assert!(String::from_utf8_lossy(&output.stderr).contains("internal error in onloop"));
    }
    let mut probe = std::process::Command::new(env!("CARGO_BIN_EXE_host-probe"));
    let output = probe.arg("panic").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(70), 0));
}

#[test]
fn what_goes_wrong_before_the_program_answers_too() {
    use std::os::unix::ffi::OsStrExt;

    let project = Workspace::plain();
    let program = crate::workspace::program();
    for host in HOSTS {
        let mut bad_clock = project.command_at(".", program);
        bad_clock.env("ONLOOP_NOW", "tomorrow").args(["hook", host]);
        let mut bad_word = project.command_at(".", program);
        bad_word.args(["hook", host]).arg(std::ffi::OsStr::from_bytes(b"\xff"));
        for mut command in [bad_clock, bad_word] {
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            is_safe(host, std::str::from_utf8(&output.stdout).unwrap());
        }
    }
    // The shell stands in a folder that is gone.
    let gone = project.shell("mkdir gone && cd gone && rmdir ../gone && onloop hook claude");
    is_safe("claude", &gone.expect_exit(0).stdout);
}

#[test]
fn an_unknown_host_gets_the_code_that_every_host_takes_for_no() {
    let project = Workspace::plain();
    let call = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" } });
    let run = send(&project, "emacs", call.to_string()).expect_exit(2);
    assert!(crate::flat(&run.stderr).contains("`emacs` is not a known client"), "{run:?}");
    // The same code would send an agent on for ever.
    send(&project, "emacs", r#"{"hook_event_name": "Stop"}"#).expect_exit(0);
}

#[test]
fn words_that_a_host_adds_change_nothing() {
    let project = Workspace::plain();
    let mut command = project.command_at(".", crate::workspace::program());
    let output = command.args(["hook", "codex", "--verbose", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    is_safe("codex", std::str::from_utf8(&output.stdout).unwrap());
}

#[test]
fn d21_a_session_id_names_no_path() {
    let project = Workspace::plain();
    for id in ["../../../escaped", "a/b", "", ".", "a b", &"x".repeat(200)] {
        let input = json!({ "session_id": id, "hook_event_name": "UserPromptSubmit",
            "prompt": "/issue-to-impl 42" });
        send(&project, "claude", input.to_string()).expect_exit(0);
    }
    assert!(!project.path(".tmp").exists());
    assert!(!project.path("../escaped.json").exists());
}

#[test]
fn d25_links_are_not_followed() {
    let link = |to: &str, at: &str, project: &Workspace| {
        std::os::unix::fs::symlink(project.path(to), project.path(at)).unwrap();
    };
    let project = Workspace::plain();
    let victim = json!({ "workflow": "issue-to-impl", "state": "initial" }).to_string();
    project.write("victim.json", &victim);
    project.write(".tmp/hooked-sessions/x", "");
    link("victim.json", ".tmp/hooked-sessions/s1.json", &project);
    let said = claude(&project, "Stop", json!({}));
    assert!(said["systemMessage"].as_str().unwrap().contains("is not a regular file"), "{said}");
    prompt(&project, "/issue-to-impl 42");
    assert_eq!(project.read("victim.json"), victim);
    for folder in [".tmp", ".tmp/hooked-sessions"] {
        let project = Workspace::plain();
        project.write("elsewhere/x", "");
        if folder != ".tmp" {
            project.write(".tmp/x", "");
        }
        link("elsewhere", folder, &project);
        let said = prompt(&project, "/issue-to-impl 42");
        assert!(said["systemMessage"].as_str().unwrap().contains("is not a folder"), "{said}");
        let names = std::fs::read_dir(project.path("elsewhere")).unwrap().count();
        assert_eq!(names, 1, "{folder}");
    }
}

#[test]
fn damaged_state_stops_the_agent_and_says_so() {
    let project = Workspace::plain();
    let large = " ".repeat(100_000);
    for damage in ["", "{", "[]", "{}", r#"{"workflow":"a","continuation_count":[]}"#, &large] {
        project.write(".tmp/hooked-sessions/s1.json", damage);
        let said = claude(&project, "Stop", json!({}));
        assert_eq!(said["decision"], Value::Null);
        assert!(
            said["systemMessage"]
                .as_str()
                .unwrap()
                .contains("onloop cannot continue this session: "),
            "{said}"
        );
        let (decision, _) = super::bash(&project, "git status");
        assert_eq!(decision, "allow", "a call needs no session");
    }
    prompt(&project, "/issue-to-impl 42");
    assert_eq!(state(&project, "s1")["issue_no"], 42, "a new session replaces it");
}

#[test]
fn a_folder_that_cannot_be_written_stops_nothing_else() {
    let project = Workspace::plain();
    project.write(".tmp", "a file is in the way");
    let said = prompt(&project, "/issue-to-impl 42");
    assert!(
        said["systemMessage"].as_str().unwrap().contains("onloop cannot store this session: "),
        "{said}"
    );
    assert_eq!(super::bash(&project, "git status").0, "allow");
    assert_eq!(super::bash(&project, "rm -rf /").0, "deny");
}
