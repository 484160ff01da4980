//! Documents that say in one of their members which of several they are: `{"event": "run_paused",
//! "reason": …}`.
//!
//! The enums are read and written as serde does by itself, `{"run_paused": {"reason": …}}`, and their
//! name is moved here. Serde can move it, too, with as much code for every type again: it was a
//! fiftieth of the WebAssembly module. Variants without members have braces, `Resumed {}`, so that a
//! document may have more members than are known.

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Map, Result, Value};

/// The document whose name is the member `tag` of `members`.
///
/// # Errors
///
/// The member is missing or not a string, or the document that it names has other members.
pub(crate) fn read<T: DeserializeOwned>(tag: &str, mut members: Map<String, Value>) -> Result<T> {
    let name = match members.shift_remove(tag) {
        Some(Value::String(name)) => name,
        Some(_) => return Err(Error::custom(format!("`{tag}` is not a string"))),
        None => return Err(Error::custom(format!("missing field `{tag}`"))),
    };
    let mut document = Map::new();
    document.insert(name, Value::Object(members));
    serde_json::from_value(Value::Object(document))
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
/// The value is not an object.
pub(crate) fn members(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(Error::custom("it is not a JSON object")),
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

    fn read_text(json: &str) -> Result<Shape> {
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
            assert_eq!(read_text(json).unwrap(), shape);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (json, expected) in [
            ("[]", "it is not a JSON object"),
            ("{}", "missing field `is`"),
            (r#"{"is": 1}"#, "`is` is not a string"),
            (r#"{"is": "square"}"#, "unknown variant `square`"),
            (r#"{"is": "round_thing"}"#, "missing field `radius`"),
            (r#"{"is": "round_thing", "radius": "3"}"#, "invalid type: string \"3\""),
        ] {
            let error = read_text(json).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
