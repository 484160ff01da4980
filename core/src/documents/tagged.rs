//! Documents that say in one of their members which of several they are: `{"event": "run_paused",
//! "reason": …}`.
//!
//! The enums are read and written as serde does by itself, `{"run_paused": {"reason": …}}`, and their
//! name is moved here. Serde can move it, too, with as much code for every type again: it was a
//! fiftieth of the WebAssembly module. Variants without members have braces, `Resumed {}`, so that a
//! document may have more members than are known.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The document whose name is the member `tag` of `members`.
///
/// # Errors
///
/// What is wrong with it, as a clause.
pub(crate) fn read<T: DeserializeOwned>(
    tag: &str,
    mut members: Map<String, Value>,
) -> Result<T, String> {
    let name = match members.shift_remove(tag) {
        Some(Value::String(name)) => name,
        Some(_) => return Err(format!("`{tag}` is not a text")),
        None => return Err(format!("missing field `{tag}`")),
    };
    let mut document = Map::new();
    document.insert(name, Value::Object(members));
    serde_json::from_value(Value::Object(document)).map_err(|error| error.to_string())
}

/// Adds the members of a document to `members`, its name as `tag` first.
pub(crate) fn write<T: Serialize>(tag: &str, document: &T, members: &mut Map<String, Value>) {
    let value = serde_json::to_value(document).expect("the document has only string keys");
    let Value::Object(document) = value else {
        unreachable!("a variant of a tagged document has members: {value}")
    };
    for (name, body) in document {
        members.insert(tag.to_owned(), Value::String(name));
        if let Value::Object(body) = body {
            members.extend(body);
        }
    }
}

/// The members of an object.
///
/// # Errors
///
/// That it is none.
pub(crate) fn members(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Nothing {},
        RoundThing { radius: u8 },
    }

    fn read_text(json: &str) -> Result<Shape, String> {
        read("is", members(serde_json::from_str(json).unwrap())?)
    }

    #[test]
    fn what_is_written_is_read_again_whatever_stands_beside_it() {
        for (shape, json) in [
            (Shape::Nothing {}, r#"{"n":1,"is":"nothing"}"#),
            (Shape::RoundThing { radius: 3 }, r#"{"n":1,"is":"round_thing","radius":3}"#),
        ] {
            let mut written = Map::new();
            written.insert("n".to_owned(), Value::from(1));
            write("is", &shape, &mut written);
            assert_eq!(Value::Object(written).to_string(), json);
            assert_eq!(read_text(json), Ok(shape));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (json, expected) in [
            ("[]", "it is not a JSON object"),
            ("{}", "missing field `is`"),
            (r#"{"is": 1}"#, "`is` is not a text"),
            (r#"{"is": "square"}"#, "unknown variant `square`"),
            (r#"{"is": "round_thing"}"#, "missing field `radius`"),
            (r#"{"is": "round_thing", "radius": "3"}"#, "invalid type: string \"3\""),
        ] {
            let error = read_text(json).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
