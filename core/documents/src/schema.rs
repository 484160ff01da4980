//! JSON Schemas of the documents that other programs read and write.

use serde_json::{Map, Value, json};

use onloop_sessions::handsoff::config::keys::{ConfigKey, KEYS, KeyKind, WORKFLOW_KEYS};

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SchemaDocument {
    /// A workflow, as `onloop normalize` prints it
    Workflow,
    /// The record of a run, `.hotl/state/RUN_ID.json`
    State,
    /// The receipt of a run
    Receipt,
    /// The configuration, `.agentize.local.yaml`
    Config,
}

/// The schema of a document, with a line break at its end.
pub fn schema(document: SchemaDocument) -> String {
    match document {
        SchemaDocument::Workflow => include_str!("schema/workflow.json").to_owned(),
        SchemaDocument::State => include_str!("schema/state.json").to_owned(),
        SchemaDocument::Receipt => include_str!("schema/receipt.json").to_owned(),
        SchemaDocument::Config => format!("{:#}\n", config()),
    }
}

/// The schema of the configuration, from the table of its keys.
fn config() -> Value {
    let mut top = section("", "");
    // Other tools keep their settings in the same file.
    top.insert("additionalProperties".to_owned(), Value::Bool(true));
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("$id".to_owned(), json!("onloop.config/v1"));
    schema.insert("title".to_owned(), json!("onloop's configuration, `.agentize.local.yaml`"));
    schema.append(&mut top);
    Value::Object(schema)
}

/// The mapping whose keys begin with `path`.
fn section(path: &str, name: &str) -> Map<String, Value> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
    let mut properties = Map::new();
    for key in KEYS {
        let Some(rest) = key.path.strip_prefix(&prefix) else { continue };
        match rest.split_once('.') {
            None => {
                properties.insert(rest.to_owned(), value_of(key));
            }
            Some((below, _)) if !properties.contains_key(below) => {
                let inner = section(&format!("{prefix}{below}"), below);
                properties.insert(below.to_owned(), Value::Object(inner));
            }
            Some(_) => {}
        }
    }
    let mut section = Map::new();
    let kinds = if name.is_empty() { json!("object") } else { json!(["object", "null"]) };
    section.insert("type".to_owned(), kinds);
    section.insert("properties".to_owned(), Value::Object(properties));
    section.insert("additionalProperties".to_owned(), Value::Bool(false));
    section
}

fn value_of(key: &ConfigKey) -> Value {
    let mut schema = match key.kind {
        KeyKind::Flag => json!({ "type": ["boolean", "number", "string", "null"] }),
        KeyKind::Number { min, max } => {
            json!({ "type": ["integer", "string", "null"], "minimum": min, "maximum": max })
        }
        KeyKind::Word(words) => {
            let mut words: Vec<Value> = words.iter().map(|&word| json!(word)).collect();
            words.push(Value::Null);
            json!({ "enum": words })
        }
        KeyKind::Text | KeyKind::Secret => json!({ "type": ["string", "null"] }),
        KeyKind::Id => json!({ "type": ["integer", "string", "null"] }),
        KeyKind::Ids => json!({
            "type": ["integer", "string", "array", "null"],
            "items": { "type": ["integer", "string"] },
        }),
        KeyKind::Words(words) => json!({
            "anyOf": [{ "type": ["string", "null"] },
                { "type": "array", "items": { "enum": words } }]
        }),
        KeyKind::Arguments => {
            json!({ "type": ["string", "array", "null"], "items": { "type": "string" } })
        }
        KeyKind::Network => {
            json!({ "type": ["string", "array", "null"], "items": { "type": "string" } })
        }
        KeyKind::Workflows => json!({ "type": ["array", "null"], "items": workflow() }),
        KeyKind::Rules => json!({ "type": ["object", "null"] }),
        KeyKind::Prices => prices(),
        KeyKind::Usd => json!({ "type": ["number", "string", "null"], "minimum": 0 }),
    };
    schema["description"] = json!(key.about.replace("[below](#workflows-of-your-own)", "below"));
    schema
}

fn prices() -> Value {
    let dollars = json!({ "type": "number", "minimum": 0 });
    let price = json!({
        "type": "object",
        "properties": { "input": dollars, "cached_input": dollars, "output": dollars },
        "required": ["input", "cached_input", "output"],
        "additionalProperties": false,
    });
    json!({
        "type": ["object", "null"],
        "properties": { "as_of": { "type": "string", "format": "date" } },
        "required": ["as_of"],
        "additionalProperties": price,
    })
}

fn workflow() -> Value {
    let properties: Map<String, Value> = WORKFLOW_KEYS
        .iter()
        .map(|(name, about)| {
            ((*name).to_owned(), json!({ "type": "string", "description": about }))
        })
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": ["command", "prompt_file"],
        "additionalProperties": false,
    })
}
