//! The configuration, from the table that it is read with.

use onloop_core::handsoff::config::keys::{ConfigKey, KEYS, KeyKind, WORKFLOW_KEYS};

const HEAD: &str = "\
# Configuration

Generated from `core/src/handsoff/config/keys.rs` by `cargo xtask generate`; do not edit. `onloop schema config` prints
the same as a JSON Schema.

## Files

| file | who writes it | what is read from it |
| --- | --- | --- |
| `.agentize.local.yaml` | you; keep it out of the repository | everything below |
| `.agentize.yaml` | whoever can commit | `permissions` alone; its allow rules after `onloop permit trust` |

The local file is looked for in the current folder and every folder above it, then in `$AGENTIZE_HOME`, then in `$HOME`. The
first one found is the only one read. The environment wins over it.

```yaml
handsoff:
  enabled: true
  max_continuations: 10
  supervisor:
    provider: claude
    model: opus
telegram:
  enabled: true
  token: \"123456:ABC-DEF\"
  chat_id: \"12345678\"
```

## Keys

| key | value | default | environment | meaning |
| --- | --- | --- | --- | --- |
";

const TAIL: &str = "
A flag is `true`, `on`, `enable` or any number but zero; or `false`, `off`, `disable` or `0`; in any case of letters. Any other
word is an error, also `yes` and `no`.

## Workflows of your own

Each entry of `handsoff.workflows` is a mapping. An entry that cannot be used is left out and named.

| key | meaning |
| --- | --- |
";

const ERRORS: &str = "
## What is wrong in it

Every mistake is named with its line and column, and an unknown key with the known one that was probably meant. `onloop
permit explain` shows them. Keys of other tools that share the file are left alone.

A mistake never gives anything. In place of what cannot be used holds what costs nothing, sends nothing and allows
nothing: no continuation, no language model, no supervisor, no chat. A file that cannot be read as a whole
leaves the judging of calls on and everything else off, and nothing is allowed by a rule until it is mended; what is denied
stays denied. Half a chat is none: without a token, a chat and somebody who may answer, nobody is asked.
";

/// `docs/config.md`.
pub(crate) fn document() -> String {
    let mut text = String::from(HEAD);
    for key in KEYS {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            key.path,
            value(key),
            code(key.default),
            code(key.variable.unwrap_or_default()),
            key.about.replace('|', "\\|"),
        ));
    }
    text.push_str(TAIL);
    for (name, about) in WORKFLOW_KEYS {
        text.push_str(&format!("| `{name}` | {about} |\n"));
    }
    text.push_str(ERRORS);
    text
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn value(key: &ConfigKey) -> String {
    match key.kind {
        KeyKind::Flag => "flag".to_owned(),
        KeyKind::Number { min, max } => {
            format!("{min} to {max}; what is outside is brought inside")
        }
        KeyKind::Word(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        KeyKind::Text => "text".to_owned(),
        KeyKind::Secret => "text, never shown".to_owned(),
        KeyKind::Id => "whole number, also as text".to_owned(),
        KeyKind::Ids => "whole numbers: one, a list, or text with commas".to_owned(),
        KeyKind::Arguments => "text, split at white space, or a list of texts".to_owned(),
        KeyKind::Workflows => "list".to_owned(),
        KeyKind::Rules => "mapping".to_owned(),
    }
}
