//! Reads the permission rules of the client that calls, from every level of its settings.

use std::collections::BTreeSet;

use onloop_effect::{FailureKind, FileKind, Io, OptionalExt};
use onloop_permission::client::{ClientRules, opencode_agent};
use onloop_permission::paths::{Places, below};
use onloop_sessions::hooks::Host;
use onloop_syntax::limits;
use onloop_syntax::syntax::jsonc;
use serde_json::{Value, json};

use super::HookContext;

/// Folders of the settings that the administrator of a machine gives Claude Code.
const CLAUDE_MANAGED: [&str; 2] = ["/etc/claude-code", "/Library/Application Support/ClaudeCode"];
/// The folder of the settings that the administrator of a machine gives Codex.
const CODEX_MANAGED: &str = "/etc/codex";
/// Folders of the settings that the administrator of a machine gives opencode.
const OPENCODE_MANAGED: [&str; 2] = ["/etc/opencode", "/Library/Application Support/opencode"];
/// The names of a configuration of opencode; the later one counts. The first only in the person's folder.
const OPENCODE_FILES: [&str; 3] = ["config.json", "opencode.json", "opencode.jsonc"];
/// The folders with agents of opencode, each a file of Markdown.
const OPENCODE_AGENTS: [&str; 4] = ["agent", "agents", "mode", "modes"];
/// Most folders with agents, and most agents in them, that a hook reads.
const AGENT_FILES: usize = 200;

/// Adds the rules of the host's own settings to `rules`.
pub(super) async fn load(hook_context: &HookContext, rules: &mut ClientRules) {
    match hook_context.host {
        Host::Claude => claude(hook_context, rules).await,
        Host::OpenCode => opencode(hook_context, rules).await,
        Host::Codex => codex(hook_context, rules).await,
        Host::Cursor | Host::VsCode | Host::Cline | Host::Copilot => {}
    }
}

/// The folder in which Claude Code keeps the person's settings; `None` if it depends on where Claude Code
/// was started.
fn claude_folder(io: &Io) -> Option<String> {
    match io.env("CLAUDE_CONFIG_DIR") {
        Some(named) => named.starts_with('/').then(|| named.to_owned()),
        None => Some(format!("{}/.claude", io.env("HOME")?)),
    }
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
    match claude_folder(io) {
        // The first has what the administrator of an organization sets on the web.
        Some(folder) => files
            .extend(["remote-settings", "settings"].map(|name| format!("{folder}/{name}.json"))),
        None => rules.add_unreadable("`CLAUDE_CONFIG_DIR` or `HOME` is not an absolute path"),
    }
    for folder in hook_context.folders() {
        files.push(format!("{folder}/.claude/settings.json"));
        files.push(format!("{folder}/.claude/settings.local.json"));
    }
    files.extend(main_local_settings(hook_context).await);
    let folders = hook_context.folders();
    for file in files {
        match settings(io, &file).await {
            Ok(Some(settings)) => rules.add_claude(&settings, &folders, io.env("HOME")),
            Ok(None) => {}
            Err(why) => rules.add_unreadable(&format!("`{file}`: {why}")),
        }
    }
}

/// The local settings of the main checkout, which Claude Code reads in linked worktrees of it, too.
async fn main_local_settings(hook_context: &HookContext) -> Option<String> {
    let (io, checkout) = (&hook_context.io, hook_context.checkout.as_ref()?);
    let git = io.canonical(&checkout.common_folder(io).await).await.ok()?;
    let main = git.strip_suffix("/.git").filter(|main| *main != checkout.root)?;
    Some(format!("{main}/.claude/settings.local.json"))
}

async fn codex(hook_context: &HookContext, rules: &mut ClientRules) {
    let io = &hook_context.io;
    let home = io.env("CODEX_HOME").map(str::to_owned);
    let home = home.or_else(|| Some(format!("{}/.codex", io.env("HOME")?)));
    let folders = levels(hook_context).into_iter().chain(hook_context.folders());
    let projects = BTreeSet::from_iter(folders).into_iter().map(|it| format!("{it}/.codex"));
    let managed = CODEX_MANAGED.to_owned();
    let mut files = vec![format!("{managed}/requirements.toml")];
    for folder in projects.chain(home).chain([managed]) {
        let names = io.list(&format!("{folder}/rules")).await.unwrap_or_default();
        let rules = names.into_iter().filter(|name| name.ends_with(".rules"));
        files.extend(rules.map(|name| format!("{folder}/rules/{name}")));
    }
    for file in files {
        let name = file.rsplit('/').next().unwrap_or_default();
        let is_read = match io.read(&file, limits::CLIENT_SETTINGS_BYTES).await.optional() {
            Ok(Some((bytes, _))) => rules.add_codex(name, &String::from_utf8_lossy(&bytes)),
            Ok(None) => true,
            Err(_) => false,
        };
        if !is_read {
            rules.add_unreadable(&format!("`{file}` is not understood"));
        }
    }
}

async fn opencode(hook_context: &HookContext, rules: &mut ClientRules) {
    let io = &hook_context.io;
    let mut merged = Value::Null;
    let (files, folders) = opencode_files(hook_context);
    for file in files {
        match settings(io, &file).await {
            Ok(Some(settings)) => merge(&mut merged, spelled_out(settings)),
            Ok(None) => {}
            Err(why) => rules.add_unreadable(&format!("`{file}`: {why}")),
        }
    }
    if let Some(content) = io.env("OPENCODE_CONFIG_CONTENT") {
        match jsonc::parse(content) {
            Ok(node) => merge(&mut merged, spelled_out(node.to_value())),
            Err(_) => rules.add_unreadable("`OPENCODE_CONFIG_CONTENT` is not JSON"),
        }
    }
    if let Some(content) = io.env("OPENCODE_PERMISSION") {
        match jsonc::parse(content) {
            Ok(node) => {
                let more = spelled_out(json!({ "permission": node.to_value() }));
                merge(&mut merged, more);
            }
            Err(_) => rules.add_unreadable("`OPENCODE_PERMISSION` is not JSON"),
        }
    }
    for file in agents(io, &folders).await {
        let Ok((bytes, _)) = io.read(&file, limits::CLIENT_SETTINGS_BYTES).await else { continue };
        match opencode_agent(&String::from_utf8_lossy(&bytes)) {
            Ok(agent) => merge(&mut merged["agent"][&file], agent),
            Err(why) => rules.add_unreadable(&format!("`{file}` {why}")),
        }
    }
    rules.set_opencode(&merged);
}

/// The files of agents in these folders, and in folders below.
async fn agents(io: &Io, folders: &[String]) -> Vec<String> {
    let names = |folder: &String| OPENCODE_AGENTS.map(|name| format!("{folder}/{name}"));
    let mut ahead: Vec<String> = folders.iter().flat_map(names).collect();
    let (mut files, mut looked_at) = (Vec::new(), 0);
    while let Some(folder) = ahead.pop().filter(|_| looked_at < AGENT_FILES) {
        looked_at += 1;
        for name in io.list(&folder).await.unwrap_or_default() {
            let path = format!("{folder}/{name}");
            match name.ends_with(".md") {
                true if files.len() < AGENT_FILES => files.push(path),
                true => {}
                false if io.stat(&path).await.is_ok_and(|it| it.kind == FileKind::Folder) => {
                    ahead.push(path);
                }
                false => {}
            }
        }
    }
    files
}

/// A configuration with `"permission": "ask"` as what it stands for, so that another one adds to it.
fn spelled_out(mut configuration: Value) -> Value {
    if let Some(permission) = configuration.get_mut("permission").filter(|it| it.is_string()) {
        *permission = json!({ "*": permission.take() });
    }
    configuration
}

/// Every folder of the project from its top down to those that the agent may work in.
fn levels(hook_context: &HookContext) -> Vec<&str> {
    let mut levels = Vec::new();
    for folder in hook_context.folders() {
        let above = std::iter::successors(Some(folder), |path| Some(path.rsplit_once('/')?.0));
        let inside: Vec<&str> =
            above.take_while(|path| below(path, &hook_context.project).is_some()).collect();
        for level in inside.into_iter().rev() {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
    }
    levels
}

/// The files of opencode's configuration, those that count more behind those that count less, and the
/// folders that they are in.
fn opencode_files(hook_context: &HookContext) -> (Vec<String>, Vec<String>) {
    let io = &hook_context.io;
    let home = io.env("HOME").unwrap_or_default();
    let config = io.env("XDG_CONFIG_HOME").map(str::to_owned);
    let mut folders = vec![
        format!("{}/opencode", config.unwrap_or_else(|| format!("{home}/.config"))),
        format!("{home}/.opencode"),
    ];
    let named = io.env("OPENCODE_CONFIG").map(str::to_owned);
    let projects: Vec<String> = levels(hook_context).into_iter().map(str::to_owned).collect();
    let in_folders = |folders: &[String], names: &[&str]| -> Vec<String> {
        let all = folders.iter().flat_map(|folder| names.iter().map(move |name| (folder, name)));
        all.map(|(folder, name)| format!("{folder}/{name}")).collect()
    };
    let mut files = in_folders(&folders, &OPENCODE_FILES);
    files.extend(named);
    files.extend(in_folders(&projects, &OPENCODE_FILES[1..]));
    let mut more: Vec<String> =
        projects.iter().map(|folder| format!("{folder}/.opencode")).collect();
    more.extend(io.env("OPENCODE_CONFIG_DIR").map(str::to_owned));
    more.extend(OPENCODE_MANAGED.map(str::to_owned));
    files.extend(in_folders(&more, &OPENCODE_FILES[1..]));
    folders.extend(more);
    (files, folders)
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
