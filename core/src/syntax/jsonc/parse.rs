//! JSON with comments and trailing commas, read into spans.

use serde_json::Value;

use super::{Content, Entry, Node};
use crate::limits;
use crate::text::{ellipsis, one_line};

/// Reads a document. A byte order mark, comments and trailing commas are read over.
///
/// # Errors
///
/// The line and what is wrong there; a key that an object has twice is wrong, because readers
/// do not agree on which of the two counts.
pub(crate) fn parse(text: &str) -> Result<Node, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let root = reader.value()?;
    reader.skip()?;
    match reader.rest().chars().next() {
        None => Ok(root),
        Some(_) => Err(reader.wrong("the end of the document")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn error(&self, what: &str) -> String {
        let line = self.text[..self.at].matches('\n').count() + 1;
        format!("line {line}: {what}")
    }

    fn wrong(&self, expected: &str) -> String {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{}`", one_line(&c.to_string())),
            None => "the end".to_owned(),
        };
        self.error(&format!("found {found}, expected {expected}"))
    }

    /// Blanks and comments.
    fn skip(&mut self) -> Result<(), String> {
        loop {
            self.at +=
                self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                match self.rest()[2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Err(self.error("a comment without an end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn value(&mut self) -> Result<Node, String> {
        self.skip()?;
        let start = self.at;
        let content = match self.rest().chars().next() {
            Some('{') => Content::Object(self.entries('}')?),
            Some('[') => Content::Array(self.entries(']')?),
            Some('"') => Content::Scalar(Value::String(self.string()?)),
            Some(_) | None => Content::Scalar(self.word()?),
        };
        Ok(Node { span: start..self.at, content })
    }

    fn entries(&mut self, close: char) -> Result<Vec<Entry>, String> {
        self.depth += 1;
        if self.depth > limits::HOST_FILE_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            self.skip()?;
            if self.eat(close) {
                self.depth -= 1;
                return Ok(entries);
            }
            if entries.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.wrong(&format!("`,` or `{close}`")));
            }
            let start = self.at;
            let key = if close == '}' { Some(self.key(&entries)?) } else { None };
            let value = self.value()?;
            self.skip()?;
            let at = self.at;
            let comma = self.eat(',').then_some(at);
            entries.push(Entry { start, key, value, comma });
        }
    }

    fn key(&mut self, entries: &[Entry]) -> Result<String, String> {
        if !self.rest().starts_with('"') {
            return Err(self.wrong("a key in double quotes"));
        }
        let key = self.string()?;
        if entries.iter().any(|entry| entry.key.as_deref() == Some(key.as_str())) {
            let key = ellipsis(&one_line(&key), 64);
            return Err(self.error(&format!("`{key}` is given twice")));
        }
        self.skip()?;
        if self.eat(':') { Ok(key) } else { Err(self.wrong("`:`")) }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else { return Err(self.error("a text without an end")) };
        let token = &self.rest()[..=end];
        let read = serde_json::from_str(token);
        let text = read.map_err(|_| self.error("a text that is not valid JSON"))?;
        self.at += token.len();
        Ok(text)
    }

    fn word(&mut self) -> Result<Value, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let end = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        match serde_json::from_str(&self.rest()[..end]) {
            Ok(value) => {
                self.at += end;
                Ok(value)
            }
            Err(_) => Err(self.wrong("a value")),
        }
    }
}
