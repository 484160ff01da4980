//! A call of a tool, as its updates describe it, and what the permission engine judges of it.

use serde_json::{Value, json};

use crate::tool::text_of;
use onloop_syntax::text;

/// Largest input of a tool that is kept; a call with a larger one cannot be judged.
const INPUT_BYTES: usize = 64 * 1024;
/// Most files of one call.
const FILES: usize = 50;
/// Most bytes kept of a title or a path.
const TEXT_BYTES: usize = 16 * 1024;
/// Members of an input that name a file.
const NAMES: [&str; 6] =
    ["file_path", "filePath", "filepath", "absolute_path", "path", "notebook_path"];

/// A tool and its input, in the form that the permission engine knows.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTool {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
}

/// A call of a tool. Later updates replace what earlier ones said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ToolCall {
    kind: Option<String>,
    title: String,
    input: Value,
    files: Vec<String>,
    /// Something is left out because it is too large.
    is_cut: bool,
    /// Whether the stream has it.
    pub(super) is_told: bool,
}

impl ToolCall {
    /// Takes an update.
    pub(super) fn update(&mut self, update: &Value) {
        if let Some(kind) = update["kind"].as_str() {
            self.kind = Some(kept(kind, &mut self.is_cut));
        }
        if let Some(title) = update["title"].as_str() {
            self.title = kept(title, &mut self.is_cut);
        }
        let input = &update["rawInput"];
        if !input.is_null() {
            match input.to_string().len() <= INPUT_BYTES {
                true => self.input = input.clone(),
                false => self.is_cut = true,
            }
        }
        let places = update["locations"].as_array().into_iter().flatten();
        let diffs = update["content"].as_array().into_iter().flatten();
        let diffs = diffs.filter(|content| content["type"] == "diff");
        for path in places.chain(diffs).filter_map(|place| place["path"].as_str()) {
            if self.files.iter().any(|file| file == path) {
                continue;
            }
            match self.files.len() < FILES {
                true => self.files.push(kept(path, &mut self.is_cut)),
                false => self.is_cut = true,
            }
        }
    }

    /// The kind of tool.
    pub(super) fn tool(&self) -> String {
        self.kind.clone().unwrap_or_else(|| "tool".to_owned())
    }

    /// What the call does, as far as that is known.
    pub(super) fn about(&self) -> String {
        let file = self.files.first().filter(|_| self.kind.as_deref() != Some("execute"));
        let told = self.command().or_else(|| self.named_file()).or_else(|| file.cloned());
        told.unwrap_or_else(|| self.title.clone())
    }

    /// Whether more is known than that there is a call. A command has the folder as its place.
    pub(super) fn is_described(&self) -> bool {
        let has_file = self.kind.as_deref() != Some("execute") && !self.files.is_empty();
        self.command().is_some() || self.named_file().is_some() || has_file
    }

    /// What the permission engine judges: every part has to be allowed.
    ///
    /// # Errors
    ///
    /// The call cannot be judged: why, on one line.
    pub(super) fn judged(&self) -> Result<Vec<JudgedTool>, String> {
        if self.is_cut {
            return Err("onloop cannot judge the call, because its input is too large".to_owned());
        }
        let one = |tool: &str, input: Value| vec![JudgedTool { tool: tool.to_owned(), input }];
        let judged = match self.kind.as_deref() {
            Some("execute") => {
                // Agents that give no input have the line as the title.
                let line = self.command().unwrap_or_else(|| self.title.clone());
                (!line.trim().is_empty()).then(|| one("Bash", json!({ "command": line })))
            }
            Some("edit") => self.of_files("Edit"),
            Some("delete" | "move") => self.of_files("Delete"),
            Some("read") => self.of_files("Read"),
            Some("search") => {
                let folder = self.named_file().or_else(|| self.files.first().cloned());
                Some(one("Grep", folder.map_or_else(|| json!({}), |path| json!({ "path": path }))))
            }
            Some("fetch") => {
                let address = self.input["url"].as_str();
                address.map(|address| one("WebFetch", json!({ "url": address })))
            }
            Some("other") | None => match self.command() {
                Some(line) => Some(one("Bash", json!({ "command": line }))),
                None if self.title.trim().is_empty() => None,
                None => Some(one(&self.title, self.input.clone())),
            },
            Some(_) => None,
        };
        judged.ok_or_else(|| "onloop cannot tell what the call does".to_owned())
    }

    fn of_files(&self, tool: &str) -> Option<Vec<JudgedTool>> {
        let named = self.named_file().filter(|file| !self.files.contains(file));
        let files = self.files.iter().cloned().chain(named);
        let judged =
            |file| JudgedTool { tool: tool.to_owned(), input: json!({ "file_path": file }) };
        let judged: Vec<JudgedTool> = files.map(judged).collect();
        (!judged.is_empty()).then_some(judged)
    }

    /// The line of shell in the input.
    fn command(&self) -> Option<String> {
        let found = ["command", "cmd"].iter().map(|member| &self.input[*member]);
        let mut lines = found.filter_map(|value| match value {
            Value::String(line) => Some(line.clone()),
            Value::Array(words) => {
                let words: Option<Vec<String>> =
                    words.iter().map(|word| Some(text::shell_word(word.as_str()?))).collect();
                Some(words?.join(" "))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        });
        lines.find(|line| !line.trim().is_empty())
    }

    /// The file in the input.
    fn named_file(&self) -> Option<String> {
        let found = NAMES.iter().find_map(|member| self.input[*member].as_str());
        found.filter(|path| !path.trim().is_empty()).map(str::to_owned)
    }
}

/// What a tool said, as its update has it.
pub(super) fn said(update: &Value) -> String {
    let parts = update["content"].as_array().into_iter().flatten();
    let parts = parts.filter(|part| part["type"] == "content").map(|part| &part["content"]);
    let texts: Vec<String> = parts
        .map(|content| match content["text"].as_str() {
            Some(text) => text.to_owned(),
            None => text_of(content),
        })
        .collect();
    texts.join("\n")
}

fn kept(text: &str, is_cut: &mut bool) -> String {
    *is_cut |= text.len() > TEXT_BYTES;
    text::prefix(text, TEXT_BYTES).to_owned()
}
