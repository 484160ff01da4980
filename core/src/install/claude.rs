//! Claude Code: hooks in its settings; skills, commands and agents in folders beside them.

use serde_json::{Value, json};

use super::offer::{COMMANDS, Moment, SKILLS, sign};
use super::server_file::{Form, plain_entry};
use super::{HookFile, OwnFile, Piece, Scope, ServerFile, Setting};
use crate::auto::prompts::AGENTS;
use crate::hooks::Host;

/// The events that we want to hear of. A matcher would only leave tools out, so there is none.
pub(super) const EVENTS: [(&str, Moment); 6] = [
    ("UserPromptSubmit", Moment::Prompt),
    ("UserPromptExpansion", Moment::Prompt),
    ("PreToolUse", Moment::ToolCall),
    ("PermissionRequest", Moment::PermissionRequest),
    ("PostToolUse", Moment::ToolDone),
    ("Stop", Moment::Stop),
];

pub(super) fn pieces(setting: &Setting) -> Vec<Piece> {
    let hooks = EVENTS.iter().map(|(event, moment)| {
        let wait_s = setting.waits.of_moment(*moment);
        (*event, entry(&setting.hook_words(Host::Claude, Some(wait_s)), *moment, wait_s))
    });
    let mut pieces = vec![Piece::Shared(HookFile {
        path: setting.path("settings.json", ".claude/settings.json"),
        host: Host::Claude,
        version: None,
        hooks: hooks.collect(),
    })];
    // What is the user's is in a file that Claude Code itself writes while it runs.
    if setting.scope == Scope::Project {
        let mut entry = plain_entry(&setting.server_words());
        entry["type"] = json!("stdio");
        pieces.push(Piece::Server(ServerFile {
            path: format!("{}/.mcp.json", setting.project),
            form: Form::Json { servers: "mcpServers", entry },
        }));
    }
    pieces.extend(skills(setting, "skills", ".claude/skills"));
    pieces.extend(COMMANDS.iter().map(|command| {
        let path = format!("commands/hotl/{}.md", command.name);
        Piece::Own(OwnFile {
            path: setting.path(&path, &format!(".claude/{path}")),
            content: command.file(),
            executable: false,
            sign: sign(),
            owns_folder: true,
        })
    }));
    pieces.extend(AGENTS.iter().map(|agent| {
        let path = format!("agents/{}.md", agent.name);
        Piece::Own(OwnFile {
            path: setting.path(&path, &format!(".claude/{path}")),
            content: agent.claude_file(),
            executable: false,
            sign: format!("You are `{}`.", agent.name),
            owns_folder: false,
        })
    }));
    pieces
}

/// A hook in the form that runs a program without a shell in between.
pub(super) fn entry(words: &[String], moment: Moment, wait_s: u64) -> Value {
    let (command, arguments) = words.split_first().expect("a hook calls a program");
    let mut handler = json!({ "type": "command", "command": command, "args": arguments });
    if moment.must_not_fail_open() {
        handler["onFailure"] = json!("block");
    }
    handler["timeout"] = json!(wait_s);
    json!({ "hooks": [handler] })
}

/// Our skills as folders in a folder that hosts read.
pub(super) fn skills(setting: &Setting, for_user: &str, for_project: &str) -> Vec<Piece> {
    let piece = |skill: &super::offer::Skill| {
        let below = |folder: &str| format!("{folder}/{}/SKILL.md", skill.name);
        Piece::Own(OwnFile {
            path: setting.path(&below(for_user), &below(for_project)),
            content: skill.file(),
            executable: false,
            sign: sign(),
            owns_folder: true,
        })
    };
    SKILLS.iter().map(piece).collect()
}
