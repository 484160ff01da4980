//! What stored documents have in common: how one is read, and how members that this version does
//! not know survive a rewrite.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Why a stored document is not read, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It is JSON, but not an object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// It is not JSON, or not of this shape; the parser's message.
    #[error("{0}")]
    Json(String),
    /// A part of it cannot be used.
    #[error("`{path}`: {what}")]
    Member {
        /// Where it stands: `steps[0].verify`.
        path: String,
        /// What is wrong with it.
        what: String,
    },
}

impl DocumentError {
    pub(super) fn member(path: impl Into<String>, what: impl ToString) -> DocumentError {
        DocumentError::Member { path: path.into(), what: what.to_string() }
    }

    /// The member at `path` is missing.
    pub(super) fn missing(path: impl std::fmt::Display) -> DocumentError {
        DocumentError::Json(format!("missing field `{path}`"))
    }
}

/// `document` as one line of JSON, with its end.
pub(super) fn line(document: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut line = serde_json::to_vec(document).expect("a document has only string keys");
    line.push(b'\n');
    line
}

impl From<serde_json::Error> for DocumentError {
    fn from(error: serde_json::Error) -> DocumentError {
        DocumentError::Json(error.to_string())
    }
}

/// What `value` is the document of.
///
/// # Errors
///
/// It has another shape: the place, and what was expected there.
pub(super) fn read<'v, T: Deserialize<'v>>(value: &'v Value) -> Result<T, DocumentError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let what = error.inner().to_string();
        match error.path().iter().next() {
            Some(_) => DocumentError::member(error.path().to_string(), what),
            None => DocumentError::Json(what),
        }
    })
}

/// The members of the document `read` that `written`, its present form, does not have, each where it
/// stands. The places in a list are members named `0`, `1`, ….
///
/// # Errors
///
/// The path of a member that `written` has and `read` has not.
pub(super) fn unknown_members(read: &Value, written: &Value) -> Result<Map<String, Value>, String> {
    let mut unknown = Map::new();
    let mut keep = |name: String, inside: Map<String, Value>| {
        if !inside.is_empty() {
            unknown.insert(name, Value::Object(inside));
        }
    };
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            if let Some(missing) = written.keys().find(|name| !read.contains_key(*name)) {
                return Err(missing.clone());
            }
            for (name, known) in written {
                let dot = |path: String| match path.starts_with('[') {
                    true => format!("{name}{path}"),
                    false => format!("{name}.{path}"),
                };
                keep(name.clone(), unknown_members(&read[name], known).map_err(dot)?);
            }
            let is_unknown = |(name, _): &(&String, &Value)| !written.contains_key(*name);
            let added = read.iter().filter(is_unknown);
            unknown.extend(added.map(|(name, value)| (name.clone(), value.clone())));
        }
        (Value::Array(read), Value::Array(written)) => {
            for (index, (read, known)) in read.iter().zip(written).enumerate() {
                let inside = unknown_members(read, known);
                keep(index.to_string(), inside.map_err(|path| format!("[{index}].{path}"))?);
            }
        }
        _ => {}
    }
    Ok(unknown)
}

/// Puts back what [`unknown_members`] found, where its place still exists.
pub(super) fn put_back(document: &mut Value, unknown: &Map<String, Value>) {
    for (name, value) in unknown {
        let place = match &mut *document {
            Value::Object(members) if !members.contains_key(name) => {
                members.insert(name.clone(), value.clone());
                continue;
            }
            Value::Object(members) => members.get_mut(name),
            Value::Array(items) => name.parse().ok().and_then(|index: usize| items.get_mut(index)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        if let (Some(place), Value::Object(inside)) = (place, value) {
            put_back(place, inside);
        }
    }
}
