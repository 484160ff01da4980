//! Reads the permission rules of the client that calls, from every level of its settings.

use onloop_effect::{FailureKind, Io};
use onloop_permission::client::ClientRules;
use onloop_permission::paths::Places;
use onloop_sessions::hooks::Host;
use onloop_syntax::limits;
use onloop_syntax::syntax::jsonc;
use serde_json::Value;

use super::HookContext;

/// Folders of the settings that the administrator of a machine gives Claude Code.
const CLAUDE_MANAGED: [&str; 2] = ["/etc/claude-code", "/Library/Application Support/ClaudeCode"];
/// Folders of the settings that the administrator of a machine gives opencode.
const OPENCODE_MANAGED: [&str; 2] = ["/etc/opencode", "/Library/Application Support/opencode"];
/// The names of a configuration of opencode; the later one counts.
const OPENCODE_FILES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// Adds the rules of the host's own settings to `rules`.
pub(super) async fn load(hook_context: &HookContext, rules: &mut ClientRules) {
    match hook_context.host {
        Host::Claude => claude(hook_context, rules).await,
        Host::OpenCode => opencode(hook_context, rules).await,
        Host::Codex | Host::Cursor | Host::VsCode | Host::Cline | Host::Copilot => {}
    }
}

/// The folder in which Claude Code keeps the person's settings.
fn claude_folder(io: &Io) -> Option<String> {
    let named = io.env("CLAUDE_CONFIG_DIR").filter(|folder| folder.starts_with('/'));
    named.map(str::to_owned).or_else(|| Some(format!("{}/.claude", io.env("HOME")?)))
}

/// Adds to `places` the folders in which Claude Code keeps plans, memory and results of tools of this
/// project.
pub(super) fn own_files(hook_context: &HookContext, places: &mut Places) {
    // In a run, a client keeps nothing.
    if hook_context.host != Host::Claude || hook_context.state_home.is_some() {
        return;
    }
    let Some(folder) = claude_folder(&hook_context.io) else { return };
    places.client_files.push(format!("{folder}/plans"));
    let mut projects: Vec<String> = hook_context
        .folders()
        .into_iter()
        .map(|project| {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            format!("{folder}/projects/{}", project.chars().map(plain).collect::<String>())
        })
        .collect();
    let transcript = hook_context.transcript.as_deref().filter(|path| {
        path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with("/projects/"))
    });
    projects.extend(transcript.and_then(|path| Some(path.rsplit_once('/')?.0.to_owned())));
    for project in projects {
        places.client_files.push(format!("{project}/memory"));
        places.client_files.push(format!("{project}/*/tool-results"));
    }
}

async fn claude(hook_context: &HookContext, rules: &mut ClientRules) {
    let io = &hook_context.io;
    let mut files = Vec::new();
    let programs = io.env("ProgramFiles").map(|folder| format!("{folder}/ClaudeCode"));
    for folder in CLAUDE_MANAGED.map(str::to_owned).into_iter().chain(programs) {
        files.push(format!("{folder}/managed-settings.json"));
        let parts = format!("{folder}/managed-settings.d");
        for name in io.list(&parts).await.unwrap_or_default() {
            if name.ends_with(".json") {
                files.push(format!("{parts}/{}", name));
            }
        }
    }
    files.extend(claude_folder(io).map(|folder| format!("{folder}/settings.json")));
    for folder in hook_context.folders() {
        files.push(format!("{folder}/.claude/settings.json"));
        files.push(format!("{folder}/.claude/settings.local.json"));
    }
    let folders = hook_context.folders();
    for file in files {
        match settings(io, &file).await {
            Ok(Some(settings)) => rules.add_claude(&settings, &folders, io.env("HOME")),
            Ok(None) => {}
            Err(why) => rules.add_unreadable(&format!("`{file}`: {why}")),
        }
    }
}

async fn opencode(hook_context: &HookContext, rules: &mut ClientRules) {
    let io = &hook_context.io;
    let mut merged = Value::Null;
    for file in opencode_files(hook_context) {
        match settings(io, &file).await {
            Ok(Some(settings)) => merge(&mut merged, settings),
            Ok(None) => {}
            Err(why) => rules.add_unreadable(&format!("`{file}`: {why}")),
        }
    }
    if let Some(content) = io.env("OPENCODE_CONFIG_CONTENT") {
        match jsonc::parse(content) {
            Ok(node) => merge(&mut merged, node.to_value()),
            Err(_) => rules.add_unreadable("`OPENCODE_CONFIG_CONTENT` is not JSON"),
        }
    }
    if let Some(content) = io.env("OPENCODE_PERMISSION") {
        match jsonc::parse(content) {
            Ok(node) => merge(&mut merged["permission"], node.to_value()),
            Err(_) => rules.add_unreadable("`OPENCODE_PERMISSION` is not JSON"),
        }
    }
    rules.set_opencode(&merged);
}

/// The files of opencode's configuration, those that count more behind those that count less.
fn opencode_files(hook_context: &HookContext) -> Vec<String> {
    let io = &hook_context.io;
    let home = io.env("HOME").unwrap_or_default();
    let config = io.env("XDG_CONFIG_HOME").map(str::to_owned);
    let mut folders = vec![
        format!("{}/opencode", config.unwrap_or_else(|| format!("{home}/.config"))),
        format!("{home}/.opencode"),
    ];
    let named = io.env("OPENCODE_CONFIG").map(str::to_owned);
    let mut projects = Vec::new();
    for folder in hook_context.folders() {
        // From the top of the project down to the folder that opencode works in.
        let below = folder.strip_prefix(hook_context.project.as_str()).unwrap_or_default();
        let mut path = hook_context.project.clone();
        let mut parts = below.split('/').filter(|part| !part.is_empty());
        loop {
            if !projects.contains(&path) {
                projects.push(path.clone());
            }
            let Some(part) = parts.next() else { break };
            path = format!("{path}/{part}");
        }
    }
    let in_folder = |folder: &String| OPENCODE_FILES.map(|name| format!("{folder}/{name}"));
    let mut files: Vec<String> = folders.iter().flat_map(in_folder).collect();
    files.extend(named);
    files.extend(projects.iter().flat_map(in_folder));
    folders = projects.iter().map(|folder| format!("{folder}/.opencode")).collect();
    folders.extend(io.env("OPENCODE_CONFIG_DIR").map(str::to_owned));
    folders.extend(OPENCODE_MANAGED.map(str::to_owned));
    files.extend(folders.iter().flat_map(in_folder));
    files
}

/// Adds the members of `more` to `all`; where both have one, the later value counts.
fn merge(all: &mut Value, more: Value) {
    match (all, more) {
        (Value::Object(all), Value::Object(more)) => {
            for (key, value) in more {
                merge(all.entry(key).or_insert(Value::Null), value);
            }
        }
        (all, more) => *all = more,
    }
}

/// The settings in a file; `None` where there is none.
///
/// # Errors
///
/// Why the file cannot be used.
async fn settings(io: &Io, path: &str) -> Result<Option<Value>, String> {
    let bytes = match io.read(path, limits::CLIENT_SETTINGS_BYTES).await {
        Ok((bytes, _)) => bytes,
        Err(failure) if failure.kind == FailureKind::NotFound => return Ok(None),
        Err(failure) => return Err(failure.message),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| "is not UTF-8".to_owned())?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let node = jsonc::parse(text).map_err(|_| "is not JSON".to_owned())?;
    Ok(Some(node.to_value()))
}
