//! Codex. A person trusts each hook by the digest of its entry, and an entry that has changed is
//! skipped until somebody trusts it again: so nothing is in it that a new version or another
//! configuration would change.

use serde_json::{Value, json};

use super::claude::skills;
use super::server_file::Form;
pub use super::server_file::toml::switches_hooks_off;
use super::{HookFile, Piece, ServerFile, Setting};
use crate::hooks::Host;

pub(super) const EVENTS: [&str; 5] =
    ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"];

pub(super) fn pieces(setting: &Setting) -> Vec<Piece> {
    let line = setting.hook_line(Host::Codex, None);
    let entry = entry(&line);
    let mut pieces = vec![Piece::Shared(HookFile {
        path: setting.path("hooks.json", ".codex/hooks.json"),
        host: Host::Codex,
        version: None,
        hooks: EVENTS.iter().map(|event| (*event, entry.clone())).collect(),
    })];
    pieces.push(Piece::Server(ServerFile {
        path: setting.path("config.toml", ".codex/config.toml"),
        form: Form::Toml { words: setting.server_words() },
    }));
    // The folder that several agents share; it does not follow `CODEX_HOME`.
    let shared = Setting { user_folder: setting.home.clone(), ..setting.clone() };
    pieces.extend(skills(&shared, ".agents/skills", ".agents/skills"));
    pieces
}

/// A hook that calls a line of shell.
pub(super) fn entry(line: &str) -> Value {
    json!({ "hooks": [{ "type": "command", "command": line }] })
}
