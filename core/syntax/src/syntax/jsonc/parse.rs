//! JSON with comments and trailing commas, read into spans.

use serde_json::Value;

use super::{Content, Entry, Node};
use crate::limits;
use crate::text::{ellipsis, one_line};

/// Reads a document. It skips a byte-order mark, comments and trailing commas.
///
/// # Errors
///
/// The first problem. A duplicate key is a problem, because readers disagree on which value counts.
pub fn parse(text: &str) -> Result<Node, ParseError> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let root = reader.value()?;
    reader.skip()?;
    match reader.rest().chars().next() {
        None => Ok(root),
        Some(_) => Err(reader.unexpected("the end of the document")),
    }
}

/// A problem and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// The problem.
    pub problem: Problem,
}

/// The kind of a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Another character than expected, or the end.
    #[error("found {}, expected {expected}", .found.map_or("the end".to_owned(), |c| format!("`{}`", one_line(&c.to_string()))))]
    Unexpected {
        /// The character; `None` at the end.
        found: Option<char>,
        /// The expected text.
        expected: String,
    },
    /// An object has two members with one name.
    #[error("`{}` is given twice", ellipsis(&one_line(.0), 64))]
    DuplicateKey(String),
    /// A comment without its end.
    #[error("unterminated comment")]
    UnterminatedComment,
    /// A string without its end.
    #[error("unterminated string")]
    UnterminatedString,
    /// An escape sequence or a control character that JSON does not allow.
    #[error("not a valid JSON string")]
    InvalidString,
    /// More than [`limits::HOST_FILE_DEPTH`] containers in one another.
    #[error("nested too deeply")]
    TooDeep,
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

    fn error(&self, problem: Problem) -> ParseError {
        ParseError { line: self.text[..self.at].matches('\n').count() + 1, problem }
    }

    fn unexpected(&self, expected: &str) -> ParseError {
        let found = self.rest().chars().next();
        self.error(Problem::Unexpected { found, expected: expected.to_owned() })
    }

    /// Blanks and comments.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            self.at +=
                self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                match self.rest()[2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Err(self.error(Problem::UnterminatedComment)),
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

    fn value(&mut self) -> Result<Node, ParseError> {
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

    fn entries(&mut self, close: char) -> Result<Vec<Entry>, ParseError> {
        self.depth += 1;
        if self.depth > limits::HOST_FILE_DEPTH {
            return Err(self.error(Problem::TooDeep));
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
                return Err(self.unexpected(&format!("`,` or `{close}`")));
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

    fn key(&mut self, entries: &[Entry]) -> Result<String, ParseError> {
        if !self.rest().starts_with('"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let key = self.string()?;
        if entries.iter().any(|entry| entry.key.as_deref() == Some(key.as_str())) {
            return Err(self.error(Problem::DuplicateKey(key)));
        }
        self.skip()?;
        if self.eat(':') { Ok(key) } else { Err(self.unexpected("`:`")) }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else { return Err(self.error(Problem::UnterminatedString)) };
        let token = &self.rest()[..=end];
        let read = serde_json::from_str(token);
        let text = read.map_err(|_| self.error(Problem::InvalidString))?;
        self.at += token.len();
        Ok(text)
    }

    fn word(&mut self) -> Result<Value, ParseError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let end = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        match serde_json::from_str(&self.rest()[..end]) {
            Ok(value) => {
                self.at += end;
                Ok(value)
            }
            Err(_) => Err(self.unexpected("a value")),
        }
    }
}
