//! Hooks of agent hosts and the sessions that they keep, with the real program.

mod background;
mod client_rules;
mod driving;
mod escalation;
mod git_hooks;
mod git_incoming;
mod goal;
mod hosts;
mod keep;
mod mistakes;
mod nested;
mod permission;
#[cfg(target_os = "linux")]
mod programs;
mod properties;
mod provider_wait;
mod pull_requests;
mod races;
mod runs;
mod safety;
#[cfg(target_os = "linux")]
mod sandboxed;
mod sessions;
mod turn;
mod verb;

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::workspace::{Run, Workspace, program};

/// Sends one event to a hook of `host` and gives what came of it.
pub(crate) fn send(project: &Workspace, host: &str, input: impl AsRef<[u8]>) -> Run {
    let mut command = project.command_at(".", program());
    command.args(["hook", host]).stdin(Stdio::piped());
    // Whoever runs the tests may have the real one.
    command.env("HANDSOFF_AUTO_PERMISSION", if asks_a_model(project) { "1" } else { "0" });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that is not interested may have closed its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap().into()
}

/// Whether the project brings a model of its own.
fn asks_a_model(project: &Workspace) -> bool {
    project.path("../bin/claude").exists()
}

/// A stand-in for the client of a model: it keeps what it is asked and answers `answer`.
pub(crate) fn with_model(project: Workspace, answer: &str) -> Workspace {
    use std::os::unix::fs::PermissionsExt;

    let script = format!(
        "#!/bin/sh\necho \"$@\" >> \"$HOME/calls\"\ncat >> \"$HOME/asked\"\necho '{answer}'\n"
    );
    project.write("../bin/claude", script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/claude"), mode).unwrap();
    project
}

/// What a hook says, which always ends with 0; `Null`: nothing.
#[track_caller]
pub(crate) fn say(project: &Workspace, host: &str, input: &Value) -> Value {
    let run = send(project, host, input.to_string()).expect_exit(0);
    if run.stdout.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// What Claude Code is told about an event of session `s1`.
#[track_caller]
pub(crate) fn claude(project: &Workspace, event: &str, members: Value) -> Value {
    say(project, "claude", &claude_input("s1", event, members))
}

pub(crate) fn claude_input(session: &str, event: &str, members: Value) -> Value {
    let mut input = json!({ "session_id": session, "hook_event_name": event });
    for (key, value) in members.as_object().unwrap() {
        input[key] = value.clone();
    }
    input
}

/// The decision about a line of shell, as Claude Code is told, and its reason.
#[track_caller]
pub(crate) fn bash(project: &Workspace, line: &str) -> (String, String) {
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": line } });
    let said = claude(project, "PreToolUse", call);
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], "PreToolUse");
    let text = |key: &str| said[key].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// A prompt of a person in session `s1` of Claude Code.
#[track_caller]
pub(crate) fn prompt(project: &Workspace, text: &str) -> Value {
    claude(project, "UserPromptSubmit", json!({ "prompt": text }))
}

/// A stop of session `s1` of Claude Code whose agent says `message`: the prompt with which it
/// is sent on, if it is.
#[track_caller]
pub(crate) fn stop(project: &Workspace, message: &str) -> Option<String> {
    let said = claude(project, "Stop", json!({ "last_assistant_message": message }));
    match said["decision"].as_str() {
        Some("block") => Some(said["reason"].as_str().unwrap().to_owned()),
        Some(other) => panic!("{other}"),
        None => None,
    }
}

/// Session `id` of Claude Code calls its shell with `line`.
#[track_caller]
pub(crate) fn calls(project: &Workspace, id: &str, line: &str) -> Value {
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": line } });
    say(project, "claude", &claude_input(id, "PreToolUse", call))
}

/// A client did not start what was rewritten for it, long ago.
pub(crate) fn never_started(project: &Workspace) {
    let folder = project.path("../home/.state/onloop/temporary");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("starts-") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// The file of a session.
pub(crate) fn state(project: &Workspace, id: &str) -> Value {
    let file = project.read(&format!(".tmp/hooked-sessions/{id}.json"));
    serde_json::from_str(&file).unwrap()
}
