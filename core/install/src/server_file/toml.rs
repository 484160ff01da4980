//! The entry of our server in a TOML file. `toml_edit` reads the file and says where things
//! stand; an edit inserts or removes bytes there and leaves every other byte alone.

use std::ops::Range;

use serde_json::{Value as Json, json};
use toml_edit::{Document, InlineTable, Item, Key, Table, Value};

use super::starts_us;
use crate::EditError;
use crate::SERVER;
use onloop_syntax::syntax::spans::{line_start, newline_of, spliced};

#[cfg(test)]
mod tests;

/// The table in which Codex looks for servers.
const SERVERS: &str = "mcp_servers";

/// A run may take as long as an agent does.
const TOOL_TIMEOUT_S: u64 = 24 * 60 * 60;

const TIMEOUT: &str = "tool_timeout_sec";

/// The keys that we write.
const KEYS: [&str; 3] = ["command", "args", TIMEOUT];

/// Stands behind the header when we put an empty line above it, which goes with the table. Without
/// it that line is the user's.
const SEPARATED: &str = " # and the line above";

/// Bytes to be replaced, and what comes in their place.
type Edit = (Range<usize>, String);

/// The file with our entry in it; the same bytes if it is there already.
pub(super) fn merged(found: &str, words: &[String]) -> Result<String, EditError> {
    let document = parse(found)?;
    let merged = match entry_in(&document)? {
        Some(entry) if starts_us(&words_of(entry)) => spliced(found, updates(found, entry, words)),
        Some(Item::Table(table)) if is_nobodys(table) && has_header(table) => {
            spliced(found, vec![added(found, table, words, &KEYS)])
        }
        Some(Item::Table(table)) if is_nobodys(table) && !table.is_dotted() => {
            appended(found, words)
        }
        Some(_) => return Err(EditError::OtherServer),
        None => appended(found, words),
    };
    // Where servers are written in another form, ours cannot always be put beside them.
    if words_in(&merged).is_some_and(|there| there == words) {
        Ok(merged)
    } else {
        Err(EditError::OtherForm)
    }
}

/// The file without our entry. Keys that the user has added to it stay where they are.
pub(super) fn without(found: &str) -> Result<String, EditError> {
    let document = parse(found)?;
    let Some(entry) = entry_in(&document)?.filter(|entry| starts_us(&words_of(entry))) else {
        return Ok(found.to_owned());
    };
    let servers = document[SERVERS].as_inline_table();
    let cuts = match (entry, servers) {
        (Item::Table(table), _) => table_cuts(found, table),
        (Item::Value(Value::InlineTable(table)), _) if !is_only_ours(table) => {
            pair_cuts(found, table, is_ours)
        }
        (_, Some(servers)) => pair_cuts(found, servers, |path| {
            path[0].get() == SERVER && (path.len() == 1 || is_ours(&path[1..]))
        }),
        (_, None) => vec![lines_of(found, &span(entry.span()))],
    };
    let text = spliced(found, cuts.into_iter().map(|cut| (cut, "")).collect());
    if parse(&text).is_ok() { Ok(text) } else { Err(EditError::OtherForm) }
}

/// The command line with which the file starts the server of our name, in words.
pub(super) fn words_in(text: &str) -> Option<Vec<String>> {
    let document = parse(text).ok()?;
    entry_in(&document).ok()?.map(words_of)
}

/// Whether a configuration of Codex switches hooks off.
pub fn switches_hooks_off(text: &str) -> bool {
    let hooks = |document: &Document<&str>| document.get("features")?.get("hooks")?.as_bool();
    parse(text).is_ok_and(|document| hooks(&document) == Some(false))
}

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| {
        let before = &text[..span(error.span()).start];
        EditError::Syntax {
            line: before.matches('\n').count() + 1,
            column: Some(text[line_start(text, before.len())..before.len()].chars().count() + 1),
            problem: error.message().to_owned(),
        }
    })
}

/// What stands under our name.
fn entry_in<'d>(document: &'d Document<&str>) -> Result<Option<&'d Item>, EditError> {
    match document.get(SERVERS) {
        Some(servers) if !servers.is_table_like() => {
            Err(EditError::WrongType { name: SERVERS.to_owned(), expected: "a table" })
        }
        servers => Ok(servers.and_then(|servers| servers.get(SERVER))),
    }
}

fn words_of(entry: &Item) -> Vec<String> {
    let value = |key: &str| entry.get(key).map_or(Json::Null, json_of);
    super::words_of(&json!({ "command": value("command"), "args": value("args") }))
}

/// A value as JSON, as far as our own values go.
fn json_of(item: &Item) -> Json {
    let text = |value: &Value| value.as_str().map_or(Json::Null, Json::from);
    match item.as_array() {
        Some(items) => items.iter().map(text).collect(),
        None => item.as_value().map_or(Json::Null, text),
    }
}

/// Whether a table starts no server. The user's keys are what remains of one of ours.
fn is_nobodys(table: &Table) -> bool {
    !["command", "args", "url"].iter().any(|key| table.contains_key(key))
}

fn has_header(table: &Table) -> bool {
    !table.is_dotted() && !table.is_implicit()
}

fn is_ours(path: &[&Key]) -> bool {
    matches!(path, [key] if KEYS.contains(&key.get()))
}

/// Whether nothing remains of a table without us. Dotted keys stand in the table around it.
fn is_only_ours(table: &InlineTable) -> bool {
    table.is_dotted() || table.get_values().iter().all(|(path, _)| is_ours(path))
}

/// The edits after which an entry of ours starts the server with `words`. A timeout that is there
/// is the user's choice.
fn updates(text: &str, entry: &Item, words: &[String]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut missing = Vec::new();
    for key in KEYS {
        match entry.get(key) {
            None => missing.push(key),
            Some(_) if key == TIMEOUT => {}
            Some(value) if json_of(value) == wanted(key, words) => {}
            Some(value) => edits.push((span(value.span()), toml_of(key, words))),
        }
    }
    match entry.as_table() {
        Some(table) if has_header(table) && !missing.is_empty() => {
            edits.push(added(text, table, words, &missing));
        }
        Some(_) | None => {}
    }
    edits
}

fn wanted(key: &str, words: &[String]) -> Json {
    let (command, arguments) = words.split_first().expect("a server is a program");
    match key {
        "command" => Json::from(command.as_str()),
        "args" => Json::from(arguments),
        _ => Json::from(TOOL_TIMEOUT_S),
    }
}

/// Texts of JSON are texts of TOML, too, but for one character.
fn toml_of(key: &str, words: &[String]) -> String {
    wanted(key, words).to_string().replace('\u{7f}', "\\u007f")
}

fn lines(keys: &[&str], words: &[String], newline: &str) -> String {
    keys.iter().map(|key| format!("{key} = {}{newline}", toml_of(key, words))).collect()
}

/// Keys of ours on the lines behind a header.
fn added(text: &str, table: &Table, words: &[String], keys: &[&str]) -> Edit {
    let end = lines_of(text, &span(table.span())).end;
    let newline = newline_of(text);
    let lines = lines(keys, words, newline);
    let lines = if text[..end].ends_with('\n') { lines } else { format!("{newline}{lines}") };
    (end..end, lines)
}

/// The text with our table at its end.
fn appended(text: &str, words: &[String]) -> String {
    let newline = newline_of(text);
    let (line, mark) = if text.is_empty() { ("", "") } else { (newline, SEPARATED) };
    let lines = lines(&KEYS, words, newline);
    format!("{text}{line}[{SERVERS}.{SERVER}]{mark}{newline}{lines}")
}

/// Our lines of a table; its header, too, where nothing else stands below it.
fn table_cuts(text: &str, table: &Table) -> Vec<Range<usize>> {
    let values = table.get_values();
    let (ours, theirs): (Vec<_>, Vec<_>) = values.iter().partition(|(path, _)| is_ours(path));
    let mut cuts: Vec<_> =
        ours.iter().map(|(_, value)| lines_of(text, &span(value.span()))).collect();
    if has_header(table) {
        let header = span(table.span());
        let line = lines_of(text, &header);
        let is_separated = text[header.end..line.end].trim_end_matches(['\r', '\n']) == SEPARATED;
        let above = &text[..line.start];
        let separator = ["\r\n", "\n"].into_iter().find(|newline| above.ends_with(newline));
        match (theirs.is_empty(), is_separated) {
            (true, true) => cuts.push(line.start - separator.map_or(0, str::len)..line.end),
            (true, false) => cuts.push(line),
            // The line above is theirs now, with the table.
            (false, true) => cuts.push(header.end..header.end + SEPARATED.len()),
            (false, false) => {}
        }
    }
    cuts
}

/// The pairs of an inline table that are ours, each with one comma beside it.
fn pair_cuts(
    text: &str,
    table: &InlineTable,
    is_ours: impl Fn(&[&Key]) -> bool,
) -> Vec<Range<usize>> {
    let values = table.get_values();
    let mut pairs: Vec<_> =
        values.iter().map(|(path, value)| (span(value.span()), is_ours(path))).collect();
    pairs.sort_by_key(|(value, _)| value.start);
    let key_behind = |at: usize| {
        let rest = text[at..].trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        text.len() - rest.len()
    };
    let first_kept = pairs.iter().position(|(_, is_ours)| !is_ours);
    let mut cuts = Vec::new();
    let mut end = span(table.span()).start + 1;
    for (at, (value, is_ours)) in pairs.iter().enumerate() {
        if *is_ours {
            cuts.push(match first_kept {
                Some(kept) if at < kept => key_behind(end)..key_behind(value.end),
                Some(_) | None => end..value.end,
            });
        }
        end = value.end;
    }
    cuts
}

/// A document that was read has spans everywhere.
fn span(span: Option<Range<usize>>) -> Range<usize> {
    span.unwrap_or_default()
}

/// The whole lines on which something stands, with their line breaks.
fn lines_of(text: &str, span: &Range<usize>) -> Range<usize> {
    let end = text[span.end..].find('\n').map_or(text.len(), |newline| span.end + newline + 1);
    line_start(text, span.start)..end
}
