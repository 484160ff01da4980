//! Editing JSON that people write, with comments and any indentation.
//!
//! The reader keeps spans. An edit inserts or removes bytes at spans and leaves every other byte
//! alone. [`remove`] restores the bytes from before [`append`]. The layout of a container's first
//! entry tells [`remove`] whether the container is new: [`append`] adds no space in an existing
//! empty container, and starts a line in a new one.

use std::ops::Range;

use serde_json::{Map, Value};

pub mod parse;
#[cfg(test)]
mod tests;

use super::spans::{line_start, newline_of, spliced};
pub use parse::{ParseError, parse};

/// A value and its span.
#[derive(Debug)]
pub struct Node {
    /// From its first byte to the byte after its last.
    pub(crate) span: Range<usize>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Object(Vec<Entry>),
    Array(Vec<Entry>),
    Scalar(Value),
}

/// An element of an array, or a member of an object.
#[derive(Debug)]
pub struct Entry {
    /// The start of the element, or of the member's key.
    start: usize,
    /// The key of a member.
    pub key: Option<String>,
    /// The value.
    pub value: Node,
    /// The position of the comma after it, if there is one.
    comma: Option<usize>,
}

impl Node {
    /// The entries of a container; none for a scalar.
    pub fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Object(entries) | Content::Array(entries) => entries,
            Content::Scalar(_) => &[],
        }
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.content, Content::Object(_))
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.content, Content::Array(_))
    }

    /// Index and value of a member.
    pub fn member(&self, key: &str) -> Option<(usize, &Node)> {
        let is_it = |entry: &Entry| entry.key.as_deref() == Some(key);
        let at = self.entries().iter().position(is_it)?;
        Some((at, &self.entries()[at].value))
    }

    /// The value without its layout.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Object(entries) => {
                let members = entries
                    .iter()
                    .map(|entry| (entry.key.clone().unwrap_or_default(), entry.value.to_value()));
                Value::Object(Map::from_iter(members))
            }
            Content::Array(entries) => {
                Value::Array(entries.iter().map(|entry| entry.value.to_value()).collect())
            }
            Content::Scalar(value) => value.clone(),
        }
    }

    fn at(&self, path: &[usize]) -> &Node {
        path.iter().fold(self, |node, step| &node.entries()[*step].value)
    }
}

/// The text with an entry added at the end of the container at `path` from the root. Objects
/// require `key`, arrays exclude it.
pub fn append(text: &str, path: &[usize], key: Option<&str>, value: &Value) -> String {
    let root = parse(text).expect("the text was read before");
    let container = root.at(path);
    let style = Style::of(text);
    let line_indent = indent_of_line(text, container.span.start);
    let Some(last) = container.entries().last() else {
        let inside = container.span.start + 1;
        if path.is_empty() {
            let indent = format!("{line_indent}{}", style.unit);
            let entry = style.entry(key, value, &indent);
            let added = format!("{nl}{indent}{entry}{nl}{line_indent}", nl = style.newline);
            return spliced(text, vec![(inside..inside, added)]);
        }
        let entry = style.entry(key, value, line_indent);
        return spliced(text, vec![(inside..inside, entry)]);
    };
    let own_line = line_start(text, last.start);
    let indent = match text[own_line..last.start].trim_matches([' ', '\t']).is_empty() {
        true => text[own_line..last.start].to_owned(),
        false => format!("{line_indent}{}", style.unit),
    };
    let entry = style.entry(key, value, &indent);
    let nl = style.newline;
    match last.comma {
        Some(comma) => {
            let place = behind_comments(text, comma + 1);
            spliced(text, vec![(place..place, format!("{nl}{indent}{entry},"))])
        }
        None => {
            let end = last.value.span.end;
            let place = behind_comments(text, end);
            let added = format!("{nl}{indent}{entry}");
            spliced(text, vec![(end..end, ","), (place..place, &added)])
        }
    }
}

/// The text without the entry at `path`, and without the containers that [`append`] made for it.
pub fn remove(text: &str, path: &[usize]) -> String {
    let root = parse(text).expect("the text was read before");
    let mut path = path;
    loop {
        let (last, above) = path.split_last().expect("the root is never removed");
        let container = root.at(above);
        let entry = &container.entries()[*last];
        let hugs = entry.start == container.span.start + 1;
        if container.entries().len() > 1 || above.is_empty() || hugs {
            return spliced(text, cuts(text, container, *last, above.is_empty()));
        }
        path = above;
    }
}

/// The range that disappears with an entry.
fn cuts(
    text: &str,
    container: &Node,
    index: usize,
    is_root: bool,
) -> Vec<(Range<usize>, &'static str)> {
    let entries = container.entries();
    let entry = &entries[index];
    let mut end = entry.value.span.end;
    if is_root && entries.len() == 1 && entry.comma.is_none() {
        end = behind_closing_line(text, container, end);
    }
    let mut cuts = vec![(lead(text, entry.start)..end, "")];
    match entry.comma {
        Some(comma) => cuts.push((comma..comma + 1, "")),
        None => {
            let before = index.checked_sub(1).and_then(|before| entries[before].comma);
            cuts.extend(before.map(|comma| (comma..comma + 1, "")));
        }
    }
    cuts
}

/// The start of the blanks and the line break in front of an entry.
fn lead(text: &str, start: usize) -> usize {
    let before = text[..start].trim_end_matches([' ', '\t']);
    match before.strip_suffix('\n') {
        Some(before) => before.strip_suffix('\r').unwrap_or(before).len(),
        None => before.len(),
    }
}

/// The end of the line break and the indentation that [`append`] puts after the only entry of an
/// empty root.
fn behind_closing_line(text: &str, root: &Node, end: usize) -> usize {
    let rest = &text[end..];
    let newline = ["\r\n", "\n"].into_iter().find(|newline| rest.starts_with(newline));
    let Some(newline) = newline else { return end };
    let indent = indent_of_line(text, root.span.start);
    if rest[newline.len()..].starts_with(indent) { end + newline.len() + indent.len() } else { end }
}

/// The layout of a document.
struct Style {
    newline: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str) -> Style {
        let indented = text.lines().map(|line| &line[..line.len() - line.trim_start().len()]);
        let is_plain = |blank: &&str| *blank == "\t" || blank.bytes().all(|byte| byte == b' ');
        let first = indented.filter(|blank| (1..=8).contains(&blank.len())).find(is_plain);
        let unit = first.unwrap_or("  ").to_owned();
        Style { newline: newline_of(text), unit }
    }

    fn entry(&self, key: Option<&str>, value: &Value, indent: &str) -> String {
        let mut out = String::new();
        if let Some(key) = key {
            out.push_str(&format!("{}: ", Value::from(key)));
        }
        self.pretty(value, indent, &mut out);
        out
    }

    fn pretty(&self, value: &Value, indent: &str, out: &mut String) {
        let (brackets, entries): (_, Vec<_>) = match value {
            Value::Array(items) if items.iter().any(|item| item.is_array() || item.is_object()) => {
                ("[]", items.iter().map(|item| (None, item)).collect())
            }
            Value::Object(members) if !members.is_empty() => {
                ("{}", members.iter().map(|(key, value)| (Some(key), value)).collect())
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                return out.push_str(&format!("[{}]", items.join(", ")));
            }
            Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => return out.push_str(&value.to_string()),
        };
        let deeper = format!("{indent}{}", self.unit);
        out.push_str(&brackets[..1]);
        for (place, (key, value)) in entries.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            out.push_str(&format!("{comma}{}{deeper}", self.newline));
            out.push_str(&self.entry(key.map(String::as_str), value, &deeper));
        }
        out.push_str(&format!("{}{indent}{}", self.newline, &brackets[1..]));
    }
}

/// The position after comments on the rest of the line; `from` without comments.
fn behind_comments(text: &str, from: usize) -> usize {
    let (mut place, mut at) = (from, from);
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        let rest = &text[at..];
        let comment = if rest.starts_with("//") {
            rest.find(['\r', '\n']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            return place;
        };
        if rest[..comment].contains('\n') {
            return place;
        }
        at += comment;
        place = at;
    }
}

fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
