//! Secrets among settings in one value: `AccountName=a;AccountKey=…`, `user=a password=…`,
//! `--password …`.

use onloop_syntax::text::says_secret;
use serde_json::Value;

/// What stands directly in front of a secret where it is hidden although it is ordinary, and the secret.
pub(super) fn secrets(value: &str) -> impl Iterator<Item = (Vec<String>, &str)> {
    // Most values have no setting, and a function of a shell has none.
    let has_settings = value.contains(['=', '-']) && !value.starts_with("() ");
    let settings = if has_settings { value } else { "" };
    let is_list = settings.contains(';') && settings.contains('=');
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '?');
    let mut option = None;
    settings.split(ends).filter_map(move |word| {
        let before = option.take();
        if let Some((name, text)) = word.split_once('=') {
            let text = text.trim_matches(['"', '\'']);
            let begins = match is_list || name.starts_with("--") {
                true => vec![format!("{name}=")],
                false => Vec::new(),
            };
            let is_meant = is_meant(name, is_list) && is_literal(text, is_list);
            return is_meant.then_some((begins, text));
        }
        if let Some(before) = before.filter(|_| !word.starts_with('-')) {
            let text = word.trim_matches(['"', '\'']);
            let begins = [" ", "="].map(|between| format!("{before}{between}")).to_vec();
            return is_literal(text, false).then_some((begins, text));
        }
        option = Some(word).filter(|word| word.starts_with("--") && is_meant(word, false));
        None
    })
}

/// The secret members of a value that is a document of JSON, each behind its key.
pub(super) fn members(value: &str) -> impl Iterator<Item = (String, String)> {
    let document = Some(value).filter(|value| value.trim_start().starts_with('{'));
    let mut ahead: Vec<(String, Value)> = Vec::new();
    ahead.extend(document.and_then(|text| Some((String::new(), serde_json::from_str(text).ok()?))));
    let mut found = Vec::new();
    while let Some((key, value)) = ahead.pop() {
        match value {
            Value::Object(members) => ahead.extend(members),
            Value::Array(items) => ahead.extend(items.into_iter().map(|item| (key.clone(), item))),
            Value::String(text) if is_meant(&key, false) || key == "auth" => {
                found.push((key, text));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found.into_iter()
}

/// Whether the name of a setting says that its value is a secret. In lists every `…Key` does.
fn is_meant(name: &str, is_list: bool) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return false;
    }
    let plain = name.trim_start_matches('-').replace(['-', '.'], "_");
    let joined = plain.replace('_', "");
    let lower = joined.to_lowercase();
    let is_key = lower.ends_with("key");
    let of_place = ["file", "path", "dir", "stdin", "name", "id"];
    !of_place.iter().any(|end| lower.ends_with(end))
        && (says_secret(&joined)
            || (is_list && lower == "pwd")
            || (says_secret(&plain) && !is_key)
            || (is_list
                && is_key
                && joined == name
                && joined.len() > "key".len()
                && !lower.ends_with("publickey")))
}

/// Whether a text is the secret, and not what stands for it in a script or a template, nor, but in a
/// list, where it is.
fn is_literal(text: &str, is_list: bool) -> bool {
    !text.is_empty()
        && !text.starts_with(['$', '%', '{', '<', '(', '['])
        && (is_list || !text.starts_with(['/', '~']))
}
