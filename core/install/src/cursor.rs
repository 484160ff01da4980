//! Cursor. It has an event for each sort of call; the one for all calls is asked only about
//! those that have none of their own, so that nothing is judged twice.

use serde_json::{Value, json};

use super::offer::Moment;
use super::server_file::{ServerForm, plain_entry};
use super::{HookFile, HostFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

const EVENTS: [(&str, Moment); 7] = [
    ("beforeSubmitPrompt", Moment::Prompt),
    ("beforeShellExecution", Moment::ToolCall),
    ("beforeMCPExecution", Moment::ToolCall),
    ("beforeReadFile", Moment::ToolCall),
    ("preToolUse", Moment::ToolCall),
    ("afterShellExecution", Moment::ToolDone),
    ("stop", Moment::Stop),
];
/// Follow-up messages that Cursor sends in one chat without a limit in the entry.
const FOLLOW_UPS: u32 = 5;
/// What has no event of its own.
const OTHER_TOOLS: &str = "Write|Delete|Edit|StrReplace";

pub(super) fn host_files(setting: &Setting) -> Vec<HostFile> {
    let hooks = HostFile::Shared(HookFile {
        path: setting.path("hooks.json", ".cursor/hooks.json"),
        host: Host::Cursor,
        version: Some(1),
        hooks: EVENTS
            .iter()
            .map(|(event, moment)| (*event, entry(setting, event, *moment)))
            .collect(),
    });
    let server = HostFile::Server(ServerFile {
        path: setting.path("mcp.json", ".cursor/mcp.json"),
        form: ServerForm::Json {
            servers: "mcpServers",
            entry: plain_entry(&setting.server_words()),
        },
    });
    vec![hooks, server]
}

fn entry(setting: &Setting, event: &str, moment: Moment) -> Value {
    let wait_s = setting.waits.of_moment(moment);
    let mut line = setting.hook_line(Host::Cursor, Some(wait_s));
    // Cursor stops at its own limit without a message, so onloop's limit comes first.
    let limit = setting.continuations.max(FOLLOW_UPS);
    if moment == Moment::Stop {
        line += &format!(" --loop-limit {limit}");
    }
    let mut entry = json!({ "command": line, "timeout": wait_s });
    if moment == Moment::Stop {
        entry["loop_limit"] = json!(limit);
    }
    if event == "preToolUse" {
        entry["matcher"] = json!(OTHER_TOOLS);
    }
    if moment.must_not_fail_open() {
        entry["failClosed"] = json!(true);
    }
    entry
}
