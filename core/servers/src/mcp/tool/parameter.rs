//! Parameters of tools: their schemas and the checks of what comes for them.

use serde_json::{Map, Value, json};

use super::InputError;
use onloop_syntax::limits;

/// A parameter of a tool: its schema and its check are made from it.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    kind: ParameterKind,
    pub(super) needed: bool,
    about: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum ParameterKind {
    /// A string of at most so many characters.
    Text(usize),
    /// One of these.
    Choice(&'static [&'static str]),
    Flag,
    /// Number of a step.
    Step,
    Object,
    /// An array of strings.
    List,
}

pub(super) const fn optional(
    name: &'static str,
    kind: ParameterKind,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind, needed: false, about }
}

pub(super) const fn needed(
    name: &'static str,
    kind: ParameterKind,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind, needed: true, about }
}

impl Parameter {
    pub(super) fn schema(&self) -> Value {
        let about = self.about;
        match self.kind {
            ParameterKind::Text(most) => json!({
                "type": "string", "description": about, "minLength": 1, "maxLength": most,
            }),
            ParameterKind::Choice(words) => {
                json!({ "type": "string", "description": about, "enum": words })
            }
            ParameterKind::Flag => json!({ "type": "boolean", "description": about }),
            ParameterKind::Step => json!({
                "type": "integer", "description": about,
                "minimum": 1, "maximum": limits::WORKFLOW_STEPS,
            }),
            ParameterKind::Object => json!({ "type": "object", "description": about }),
            ParameterKind::List => json!({
                "type": "array", "description": about, "maxItems": limits::MCP_LIST_ITEMS,
                "items": { "type": "string", "minLength": 1, "maxLength": limits::MCP_WORD_CHARS },
            }),
        }
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), InputError> {
        let expected = match self.kind {
            ParameterKind::Text(most) if is_text(value, most) => return Ok(()),
            ParameterKind::Text(most) => format!("a string of 1 to {most} characters"),
            ParameterKind::Choice(words)
                if value.as_str().is_some_and(|word| words.contains(&word)) =>
            {
                return Ok(());
            }
            ParameterKind::Choice(words) => format!("one of `{}`", words.join("`, `")),
            ParameterKind::Flag if value.is_boolean() => return Ok(()),
            ParameterKind::Flag => "true or false".to_owned(),
            ParameterKind::Step => {
                let most = limits::WORKFLOW_STEPS as u64;
                match value.as_u64() {
                    Some(step) if (1..=most).contains(&step) => return Ok(()),
                    Some(_) | None => format!("a number from 1 to {most}"),
                }
            }
            ParameterKind::Object if value.is_object() => return Ok(()),
            ParameterKind::Object => "an object".to_owned(),
            ParameterKind::List => match value.as_array() {
                Some(items)
                    if items.len() <= limits::MCP_LIST_ITEMS
                        && items.iter().all(|item| is_text(item, limits::MCP_WORD_CHARS)) =>
                {
                    return Ok(());
                }
                Some(_) | None => format!("an array of at most {} strings", limits::MCP_LIST_ITEMS),
            },
        };
        Err(InputError::Invalid { name: self.name, found: value.to_string(), expected })
    }
}

fn is_text(value: &Value, most_chars: usize) -> bool {
    // The operating system reads strings up to a NUL.
    value.as_str().is_some_and(|text| {
        !text.is_empty() && !text.contains('\0') && text.chars().count() <= most_chars
    })
}

/// Arguments that were checked.
pub(super) struct CheckedArguments<'a>(pub(super) &'a Map<String, Value>);

impl CheckedArguments<'_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn step(&self) -> u32 {
        let step = self.0.get("step").and_then(Value::as_u64).unwrap_or_default();
        u32::try_from(step).unwrap_or(u32::MAX)
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}
