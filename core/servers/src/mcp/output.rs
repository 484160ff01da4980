//! The forms of what tools answer, as JSON Schema.

mod judged;
mod run;

use serde_json::{Value, json};

use super::tool::Tool;
use judged::{explanation, findings, receipt};
use run::{begun, entry, next, prepared, run, step_of_a_run};

/// The schema of the structured answers of a tool.
pub(super) fn schema(tool: Tool) -> Value {
    // What failed may have printed nothing, or words.
    let words = json!({ "type": "string", "description": "Where the command failed: its words" });
    let result = match result(tool) {
        Printed::Document(typed) => json!({ "anyOf": [typed, words] }),
        Printed::DocumentOrText(typed, text) => json!({ "anyOf": [typed, text] }),
        Printed::Text(text) => text,
    };
    let outcomes =
        ["done", "failed", "usage", "paused", "refused", "bug", "interrupted", "ended", "begun"];
    json!({
        "type": "object",
        "properties": {
            "outcome": {
                "type": "string",
                "enum": outcomes,
                "description": "`paused`: a person has to decide; `refused`: nothing was done; \
                                `begun`: it continues in the background",
            },
            "exit_code": { "type": "integer", "description": "The exit code of the command line" },
            "result": result,
            "notes": { "type": "string", "description": "Words for people, and the next step" },
        },
        "required": ["outcome", "exit_code", "result", "notes"],
        "additionalProperties": false,
    })
}

/// What a command prints.
enum Printed {
    /// A document, by its schema.
    Document(Value),
    /// A document, or text of this schema where the caller has asked for it.
    DocumentOrText(Value, Value),
    /// Text of this schema.
    Text(Value),
}

fn result(tool: Tool) -> Printed {
    match tool {
        Tool::Run => Printed::Document(json!({ "anyOf": [run(), begun()] })),
        Tool::Stop | Tool::Finalize => Printed::Document(run()),
        Tool::Summary => Printed::DocumentOrText(
            run(),
            text_of("text/markdown", "With `platform`: to be shown unchanged"),
        ),
        Tool::Status => {
            Printed::Document(json!({ "anyOf": [run(), { "type": "array", "items": entry() }] }))
        }
        Tool::Begin => Printed::Document(prepared()),
        Tool::Next => Printed::Document(next()),
        Tool::Step | Tool::Gate => Printed::Document(step_of_a_run()),
        Tool::Receipt => Printed::Document(receipt()),
        Tool::Lint => Printed::Document(findings()),
        Tool::PermitExplain => Printed::Document(explanation()),
        Tool::Report => Printed::Text(text_of("text/markdown", "The report")),
        Tool::Diff => Printed::Text(text_of("text/x-diff", "A patch, or with `stat` a summary")),
    }
}

fn text_of(media_type: &str, about: &str) -> Value {
    json!({ "type": "string", "contentMediaType": media_type, "description": about })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn object_or_null(properties: Value, required: &[&str]) -> Value {
    json!({ "type": ["object", "null"], "properties": properties, "required": required })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn count_or_null() -> Value {
    json!({ "type": ["integer", "null"], "minimum": 0 })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn list_of(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}
