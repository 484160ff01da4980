//! Copilot CLI: a file of hooks of our own, and skills.

use serde_json::{Map, json};

use super::claude::skills;
use super::offer::Moment;
use super::server_file::{ServerForm, plain_entry};
use super::vscode::document;
use super::{HostFile, OwnFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

const EVENTS: [(&str, Moment); 4] = [
    ("userPromptSubmitted", Moment::Prompt),
    ("preToolUse", Moment::ToolCall),
    ("postToolUse", Moment::ToolDone),
    ("agentStop", Moment::Stop),
];

pub(super) fn host_files(setting: &Setting) -> Vec<HostFile> {
    let mut hooks = Map::new();
    for (event, moment) in EVENTS {
        let wait_s = setting.waits.of_moment(moment);
        let line = setting.hook_line(Host::Copilot, Some(wait_s));
        let shell = if setting.is_on_windows() { "powershell" } else { "bash" };
        let entry = json!({ "type": "command", shell: line, "timeoutSec": wait_s });
        hooks.insert(event.to_owned(), json!([entry]));
    }
    // VS Code reads the same folder; the two files must not be one.
    let path = setting.path("hooks/onloop-copilot.json", ".github/hooks/onloop-copilot.json");
    let hooks = document(&json!({ "version": 1, "hooks": hooks }));
    let mut files = vec![HostFile::Own(OwnFile::text(path, hooks, " hook copilot"))];
    let mut entry = plain_entry(&setting.server_words());
    entry["type"] = json!("local");
    entry["tools"] = json!(["*"]);
    files.push(HostFile::Server(ServerFile {
        path: setting.path("mcp-config.json", ".github/mcp.json"),
        form: ServerForm::Json { servers: "mcpServers", entry },
    }));
    files.extend(skills(setting, "skills", ".github/skills"));
    files
}
