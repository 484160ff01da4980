//! Codex. A person trusts each hook by the digest of its entry, and an entry that has changed is
//! skipped until somebody trusts it again: so nothing is in it that a new version would change, nor
//! another configuration, unless somebody wants to be waited for longer than Codex does by itself.

use serde_json::{Value, json};

use super::claude::{COMPACTED, skills};
use super::server_file::ServerForm;
pub use super::server_file::toml::switches_hooks_off;
use super::{HookFile, HostFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

pub(super) const EVENTS: [&str; 6] =
    ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", START];
/// A session starts; only one whose conversation was compacted matters.
const START: &str = "SessionStart";

pub(super) fn host_files(setting: &Setting) -> Vec<HostFile> {
    let needed_s = setting.waits.call_s.max(setting.waits.stop_s);
    let wait_s = Some(needed_s).filter(|s| s * 1000 > Host::Codex.default_timeout_ms());
    let line = setting.hook_line(Host::Codex, wait_s);
    let entry = |event: &str| {
        let mut entry = entry(event, &line);
        if let Some(wait_s) = wait_s {
            entry["hooks"][0]["timeout"] = json!(wait_s);
        }
        entry
    };
    let mut files = vec![HostFile::Shared(HookFile {
        path: setting.path("hooks.json", ".codex/hooks.json"),
        host: Host::Codex,
        version: None,
        hooks: EVENTS.iter().map(|event| (*event, entry(event))).collect(),
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
pub(super) fn entry(event: &str, line: &str) -> Value {
    let handler = json!({ "type": "command", "command": line });
    if event == START {
        return json!({ "matcher": COMPACTED, "hooks": [handler] });
    }
    json!({ "hooks": [handler] })
}
