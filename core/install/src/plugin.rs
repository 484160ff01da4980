//! The plugin for Claude Code and Codex: what people get from a marketplace, without an
//! installation.
//!
//! Its files lie in `npm/plugin` and are generated from the [offer](super::offer). A plugin that
//! comes from git has no step in which it could be built, so its hooks start a launcher with
//! `node`, which looks for the program. Each host has a manifest of its own, and hooks of its
//! own: Codex would run what Claude Code's hook only asks about.

use serde_json::{Map, Value, json};

use super::SERVER;
use super::Waits;
use super::agent::AgentDefinition;
use super::claude::{EVENTS, entry};
use super::codex;
use super::offer::{COMMANDS, SKILLS};
use super::server_file::plain_entry;
use super::vscode::document;
use onloop_permission::offered::PLUGIN;

const DESCRIPTION: &str = "Runs workflow files step by step with verified steps, gates and a record, and judges every tool call of an agent that works unattended.";

/// Every generated file of the plugin: its path below the plugin's folder, and its content.
pub fn files(agents: &[&AgentDefinition]) -> Vec<(String, String)> {
    let mut files = vec![
        (".claude-plugin/plugin.json".to_owned(), document(&manifest())),
        ("hooks/hooks.json".to_owned(), document(&hooks())),
        (".codex-plugin/plugin.json".to_owned(), document(&codex_manifest())),
        ("codex/hooks.json".to_owned(), document(&codex_hooks())),
        (".mcp.json".to_owned(), document(&servers())),
    ];
    files.extend(
        SKILLS.iter().map(|skill| (format!("skills/{}/SKILL.md", skill.name), skill.file())),
    );
    files.extend(
        COMMANDS.iter().map(|command| (format!("commands/{}.md", command.name), command.file())),
    );
    files.extend(
        agents.iter().map(|agent| (format!("agents/{}.md", agent.name), agent.claude_file())),
    );
    files
}

/// `.claude-plugin/marketplace.json` at the root of the repository.
pub fn marketplace() -> String {
    document(&json!({
        "name": "onloop",
        "owner": { "name": "onloop" },
        "metadata": { "description": "Agents that work unattended without being trusted" },
        "plugins": [{ "name": PLUGIN, "source": "./npm/plugin", "description": DESCRIPTION }],
    }))
}

/// `.agents/plugins/marketplace.json` at the root of the repository, for Codex.
pub fn codex_marketplace() -> String {
    document(&json!({
        "name": "onloop",
        "interface": { "displayName": "onloop" },
        "plugins": [{
            "name": PLUGIN,
            "source": { "source": "local", "path": "./npm/plugin" },
            "policy": { "installation": "AVAILABLE", "authentication": "ON_INSTALL" },
            "category": "Productivity",
        }],
    }))
}

fn codex_manifest() -> Value {
    let mut manifest = manifest();
    let members = manifest.as_object_mut().expect("a manifest is an object");
    members.remove("network");
    members.insert("skills".to_owned(), json!("./skills/"));
    members.insert("hooks".to_owned(), json!("./codex/hooks.json"));
    let interface = json!({
        "displayName": "onloop",
        "shortDescription": "Unattended work with verified steps, gates and judged tool calls",
        "longDescription": DESCRIPTION,
        "developerName": "onloop",
        "category": "Productivity",
        "websiteURL": env!("CARGO_PKG_REPOSITORY"),
    });
    members.insert("interface".to_owned(), interface);
    manifest
}

/// The lines are for a shell, and the same in every version: trust holds until they change. On
/// Windows that shell is PowerShell.
fn codex_hooks() -> Value {
    let hooks = codex::EVENTS.iter().map(|event| {
        let mut entry = codex::entry(event, "node \"$PLUGIN_ROOT/launch.mjs\" hook codex");
        entry["hooks"][0]["commandWindows"] =
            json!("node \"$env:PLUGIN_ROOT/launch.mjs\" hook codex");
        ((*event).to_owned(), json!([entry]))
    });
    json!({ "hooks": hooks.collect::<Map<String, Value>>() })
}

fn manifest() -> Value {
    json!({
        "name": PLUGIN,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "author": { "name": "onloop", "url": env!("CARGO_PKG_REPOSITORY") },
        "homepage": env!("CARGO_PKG_REPOSITORY"),
        "repository": env!("CARGO_PKG_REPOSITORY"),
        "license": env!("CARGO_PKG_LICENSE"),
        // Asked only where the configuration says so: a person who approves from afar.
        "network": { "hosts": ["api.telegram.org"] },
        "keywords": ["workflow", "hooks", "permissions", "verification", "human-on-the-loop"],
    })
}

/// The tools, by way of the same launcher.
fn servers() -> Value {
    let words = ["node", "${CLAUDE_PLUGIN_ROOT}/launch.mjs", "mcp"].map(str::to_owned);
    json!({ "mcpServers": { SERVER: plain_entry(&words) } })
}

/// The hooks of a user's settings, called through the launcher.
fn hooks() -> Value {
    // A plugin is static, so its timeouts fit every configuration.
    let waits = Waits::longest();
    let mut hooks = Map::new();
    for (event, moment) in EVENTS {
        let wait_s = waits.of_moment(moment);
        let wait = wait_s.to_string();
        let words =
            ["node", "${CLAUDE_PLUGIN_ROOT}/launch.mjs", "hook", "claude", "--timeout", &wait];
        let entry = entry(words.map(str::to_owned).to_vec(), moment, wait_s);
        let list = hooks.entry(event).or_insert_with(|| json!([]));
        list.as_array_mut().expect("each event has a list").push(entry);
    }
    json!({ "description": "Judges tool calls and continues sessions", "hooks": hooks })
}
