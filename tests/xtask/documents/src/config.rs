//! The configuration, from the table that it is read with.

use onloop_core::handsoff::config::keys::{ConfigKey, KEYS, KeyKind, WORKFLOW_KEYS};

const HEAD: &str = "\
# Configuration

Generated from `core/sessions/src/handsoff/config/keys.rs` by `cargo xtask generate`; do not edit. `onloop schema config` prints
the same as a JSON Schema.

## Files

| file | who writes it | what is read from it |
| --- | --- | --- |
| `.agentize.local.yaml` | you; keep it out of the repository | everything below |
| `.agentize.yaml` | whoever can commit | `permissions` alone; its allow rules after `onloop permit trust` |

The local file is searched for in the current folder and the folders above it, then in `$AGENTIZE_HOME` (`~/` at its start is the home folder), then in `$HOME`. The way up
ends at the home folder, before folders that hold homes (`/home`), and before those that everybody shares (`/tmp`, `/var/tmp`,
`/dev/shm`, `$TMPDIR`): a file there decides nothing. The same holds for `.agentize.yaml` and for the repository around a folder. Only the
first one found is read. The environment overrides it. One that git tracks is not yours, whoever wrote it: of what is in it only the
rules that deny or ask count, and the search goes on. Only one in `$HOME` or `$AGENTIZE_HOME` itself may be tracked. The same holds for one
that belongs to another user than you and root, unless the current folder does so, too.

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
A flag is `true`, `on`, `enable` or any number but zero; or `false`, `off`, `disable` or `0`; in upper or lower case. Any other
word is an error, including `yes` and `no`.

## Workflows of your own

Each entry of `handsoff.workflows` is a mapping. An entry that cannot be used is ignored and reported.

| key | meaning |
| --- | --- |
";

const ERRORS: &str = "
## Mistakes

Every mistake is reported with its line and column, and an unknown key with the known one that was probably meant. `onloop
permit explain` shows them. Keys of other tools that share the file are ignored.

A mistake never grants anything. A value that cannot be used is replaced by one that costs nothing, sends nothing and allows
nothing: no continuation, no language model, no supervisor, no chat. With a file that cannot be read at all,
calls are still judged and everything else is off, and no rule allows anything until it is fixed; what is denied
stays denied. An incomplete chat is not used: without a token, a chat id and somebody who may answer, nobody is asked.
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

fn codes(words: &[&str]) -> String {
    words.iter().map(|word| code(word)).collect::<Vec<_>>().join(", ")
}

fn value(key: &ConfigKey) -> String {
    match key.kind {
        KeyKind::Flag => "flag".to_owned(),
        KeyKind::Number { min, max } => {
            format!("{min} to {max}, clamped")
        }
        KeyKind::Word(words) => codes(words),
        KeyKind::Text => "string".to_owned(),
        KeyKind::Secret => "string, never shown".to_owned(),
        KeyKind::Id => "whole number, also as a string".to_owned(),
        KeyKind::Ids => "whole numbers: one, a list, or a string with commas".to_owned(),
        KeyKind::Words(words) => format!("`all`, or a list of {}", codes(words)),
        KeyKind::Arguments => "string, split at white space, or a list of strings".to_owned(),
        KeyKind::Network => "`all`, `loopback`, `none` or a list of names".to_owned(),
        KeyKind::Workflows => "list".to_owned(),
        KeyKind::Usd => "number, at least 0".to_owned(),
        KeyKind::Rules | KeyKind::Prices => "mapping".to_owned(),
    }
}
