//! opencode: a plugin in JavaScript, skills and commands.

use serde_json::{Value, json};

use super::claude::skills;
use super::offer::{self, COMMANDS};
use super::server_file::ServerForm;
use super::{HostFile, OwnFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

/// The plugin, with a place for the command line of the hook.
const PLUGIN: &str = include_str!("opencode/plugin.js");
/// What a turn of a run adds to it.
const WATCH: &str = include_str!("opencode/watch.js");
const WORDS: &str = "[\"onloop\", \"hook\", \"opencode\"]";
const SIGN: &str = "// Installed by onloop; `onloop uninstall opencode` removes it.";

pub(super) fn host_files(setting: &Setting) -> Vec<HostFile> {
    let wait_s = setting.waits.call_s.max(setting.waits.stop_s);
    let words = setting.hook_words(Host::OpenCode, Some(wait_s));
    let own = |path: &str, content: String, sign: &str| {
        let path = setting.path(path, &format!(".opencode/{path}"));
        HostFile::Own(OwnFile::text(path, content, sign))
    };
    let mut files = vec![own("plugins/onloop.js", plugin(&words, wait_s), SIGN)];
    let server = json!({
        "type": "local", "command": setting.server_words(), "enabled": true,
    });
    files.push(HostFile::Server(ServerFile {
        path: setting.path("opencode.json", "opencode.json"),
        form: ServerForm::Json { servers: "mcp", entry: server },
    }));
    files.extend(COMMANDS.iter().map(|command| {
        own(&format!("commands/hotl-{}.md", command.name), command.flat_file(), offer::SIGN)
    }));
    files.extend(skills(setting, "skills", ".opencode/skills"));
    files
}

/// The plugin, which calls the hook with these words and waits for it so long.
pub(super) fn plugin(words: &[String], wait_s: u64) -> String {
    let words = Value::from(words).to_string();
    PLUGIN.replace(WORDS, &words).replace("600_000", &(wait_s * 1000).to_string())
}

/// The plugin for one turn of a run.
pub(super) fn turn_plugin(words: &[String], wait_s: u64) -> String {
    plugin(words, wait_s) + WATCH
}

/// The command line with which a plugin of ours starts the hook, in words.
pub(super) fn words_of(plugin: &str) -> Option<Vec<String>> {
    let line = plugin.lines().find_map(|line| line.strip_prefix("const HOOK = "))?;
    serde_json::from_str::<Vec<String>>(line.trim_end_matches(';')).ok()
}
