//! The files with hooks that belong to the user as much as to us: `hooks` is an object with a
//! list of entries for each event.

use serde_json::Value;

use super::{EditError, Remains};
use onloop_sessions::hooks::Host;
use onloop_syntax::syntax::jsonc::{Node, append, parse, remove};

/// Our entries in such a file.
#[derive(Clone, Debug, PartialEq)]
pub struct HookFile {
    /// Where, absolute.
    pub path: String,
    /// Whose file it is.
    pub host: Host,
    /// The version that the format asks for as `version`.
    pub version: Option<u64>,
    /// Event and entry of each of our hooks.
    pub hooks: Vec<(&'static str, Value)>,
}

impl HookFile {
    /// The file with our entries in it; the same bytes if they are there already.
    ///
    /// # Errors
    ///
    /// When the file cannot be edited.
    pub(super) fn merged(&self, found: Option<&str>) -> Result<String, EditError> {
        let found = found.filter(|text| !text.trim_matches('\u{feff}').trim().is_empty());
        let mut text = found.map_or_else(|| self.empty(), str::to_owned);
        let root = self.read(&text)?;
        let mut wanted: Vec<_> = self.hooks.iter().map(|(event, entry)| (*event, entry)).collect();
        let ours = ours(self.host, &root);
        let mut present: Vec<(&str, &Value)> =
            ours.iter().map(|found| (found.event.as_str(), &found.entry)).collect();
        let by_event = |one: &(&str, &Value), other: &(&str, &Value)| one.0.cmp(other.0);
        wanted.sort_by(by_event);
        present.sort_by(by_event);
        if wanted == present {
            return Ok(text);
        }
        text = self.emptied(text)?;
        for (event, entry) in &self.hooks {
            text = added(&text, event, entry);
        }
        Ok(text)
    }

    /// The file without our entries.
    ///
    /// # Errors
    ///
    /// When the file cannot be edited.
    pub(super) fn without(&self, found: &str) -> Result<Remains, EditError> {
        let had = ours(self.host, &self.read(found)?).len();
        let text = self.emptied(found.to_owned())?;
        let root = self.read(&text)?;
        let foreign = |key: &Option<String>| key.as_deref() != Some("version");
        let rest = root.entries().iter().filter(|entry| foreign(&entry.key)).count();
        let has_comments = text.contains("//") || text.contains("/*");
        Ok(Remains { is_nothing: had > 0 && rest == 0 && !has_comments, text })
    }

    fn emptied(&self, mut text: String) -> Result<String, EditError> {
        // From the last to the first, each in the text that the one before left.
        while let Some(last) = ours(self.host, &self.read(&text)?).pop() {
            text = remove(&text, &last.path);
        }
        Ok(text)
    }

    fn empty(&self) -> String {
        match self.version {
            Some(version) => format!("{{\n  \"version\": {version}\n}}\n"),
            None => "{}\n".to_owned(),
        }
    }

    fn read(&self, text: &str) -> Result<Node, EditError> {
        let root = parse(text)?;
        if !root.is_object() {
            return Err(EditError::NotAnObject);
        }
        if let Some(version) = self.version {
            let found = root.member("version").map(|(_, found)| found.to_value());
            if found != Some(Value::from(version)) {
                let found = found.map(|found| found.to_string());
                return Err(EditError::WrongVersion { expected: version, found });
            }
        }
        let Some((_, hooks)) = root.member("hooks") else { return Ok(root) };
        if !hooks.is_object() {
            return Err(EditError::WrongType { name: "hooks".to_owned(), expected: "an object" });
        }
        for (event, _) in &self.hooks {
            if hooks.member(event).is_some_and(|(_, list)| !list.is_array()) {
                let name = format!("hooks.{event}");
                return Err(EditError::WrongType { name, expected: "a list" });
            }
        }
        Ok(root)
    }
}

/// Adds an entry to an event's list, and makes the list and what it is in where they are missing.
fn added(text: &str, event: &str, entry: &Value) -> String {
    let root = parse(text).expect("the text was read before");
    let list = Value::Array(vec![entry.clone()]);
    let Some((hooks_at, hooks)) = root.member("hooks") else {
        let hooks = serde_json::json!({ event: list });
        return append(text, &[], Some("hooks"), &hooks);
    };
    match hooks.member(event) {
        Some((event_at, _)) => append(text, &[hooks_at, event_at], None, entry),
        None => append(text, &[hooks_at], Some(event), &list),
    }
}

/// An entry of ours, and where it is.
struct Ours {
    path: Vec<usize>,
    event: String,
    entry: Value,
}

fn ours(host: Host, root: &Node) -> Vec<Ours> {
    let mut found = Vec::new();
    let Some((hooks_at, hooks)) = root.member("hooks") else { return found };
    for (event_at, event) in hooks.entries().iter().enumerate() {
        let name = event.key.clone().unwrap_or_default();
        for (at, entry) in event.value.entries().iter().enumerate() {
            let path = vec![hooks_at, event_at, at];
            let handlers = entry.value.member("hooks").filter(|(_, list)| list.is_array());
            let Some((list_at, list)) = handlers else {
                let entry = entry.value.to_value();
                if is_ours(host, &entry) {
                    found.push(Ours { path, event: name.clone(), entry });
                }
                continue;
            };
            let values: Vec<Value> =
                list.entries().iter().map(|handler| handler.value.to_value()).collect();
            if !values.is_empty() && values.iter().all(|handler| is_ours(host, handler)) {
                found.push(Ours { path, event: name.clone(), entry: entry.value.to_value() });
                continue;
            }
            // The user put onloop's hook beside their own.
            for (place, handler) in values.into_iter().enumerate() {
                if is_ours(host, &handler) {
                    let path = [&path[..], &[list_at, place]].concat();
                    found.push(Ours { path, event: name.clone(), entry: handler });
                }
            }
        }
    }
    found
}

/// Names that our program goes by, as they end a path.
const PROGRAMS: [&str; 7] =
    ["onloop", "hotl-rt", "onloop.exe", "hotl-rt.exe", "onloop.mjs", "hotl-rt.mjs", "launch.mjs"];

/// Members in which hosts keep the line that they run.
const LINES: [&str; 3] = ["command", "bash", "powershell"];

/// Whether a handler calls our hook of that host.
fn is_ours(host: Host, handler: &Value) -> bool {
    LINES.iter().any(|key| {
        let Some(command) = handler[*key].as_str() else { return false };
        let mut line = command.to_owned();
        for argument in handler["args"].as_array().into_iter().flatten() {
            line.push(' ');
            line.push_str(argument.as_str().unwrap_or_default());
        }
        calls_us(&line, host)
    })
}

/// Whether a command line calls our hook of that host.
fn calls_us(line: &str, host: Host) -> bool {
    let call = format!(" hook {}", host.as_str());
    line.match_indices(&call).any(|(at, _)| {
        let program = line[..at].trim_end_matches(['"', '\'']);
        let ends = line[at + call.len()..].chars().next().is_none_or(char::is_whitespace);
        let name = program.rsplit(['/', '\\', ' ']).next().unwrap_or_default();
        ends && PROGRAMS.contains(&name.trim_start_matches(['"', '\'']))
    })
}

/// Whether a word is the path of a program of ours.
pub(super) fn is_program_of_ours(word: &str) -> bool {
    word.rsplit(['/', '\\']).next().is_some_and(|name| PROGRAMS.contains(&name))
}

/// A hook of ours that a host would call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledHook {
    /// The host's name of the event.
    pub event: String,
    /// How the host calls it.
    pub call: HookCall,
    /// How long the host waits for it, in seconds, where its entry says so.
    pub limit_s: Option<u64>,
}

/// How a host calls a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookCall {
    /// A program and its arguments.
    Words(Vec<String>),
    /// A line for a shell.
    Line(String),
}

/// The hooks of ours in a file of that host.
///
/// # Errors
///
/// [`EditError::Syntax`].
pub fn installed_hooks(host: Host, text: &str) -> Result<Vec<InstalledHook>, EditError> {
    let mut found = Vec::new();
    for ours in ours(host, &parse(text)?) {
        let handlers = match ours.entry["hooks"].as_array() {
            Some(handlers) => handlers.clone(),
            None => vec![ours.entry],
        };
        for handler in handlers {
            let call = match (handler["command"].as_str(), handler["args"].as_array()) {
                (Some(command), Some(arguments)) => {
                    let arguments = arguments.iter().filter_map(Value::as_str);
                    HookCall::Words(
                        [command].into_iter().chain(arguments).map(str::to_owned).collect(),
                    )
                }
                (Some(line), None) => HookCall::Line(line.to_owned()),
                (None, _) => {
                    let line = LINES.iter().find_map(|key| handler[*key].as_str());
                    HookCall::Line(line.unwrap_or_default().to_owned())
                }
            };
            let limit_s = ["timeout", "timeoutSec"].iter().find_map(|key| handler[*key].as_u64());
            found.push(InstalledHook { event: ours.event.clone(), call, limit_s });
        }
    }
    Ok(found)
}
