//! A call that every hook must refuse, to see whether one would protect anything.

use serde_json::{Value, json};

use super::EditError;
use super::hook_file::{HookCall, InstalledHook, installed_hooks};
use super::opencode;
use onloop_sessions::hooks::Host;

/// Nothing runs it: hooks judge, they do not act.
const LINE: &str = "rm -rf /";

/// The newest version of the Model Context Protocol that we speak.
pub const PROTOCOL_VERSION: &str = "2025-11-25";

/// The event that a host would send before it runs a line that must be refused.
pub fn event(host: Host) -> String {
    let call = json!({ "command": LINE });
    let event = match host {
        Host::Claude | Host::Codex => {
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": call })
        }
        Host::VsCode => json!({
            "hookEventName": "PreToolUse", "tool_name": "run_in_terminal", "tool_input": call,
        }),
        Host::Cursor => json!({ "hook_event_name": "beforeShellExecution", "command": LINE }),
        Host::OpenCode => {
            json!({ "event": "tool.execute.before", "tool": "bash", "input": call })
        }
        Host::Cline => json!({
            "hookName": "PreToolUse",
            "preToolUse": { "toolName": "execute_command", "parameters": call },
        }),
        Host::Copilot => json!({ "timestamp": 0, "toolName": "bash", "toolArgs": call }),
    };
    event.to_string()
}

/// What a client says that wants to know which tools a server has.
pub fn conversation() -> String {
    let client = json!({ "name": "onloop-doctor", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({
        "protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client,
    });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ];
    messages.iter().map(|message| format!("{message}\n")).collect()
}

/// How many tools the server lists; nothing when it does not.
pub fn tools_in(said: &str) -> Option<usize> {
    let mut messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = messages.find(|message| message["id"] == 2)?;
    Some(answer["result"]["tools"].as_array().filter(|tools| !tools.is_empty())?.len())
}

/// Whether the host would understand an answer as a refusal.
pub fn is_refusal(host: Host, answer: &str) -> bool {
    let Ok(answer) = serde_json::from_str::<Value>(answer) else { return false };
    match host {
        Host::Claude | Host::Codex | Host::VsCode => {
            answer["hookSpecificOutput"]["permissionDecision"] == "deny"
        }
        Host::Cursor => answer["permission"] == "deny",
        Host::OpenCode => answer["decision"] == "deny",
        Host::Cline => answer["cancel"] == true,
        Host::Copilot => answer["permissionDecision"] == "deny",
    }
}

/// The events at which a host asks before it uses a tool. Each of them must be there.
pub fn deciding_events(host: Host) -> &'static [&'static str] {
    match host {
        Host::Claude | Host::Codex | Host::VsCode | Host::Cline => &["PreToolUse"],
        Host::Cursor => {
            &["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"]
        }
        Host::OpenCode => &["tool.execute.before"],
        Host::Copilot => &["preToolUse"],
    }
}

/// The hooks of ours in the file at `path`.
///
/// # Errors
///
/// When the file is not a document of its format, or is a plugin without our hook.
pub fn hooks_in(host: Host, path: &str, text: &str) -> Result<Vec<InstalledHook>, EditError> {
    match host {
        Host::Claude | Host::Codex | Host::Cursor | Host::VsCode | Host::Copilot => {
            installed_hooks(host, text)
        }
        Host::Cline => {
            let event = path.rsplit('/').next().unwrap_or(path).to_owned();
            let call = HookCall::Words(vec![path.to_owned()]);
            Ok(vec![InstalledHook { event, call, limit_s: None }])
        }
        Host::OpenCode => {
            let words = opencode::words_of(text).ok_or(EditError::NoHook)?;
            let event = deciding_events(host)[0].to_owned();
            Ok(vec![InstalledHook { event, call: HookCall::Words(words), limit_s: None }])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_permission::Decision;
    use onloop_sessions::hooks::{AnswerForm, HookAnswer, HookEvent};

    #[test]
    fn every_host_understands_the_call_and_its_refusal() {
        for host in Host::ALL {
            let read = host.read(event(host).as_bytes()).unwrap();
            let HookEvent::ToolCall(call) = read.event else {
                panic!("{host:?}: {:?}", read.event)
            };
            assert_eq!(call.input["command"], LINE);
            assert_eq!(read.session, None, "a canary must not look like a session");
            let answer = |decision| {
                host.write(AnswerForm::ToolCall, &HookAnswer::Decided(decision, "no".to_owned()))
            };
            assert!(is_refusal(host, &answer(Decision::Deny)), "{host:?}");
            assert!(!is_refusal(host, &answer(Decision::Ask)), "{host:?}");
            assert!(!is_refusal(host, &answer(Decision::Allow)), "{host:?}");
        }
        assert!(!is_refusal(Host::Claude, ""));
    }
}
