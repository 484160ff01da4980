//! Claude Code: hooks in its settings; skills, commands and agents in folders beside them.

use serde_json::{Value, json};

use super::agent::AgentDefinition;
use super::offer::{COMMANDS, Moment, SIGN, SKILLS};
use super::server_file::{ServerForm, plain_entry};
use super::{HookFile, HostFile, InstallScope, OwnFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

/// The events that we subscribe to. A matcher would only leave tools out, so there is none.
pub(super) const EVENTS: [(&str, Moment); 9] = [
    ("UserPromptSubmit", Moment::Prompt),
    ("UserPromptExpansion", Moment::Prompt),
    ("PreToolUse", Moment::ToolCall),
    ("PermissionRequest", Moment::PermissionRequest),
    ("PostToolUse", Moment::ToolDone),
    ("Stop", Moment::Stop),
    ("Stop", Moment::Background),
    ("SessionStart", Moment::Compacted),
    ("StopFailure", Moment::StopFailure),
];

/// Of the reasons for which a session starts, the one that matters: its conversation was compacted.
pub(super) const COMPACTED: &str = "compact";

pub(super) fn host_files(setting: &Setting, agents: &[&AgentDefinition]) -> Vec<HostFile> {
    let hooks = EVENTS.iter().map(|(event, moment)| {
        let wait_s = setting.waits.of_moment(*moment);
        let words = setting.hook_words(Host::Claude, Some(wait_s));
        (*event, entry(words, *moment, wait_s))
    });
    let mut files = vec![HostFile::Shared(HookFile {
        path: setting.path("settings.json", ".claude/settings.json"),
        host: Host::Claude,
        version: None,
        hooks: hooks.collect(),
    })];
    // What is the user's is in a file that Claude Code itself writes while it runs.
    if setting.scope == InstallScope::Project {
        let mut entry = plain_entry(&setting.server_words());
        entry["type"] = json!("stdio");
        files.push(HostFile::Server(ServerFile {
            path: format!("{}/.mcp.json", setting.project),
            form: ServerForm::Json { servers: "mcpServers", entry },
        }));
    }
    files.extend(skills(setting, "skills", ".claude/skills"));
    files.extend(COMMANDS.iter().map(|command| {
        let path = format!("commands/hotl/{}.md", command.name);
        let path = setting.path(&path, &format!(".claude/{path}"));
        HostFile::Own(OwnFile::text(path, command.file(), SIGN))
    }));
    files.extend(agents.iter().map(|agent| {
        let path = format!("agents/{}.md", agent.name);
        let path = setting.path(&path, &format!(".claude/{path}"));
        HostFile::Own(OwnFile::text(path, agent.claude_file(), agent.sign()))
    }));
    files
}

/// A hook in the form that runs a program without a shell in between.
pub(super) fn entry(mut words: Vec<String>, moment: Moment, wait_s: u64) -> Value {
    if moment == Moment::Background {
        words.push("--background".to_owned());
    }
    let (command, arguments) = words.split_first().expect("a hook calls a program");
    let mut handler = json!({ "type": "command", "command": command, "args": arguments });
    if moment.must_not_fail_open() {
        handler["onFailure"] = json!("block");
    }
    // It waits in the background, and its exit code wakes the client.
    if matches!(moment, Moment::Background | Moment::StopFailure) {
        handler["asyncRewake"] = json!(true);
    }
    handler["timeout"] = json!(wait_s);
    match moment {
        Moment::Compacted => json!({ "matcher": COMPACTED, "hooks": [handler] }),
        Moment::Prompt
        | Moment::ToolCall
        | Moment::PermissionRequest
        | Moment::ToolDone
        | Moment::Stop
        | Moment::Background
        | Moment::StopFailure => json!({ "hooks": [handler] }),
    }
}

/// Our skills as folders in a folder that hosts read.
pub(super) fn skills(setting: &Setting, for_user: &str, for_project: &str) -> Vec<HostFile> {
    let host_file = |skill: &super::offer::Skill| {
        let below = |folder: &str| format!("{folder}/{}/SKILL.md", skill.name);
        let path = setting.path(&below(for_user), &below(for_project));
        HostFile::Own(OwnFile::text(path, skill.file(), SIGN))
    };
    SKILLS.iter().map(host_file).collect()
}
