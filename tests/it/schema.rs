//! The schemas that `onloop schema` prints say what the documents are.

use onloop_core::documents::schema::{SchemaDocument, schema};
use onloop_core::documents::{normalized, receipt, run};
use serde_json::{Value, json};

use crate::workspace::{Workspace, source_root};

fn parsed(document: SchemaDocument) -> Value {
    serde_json::from_str(&schema(document)).expect("a schema is JSON")
}

/// What of `value` is not as `schema` says, as paths. It knows the keywords that our schemas
/// use, and refuses any other.
fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look(schema, schema, value, "", &mut found);
    found
}

fn look(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = wanted.as_str().unwrap().trim_start_matches('#');
                look(root, root.pointer(path).expect("it is defined"), value, at, found);
                true
            }
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "type" => match wanted {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(kind, value)),
                kind => is_a(kind, value),
            },
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
            "anyOf" => wanted.as_array().unwrap().iter().any(|one| {
                let mut inner = Vec::new();
                look(root, one, value, at, &mut inner);
                inner.is_empty()
            }),
            "required" => value.as_object().is_none_or(|fields| {
                wanted
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|name| fields.contains_key(name.as_str().unwrap()))
            }),
            "properties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(name) {
                        look(root, schema, field, &format!("{at}/{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => value.as_object().is_none_or(|fields| {
                *wanted == Value::Bool(true)
                    || fields.keys().all(|name| schema["properties"].get(name).is_some())
            }),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    look(root, wanted, item, &format!("{at}/{index}"), found);
                }
                true
            }
            other => panic!("an unknown keyword `{other}`"),
        };
        if !holds {
            found.push(format!("{at}: {keyword}"));
        }
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type is a word") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("an unknown type `{other}`"),
    }
}

fn saved_records() -> Vec<(String, Vec<u8>)> {
    let folder = source_root().join("tests/state");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let records = names.filter(|path| path.extension().is_some_and(|e| e == "json"));
    records.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn every_record_that_is_written_fits_its_schema_and_fills_it() {
    let (state, evidence) = (parsed(SchemaDocument::State), parsed(SchemaDocument::Receipt));
    let records = saved_records();
    assert!(records.len() > 5);
    for (name, bytes) in records {
        let read = run::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let written: Value = serde_json::from_slice(&run::write(&read)).unwrap();
        assert_eq!(violations(&state, &written), [""; 0], "{name}");
        assert_eq!(violations(&evidence, &receipt::receipt(&read)), [""; 0], "{name}");
        // What other generations knew is kept, and is not in this one's schema.
        if !name.contains("/v1-") || name.contains("later-members") {
            continue;
        }
        let known = |at: &str| state.pointer(at).and_then(Value::as_object).unwrap();
        let unknown = |fields: &Value, at: &str| -> Vec<String> {
            let fields = fields.as_object().unwrap().keys();
            fields.filter(|name| !known(at).contains_key(*name)).cloned().collect()
        };
        assert_eq!(unknown(&written, "/properties"), [""; 0], "{name}");
        assert_eq!(unknown(&written["steps"][0], "/$defs/step/properties"), [""; 0], "{name}");
        // Written only where they say something.
        let rare = [
            "allow",
            "protect",
            "commit",
            "setup",
            "confine",
            "network",
            "set_up",
            "turns",
            "waits",
            "confined",
            "ledger",
            "require_checks",
            "verify_clean",
            "verified_clean",
            "max_review_rounds",
            "max_parallel",
            "fork_of",
            "pull_request",
        ];
        let missing = known("/properties").keys().filter(|key| written.get(key).is_none());
        let missing = missing.filter(|key| !rare.contains(&key.as_str()));
        assert_eq!(missing.collect::<Vec<_>>(), [""; 0], "{name}");
    }
}

#[test]
fn every_workflow_of_the_corpus_fits_its_schema() {
    let workflow = parsed(SchemaDocument::Workflow);
    let folder = source_root().join("tests/corpus/hotl");
    let mut plans = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if let Some(plan) = onloop_core::workflow::parse(&name, &source).plan {
            plans += 1;
            let document = normalized::normalize(&name, &plan);
            assert_eq!(violations(&workflow, &document), [""; 0], "{name}");
        }
    }
    assert!(plans > 2);
}

#[test]
fn a_configuration_fits_its_schema_when_it_can_be_used() {
    let config = parsed(SchemaDocument::Config);
    let good = json!({
        "handsoff": {
            "enabled": true, "max_continuations": 3, "debug": "off",
            "supervisor": {"provider": "claude", "model": "opus", "flags": ["--x"]},
            "workflows": [{"command": "/a", "prompt_file": "b"}],
        },
        "telegram": {"enabled": true, "token": "1:a", "chat_id": -5, "allowed_user_ids": [1]},
        "permissions": {"deny": ["^x"]},
        "server": 1,
    });
    assert_eq!(violations(&config, &good), [""; 0]);
    let table = [
        ("/handsoff/max_continuations", json!([]), "type"),
        ("/handsoff/max_continuations", json!(-1), "minimum"),
        ("/handsoff/supervisor/provider", json!("gpt"), "enum"),
        ("/handsoff/supervisor", json!({"modle": "x"}), "additionalProperties"),
        ("/handsoff/workflows/0", json!({"command": "/a"}), "required"),
        ("/telegram/timeout_sec", json!(9000), "maximum"),
        ("/telegram", json!([]), "type"),
    ];
    for (path, value, keyword) in table {
        let mut bad = good.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        match bad.pointer_mut(parent).unwrap() {
            Value::Object(fields) => drop(fields.insert(name.to_owned(), value)),
            other => other[0] = value,
        }
        assert_eq!(violations(&config, &bad), [format!("{path}: {keyword}")]);
    }
}

#[test]
fn the_verb_prints_what_the_library_knows() {
    let project = Workspace::plain();
    for (word, document) in [
        ("config", SchemaDocument::Config),
        ("workflow", SchemaDocument::Workflow),
        ("state", SchemaDocument::State),
        ("receipt", SchemaDocument::Receipt),
    ] {
        assert_eq!(project.onloop(&["schema", word]).expect_exit(0).stdout, schema(document));
    }
    project.onloop(&["schema", "nothing"]).expect_exit(2);
}

#[test]
fn the_configurations_in_the_documentation_can_be_used() {
    let mut examples = 0;
    for name in ["docs/config.md", "docs/handsoff-approval.md"] {
        let text = std::fs::read_to_string(source_root().join(name)).unwrap();
        for block in text.split("```yaml\n").skip(1) {
            let yaml = block.split("```").next().unwrap();
            let indent = yaml.len() - yaml.trim_start().len();
            let lines = yaml.lines().map(|line| line.get(indent..).unwrap_or_default());
            let yaml = lines.collect::<Vec<_>>().join("\n");
            let config = onloop_core::handsoff::config::Config::read(&yaml, "/");
            assert_eq!(config.notes, [""; 0], "{name}");
            assert!(config.telegram.is_some(), "{name}");
            examples += 1;
        }
    }
    assert_eq!(examples, 2);
}
