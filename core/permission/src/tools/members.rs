//! What the members of a tool's input name: files, and texts that may be files.

use std::borrow::Cow;

use onloop_syntax::syntax::file_uri;
use serde_json::Value;

use super::search;
use crate::expand::{Arg, Shape};
use crate::judge::Judge;
use crate::paths::{Access, goes_up, tidy};
use crate::target::Target;
use crate::verdict::{Decision, Finding, PathRule, Rule, Worst};

/// Members that hold a path, as the tools of the clients name them.
const PATH_KEYS: [&str; 17] = [
    "absolutePath",
    "absolute_path",
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "notebookPath",
    "filename",
    "target_file",
    "dirPath",
    "dir_path",
    "relative_workspace_path",
    "file",
    "directory",
    "folder",
    "target_directory",
    "uri",
];

/// Members that hold a list of paths.
const LIST_KEYS: [&str; 7] =
    ["paths", "file_paths", "filePaths", "files", "directories", "target_directories", "uris"];

/// Whether what a member holds is paths.
fn names_files(key: &str) -> bool {
    PATH_KEYS.contains(&key) || LIST_KEYS.contains(&key)
}

/// What a host may take `path` for. Claude Code strips blanks at both ends, Cline the name of a
/// workspace in front (`@name:path`).
pub(super) fn readings(path: &str) -> impl Iterator<Item = &str> {
    // JavaScript counts the byte order mark as a blank.
    let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    std::iter::successors(Some(path), move |path| match path.trim_matches(is_blank) {
        bare if bare.len() < path.len() => Some(bare),
        bare => bare.strip_prefix('@')?.split_once(':').map(|(_, rest)| rest),
    })
}

/// Every path in an input, including those in lists of edits, in each of its readings. What should be
/// a path and is not one is an empty path: no call is allowed with one.
pub(in super::super) fn paths(input: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    collect_paths(input, false, &mut found);
    found
}

fn collect_paths<'v>(value: &'v Value, is_path: bool, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let holds_text =
                    value.as_array().is_some_and(|all| all.iter().any(Value::is_string));
                if holds_text && PATH_KEYS.contains(&key.as_str()) {
                    found.push("");
                }
                collect_paths(value, names_files(key), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_paths(item, is_path, found)),
        Value::String(path) if is_path => found.extend(readings(path)),
        Value::Bool(_) | Value::Number(_) if is_path => found.push(""),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The texts of members of which a host takes one, and which one is not known. `None`: there is
/// none, or one is not text.
pub(super) fn alternatives<'v>(input: &'v Value, keys: &[&str]) -> Option<Vec<&'v str>> {
    let members = keys.iter().filter_map(|key| input.get(*key)).filter(|value| !value.is_null());
    let texts: Option<Vec<&str>> = members.map(Value::as_str).collect();
    texts.filter(|texts| !texts.is_empty())
}

/// Judges a file that is named by its path or, as some clients do, by its address.
pub(super) fn judge_path(path: &str, access: Access, judge: &Judge<'_>, worst: &mut Worst) {
    worst.consider(judge.places.judge_text(path, access));
    if readings(path).nth(1).is_some() {
        worst.add(Finding::ask(
            Rule::Path(PathRule::Odd),
            "it names a path with blanks around it, or behind the name of a workspace",
        ));
    }
    if scheme(path).is_none() {
        return;
    }
    match file_uri::path_of(path).filter(|_| !path.contains(['?', '#'])) {
        Some(path) => worst.consider(judge.places.judge_text(&path, access)),
        None => worst.add(Finding::ask(
            Rule::Path(PathRule::Odd),
            "it names a file by an address that is not a path",
        )),
    }
}

/// Refuses an input in which a text names a secret, except in members with these names.
pub(super) fn judge_secrets(input: &Value, except: &[&str], judge: &mut Judge<'_>) {
    let mut names = Vec::new();
    collect_names(input, "", except, &mut names);
    for name in names {
        let finding = judge.places.judge(&name, Access::Read);
        judge.consider(finding.filter(|found| found.decision == Decision::Deny));
    }
}

/// Adds every name of a file, and every pattern for some, that the member `key` may hold, also in a text
/// that is JSON itself.
fn collect_names(value: &Value, key: &str, except: &[&str], found: &mut Vec<Arg>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| !except.contains(&key.as_str())) {
                collect_names(value, key, except, found);
                found.extend(file_in(key, false).map(Arg::exact));
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| collect_names(item, key, except, found));
        }
        Value::String(text) => {
            if text.trim_start().starts_with(['{', '['])
                && let Ok(inner) = serde_json::from_str(text)
            {
                collect_names(&inner, key, except, found);
            }
            let is_path = names_files(key);
            let is_line = super::LINE_KEYS.contains(&key);
            let ends_word = |c: char| c.is_whitespace() || "\"'`;|&<>()=".contains(c);
            let words = text.split(ends_word).filter(|_| is_line);
            let names = words.filter_map(|word| file_in(word, false)).chain(file_in(text, is_path));
            found.extend(names.map(Arg::exact));
            let is_glob =
                is_path || search::GLOB_KEYS.contains(&key) && !search::TEXT_KEYS.contains(&key);
            if is_glob && text.contains(['*', '?', '[']) {
                found.push(Arg { shape: Shape::Pattern, ..Arg::exact(text.as_str()) });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An input as JSON, which rules about other tools are compared with.
pub(super) fn target(input: &Value, judge: &Judge<'_>) -> Target {
    let written = input.to_string();
    let tidied = respelled(input, false, &|path| Some(tidy(path))).to_string();
    let led = |path: &str| judge.places.named(path).get(1).cloned();
    let led = respelled(input, false, &led).to_string();
    let mut names = Vec::new();
    collect_names(input, "", &[], &mut names);
    let leaves = names.iter().any(|name| goes_up(&name.text));
    let to_allow = vec![if leaves { tidied.clone() } else { written.clone() }];
    let to_forbid = vec![unescaped(&written), written, tidied, led];
    Target { to_allow, to_forbid, ..Target::default() }
}

/// JSON with the characters that its escapes stand for, also those in texts that are JSON themselves.
fn unescaped(json: &str) -> String {
    let mut plain = String::new();
    let mut rest = json;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        let escape = escape.trim_start_matches('\\');
        let code =
            escape.strip_prefix('u').and_then(|hex| u32::from_str_radix(hex.get(..4)?, 16).ok());
        let (sign, length) = match code.and_then(char::from_u32) {
            Some(sign) => (Some(sign), 5),
            None if escape.starts_with(['n', 'r', 't', 'f', 'b']) => (Some('\n'), 1),
            None => (None, 0),
        };
        plain.extend(sign);
        rest = &escape[length..];
    }
    plain + rest
}

/// `input` with every path as `spell` has it.
fn respelled(value: &Value, is_path: bool, spell: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                (key.clone(), respelled(value, names_files(key), spell))
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => items.iter().map(|item| respelled(item, is_path, spell)).collect(),
        Value::String(text) => {
            let path = file_in(text, is_path).and_then(|path| spell(&path));
            let begin = scheme(text.trim()).map_or(String::new(), |scheme| format!("{scheme}://"));
            Value::String(path.map_or_else(|| text.clone(), |path| begin + &path))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The file that a text may name; `None` for other texts. A word of letters alone and a sentence
/// are files only where the member says so.
fn file_in(text: &str, is_path: bool) -> Option<Cow<'_, str>> {
    let text = text.trim();
    let path = match scheme(text) {
        Some("http" | "https") => return None,
        Some(scheme) => {
            let rest = &text[scheme.len() + 1..];
            let rest = rest
                .strip_prefix("//")
                .map_or(rest, |rest| rest.find('/').map_or(rest, |slash| &rest[slash..]));
            let rest = rest.split(['?', '#']).next().unwrap_or_default();
            file_uri::percent_decoded(rest).map_or(Cow::Borrowed(rest), Cow::Owned)
        }
        None => Cow::Borrowed(text),
    };
    // A backslash and a drive are a path of Windows.
    let path = if path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { path };
    let path = match path.get(1..3) {
        Some(":/") => Cow::Owned(path[2..].to_owned()),
        Some(_) | None => path,
    };
    let is_word = path.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_sentence = path.contains(char::is_whitespace) && !path.starts_with(['/', '~', '.']);
    (is_path || !(is_word || is_sentence)).then_some(path)
}

/// The scheme of an address. One letter is a drive.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let fits = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (fits && scheme.len() > 1 && scheme.as_bytes()[0].is_ascii_alphabetic()).then_some(scheme)
}
