//! Codex. A person trusts each hook by the digest of its entry, and an entry that has changed is
//! skipped until somebody trusts it again: so nothing is in it that a new version or another
//! configuration would change.

use serde_json::{Value, json};

use super::claude::skills;
use super::server_file::ServerForm;
pub use super::server_file::toml::switches_hooks_off;
use super::{HookFile, HostFile, ServerFile, Setting};
use crate::hooks::Host;

pub(super) const EVENTS: [&str; 5] =
    ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"];

pub(super) fn host_files(setting: &Setting) -> Vec<HostFile> {
    let line = setting.hook_line(Host::Codex, None);
    let entry = entry(&line);
    let mut files = vec![HostFile::Shared(HookFile {
        path: setting.path("hooks.json", ".codex/hooks.json"),
        host: Host::Codex,
        version: None,
        hooks: EVENTS.iter().map(|event| (*event, entry.clone())).collect(),
    })];
    files.push(HostFile::Server(ServerFile {
        path: setting.path("config.toml", ".codex/config.toml"),
        form: ServerForm::Toml { words: setting.server_words() },
    }));
    // The folder that several agents share; it does not follow `CODEX_HOME`.
    let shared = Setting { user_folder: setting.home.clone(), ..setting.clone() };
    files.extend(skills(&shared, ".agents/skills", ".agents/skills"));
    files
}

/// A hook that calls a line of shell.
pub(super) fn entry(line: &str) -> Value {
    json!({ "hooks": [{ "type": "command", "command": line }] })
}
