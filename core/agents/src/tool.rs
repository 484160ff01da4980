//! What clients say about calls of tools.

use serde_json::Value;

use super::clean::{cleaned, line, name};
use super::event::{AgentCall, AgentEvent};
use onloop_syntax::limits;

/// Members of a tool's input that say what the call does, the most telling first.
const TELLING: [&str; 15] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "absolute_path",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "subject",
    "name",
];

/// The name at `member`, where there is a text that is not empty.
pub(super) fn named(document: &Value, member: &str) -> Option<String> {
    document[member].as_str().map(name).filter(|name| !name.is_empty())
}

/// Something that was said; nothing where it is blank.
pub(super) fn said(text: &str) -> Option<AgentEvent> {
    (!text.trim().is_empty()).then(|| AgentEvent::Said(cleaned(text, limits::AGENT_TEXT_BYTES)))
}

/// The same of a sub-agent.
pub(super) fn said_aside(text: &str) -> Option<AgentEvent> {
    let text = cleaned(text, limits::AGENT_TEXT_BYTES);
    (!text.trim().is_empty()).then_some(AgentEvent::SaidAside(text))
}

/// The text of a content that is a text or a list of blocks with texts in them.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// A call of `tool` with `input`. A call without an id is named after its tool.
pub(super) fn call(id: Option<&str>, tool: &str, input: &Value) -> AgentCall {
    let tool = name(tool);
    let id = id.map_or_else(|| tool.clone(), name);
    AgentCall { id, tool, about: about(input) }
}

/// What a call does, as far as its input tells, on one line.
fn about(input: &Value) -> String {
    let telling = TELLING.iter().find_map(|member| words(&input[*member]));
    let words = telling.or_else(|| words(input)).unwrap_or_default();
    line(&unwrapped(&words))
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            None
        }
    }
}

/// The line that a shell is called with, without the shell.
fn unwrapped(command: &str) -> String {
    let shells = ["/bin/bash -lc ", "bash -lc ", "/bin/sh -c ", "sh -c ", "/bin/zsh -lc "];
    let Some(line) = shells.iter().find_map(|shell| command.strip_prefix(shell)) else {
        return command.to_owned();
    };
    let quoted = |quote: char| line.strip_prefix(quote)?.strip_suffix(quote);
    match (quoted('\''), quoted('"')) {
        (Some(inner), _) if !inner.contains('\'') => inner.to_owned(),
        (_, Some(inner)) if !inner.contains(['"', '\\', '$', '`']) => inner.to_owned(),
        (Some(_) | None, Some(_) | None) => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_one_line_that_cannot_steer_a_terminal() {
        let table = [
            ("Bash", json!({"description": "x", "command": "cargo test"}), "Bash: cargo test"),
            ("shell", json!({"command": ["sh", "-c", "ls"]}), "shell: ls"),
            ("shell", json!({"command": "/bin/bash -lc 'echo a; ls'"}), "shell: echo a; ls"),
            ("shell", json!({"command": "/bin/bash -lc 'echo '\\''a'"}), "shell: 'echo '\\''a'"),
            ("Read", json!({"file_path": "/w/a.rs"}), "Read: /w/a.rs"),
            ("x", json!({"command": "a\n\u{1b}[2Jb\tc"}), "x: a b c"),
            ("todo", json!({"items": [1]}), "todo"),
            ("odd", json!([1, "a"]), "odd"),
            ("web", json!("words"), "web: words"),
        ];
        for (tool, input, expected) in table {
            assert_eq!(call(Some("1"), tool, &input).line(), expected);
        }
        let long = call(Some("1"), "Bash", &json!({"command": "é".repeat(1_000_000)}));
        assert!(long.about.len() <= 400);
    }
}
