//! The entry with which a host starts `onloop mcp`, in a file that is also the user's.

pub(super) mod toml;

use serde_json::{Value, json};

use super::hook_file::is_program_of_ours;
use super::{EditError, Remains, SERVER};
use onloop_syntax::syntax::jsonc::{Node, append, parse, remove};

/// Our entry in such a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerFile {
    /// Where, absolute.
    pub path: String,
    /// How it is written.
    pub(super) form: ServerForm,
}

/// How a host writes servers down.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ServerForm {
    /// As a member of an object in JSON.
    Json {
        /// The name of the object.
        servers: &'static str,
        /// The entry.
        entry: Value,
    },
    /// As a table of `mcp_servers` in TOML.
    Toml {
        /// The command line that starts the server, in words.
        words: Vec<String>,
    },
}

impl ServerFile {
    /// The file with our entry in it; the same bytes if it is there already.
    ///
    /// # Errors
    ///
    /// When the file cannot be edited.
    pub(super) fn merged(&self, found: Option<&str>) -> Result<String, EditError> {
        match &self.form {
            ServerForm::Json { servers, entry } => {
                let empty = |text: &&str| text.trim_matches('\u{feff}').trim().is_empty();
                let text = found.filter(|text| !empty(text)).unwrap_or("{}\n");
                let text = match entry_in(servers, text)? {
                    None => text.to_owned(),
                    Some((_, present)) if present == *entry => return Ok(text.to_owned()),
                    Some((path, present)) if is_ours(&present) => remove(text, &path),
                    Some(_) => return Err(EditError::OtherServer),
                };
                Ok(added(servers, &text, entry))
            }
            ServerForm::Toml { words } => toml::merged(found.unwrap_or_default(), words),
        }
    }

    /// The file without our entry.
    ///
    /// # Errors
    ///
    /// When the file cannot be edited.
    pub(super) fn without(&self, found: &str) -> Result<Remains, EditError> {
        let text = match &self.form {
            ServerForm::Json { servers, .. } => match entry_in(servers, found)? {
                Some((path, present)) if is_ours(&present) => remove(found, &path),
                Some(_) | None => found.to_owned(),
            },
            ServerForm::Toml { .. } => toml::without(found)?,
        };
        let left = match &self.form {
            ServerForm::Json { .. } => parse(&text).is_ok_and(|root| !root.entries().is_empty()),
            ServerForm::Toml { .. } => !text.trim().is_empty(),
        };
        let has_comments = text.contains("//") || text.contains("/*") || text.contains('#');
        let is_nothing = text != found && !left && !has_comments;
        Ok(Remains { text, is_nothing })
    }

    /// The command line with which the file starts a server of ours, in words.
    pub fn words_in(&self, text: &str) -> Option<Vec<String>> {
        let words = match &self.form {
            ServerForm::Json { servers, .. } => words_of(&entry_in(servers, text).ok()??.1),
            ServerForm::Toml { .. } => toml::words_in(text)?,
        };
        starts_us(&words).then_some(words)
    }

    /// The command line with which it should.
    pub fn words(&self) -> Vec<String> {
        match &self.form {
            ServerForm::Json { entry, .. } => words_of(entry),
            ServerForm::Toml { words } => words.clone(),
        }
    }
}

/// The entry that most hosts understand: a program and its arguments.
pub(super) fn plain_entry(words: &[String]) -> Value {
    let (command, arguments) = words.split_first().expect("a server is a program");
    json!({ "command": command, "args": arguments })
}

/// Place and value of the entry with our name.
fn entry_in(servers: &str, text: &str) -> Result<Option<(Vec<usize>, Value)>, EditError> {
    let root = object(text)?;
    let Some((servers_at, servers)) = root.member(servers) else { return Ok(None) };
    let entry = servers.member(SERVER);
    Ok(entry.map(|(at, entry)| (vec![servers_at, at], entry.to_value())))
}

fn object(text: &str) -> Result<Node, EditError> {
    let root = parse(text)?;
    if !root.is_object() {
        return Err(EditError::NotAnObject);
    }
    for name in ["mcpServers", "servers", "mcp"] {
        if root.member(name).is_some_and(|(_, servers)| !servers.is_object()) {
            return Err(EditError::WrongType { name: name.to_owned(), expected: "an object" });
        }
    }
    Ok(root)
}

fn added(servers: &str, text: &str, entry: &Value) -> String {
    let root = parse(text).expect("the text was read before");
    match root.member(servers) {
        Some((at, _)) => append(text, &[at], Some(SERVER), entry),
        None => append(text, &[], Some(servers), &json!({ SERVER: entry })),
    }
}

/// Program and arguments, in one list or in two.
fn words_of(entry: &Value) -> Vec<String> {
    let list = |value: &Value| match value {
        Value::String(word) => vec![word.clone()],
        Value::Array(words) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    [list(&entry["command"]), list(&entry["args"])].concat()
}

fn is_ours(entry: &Value) -> bool {
    starts_us(&words_of(entry))
}

fn starts_us(words: &[String]) -> bool {
    match words {
        [program @ .., last] => {
            last == "mcp" && program.iter().any(|word| is_program_of_ours(word))
        }
        [] => false,
    }
}
