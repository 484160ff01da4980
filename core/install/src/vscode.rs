//! VS Code with Copilot: a file of hooks of our own, prompt files, agents and skills.

use serde_json::{Map, Value, json};

use super::agent::AgentDefinition;
use super::claude::skills;
use super::offer::{COMMANDS, Moment, SIGN};
use super::server_file::{ServerForm, plain_entry};
use super::{HostFile, InstallScope, OwnFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

const EVENTS: [(&str, Moment); 4] = [
    ("UserPromptSubmit", Moment::Prompt),
    ("PreToolUse", Moment::ToolCall),
    ("PostToolUse", Moment::ToolDone),
    ("Stop", Moment::Stop),
];

pub(super) fn host_files(setting: &Setting, agents: &[&AgentDefinition]) -> Vec<HostFile> {
    let mut hooks = Map::new();
    for (event, moment) in EVENTS {
        let wait_s = setting.waits.of_moment(moment);
        let line = setting.hook_line(Host::VsCode, Some(wait_s));
        let entry = json!({ "type": "command", "command": line, "timeout": wait_s });
        hooks.insert(event.to_owned(), json!([entry]));
    }
    let path = setting.path("hooks/onloop.json", ".github/hooks/onloop.json");
    let hooks = document(&json!({ "hooks": hooks }));
    let mut files = vec![HostFile::Own(OwnFile::text(path, hooks, " hook vscode"))];
    files.extend(prompts(setting, agents));
    // Where the user's own are depends on the system and on the profile.
    if setting.scope == InstallScope::Project {
        let mut entry = plain_entry(&setting.server_words());
        entry["type"] = json!("stdio");
        files.push(HostFile::Server(ServerFile {
            path: format!("{}/.vscode/mcp.json", setting.project),
            form: ServerForm::Json { servers: "servers", entry },
        }));
    }
    files.extend(agents.iter().map(|agent| {
        let path = format!("agents/{}.agent.md", agent.name);
        let path = setting.path(&path, &format!(".github/{path}"));
        HostFile::Own(OwnFile::text(path, agent.vscode_file(), agent.sign()))
    }));
    files.extend(skills(setting, "skills", ".github/skills"));
    files
}

/// Our commands. Those of a user lie in the profile of the editor, which only the editor knows.
fn prompts(setting: &Setting, agents: &[&AgentDefinition]) -> Vec<HostFile> {
    let host_file = |command: &super::offer::SlashCommand| {
        let path = format!("{}/.github/prompts/hotl-{}.prompt.md", setting.project, command.name);
        HostFile::Own(OwnFile::text(path, command.prompt_file(), SIGN))
    };
    let starts_agent = |agent: &&AgentDefinition| {
        let path = format!("{}/.github/prompts/{}.prompt.md", setting.project, agent.name);
        HostFile::Own(OwnFile::text(path, format!("{}\n{SIGN}\n", agent.prompt_file()), SIGN))
    };
    match setting.scope {
        InstallScope::User => Vec::new(),
        InstallScope::Project => {
            let entry_points = agents.iter().filter(|agent| !agent.starts.is_empty());
            COMMANDS.iter().map(host_file).chain(entry_points.map(starts_agent)).collect()
        }
    }
}

/// JSON for a file.
pub(super) fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
