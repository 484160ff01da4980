//! `.hotl/state/<run-id>.json`, the record on disk. Described in `docs/state-format.md`.

mod hotl;
mod step;
mod stored;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{self, DocumentError};
use onloop_run::Run;
use onloop_syntax::text;
pub(super) use step::{check_type, verdict_parts};
use stored::{StoredRest, StoredRun};

/// Name and version of the format. Any other one is refused; a record without one was written by
/// `hotl-rt`.
pub const SCHEMA: &str = "onloop.run/v1";

/// The last line of a ledger, by which everything before it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the line, from 1.
    pub seq: u64,
    /// SHA-256 of the line without its line break, in lower case hexadecimal.
    pub sha256: String,
}

/// Why bytes are not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not a JSON document of this shape.
    #[error("damaged record: {0}")]
    Damaged(DocumentError),
    /// Written by a newer onloop.
    #[error("the record has the format `{0}`, this onloop knows `{SCHEMA}`: upgrade onloop")]
    Newer(String),
}

impl<E: Into<DocumentError>> From<E> for ReadError {
    fn from(error: E) -> ReadError {
        ReadError::Damaged(error.into())
    }
}

/// The record as JSON, ending with a line break.
pub fn write(run: &Run) -> Vec<u8> {
    write_copy(run, None)
}

/// The record as JSON with the member `ledger`, which names the line of the ledger that it shows.
pub fn write_copy(run: &Run, head: Option<&Head>) -> Vec<u8> {
    // Two-space indentation: people read and compare these files.
    let mut bytes =
        serde_json::to_vec_pretty(&value_of(run, head)).expect("a document has only string keys");
    bytes.push(b'\n');
    bytes
}

/// The record as the first line of a ledger holds it, or as a copy that shows the line `head`.
pub(super) fn value_of(run: &Run, head: Option<&Head>) -> Value {
    let mut value = StoredRun::of(run, head).value();
    document::put_back(&mut value, &run.unknown);
    value
}

/// The line of the ledger that a copy says it shows.
///
/// # Errors
///
/// [`ReadError::Damaged`] when the bytes are not such a document.
pub fn copy_head(bytes: &[u8]) -> Result<Option<Head>, ReadError> {
    Ok(document::read::<StoredRest>(&serde_json::from_slice(bytes)?)?.ledger)
}

/// Reads a record, also one of `hotl-rt`.
///
/// # Errors
///
/// [`ReadError::Damaged`] with the place when the bytes are not a record, [`ReadError::Newer`]
/// when a later version of onloop wrote them.
pub fn read(bytes: &[u8]) -> Result<Run, ReadError> {
    run_of(serde_json::from_slice(bytes)?)
}

/// The run that a document describes.
///
/// # Errors
///
/// Those of [`read`].
pub(super) fn run_of(mut value: Value) -> Result<Run, ReadError> {
    let members = value.as_object_mut().ok_or(DocumentError::NotAnObject)?;
    match members.get("schema").map(|schema| schema.as_str().unwrap_or_default()) {
        Some(SCHEMA) => {}
        None if !members.contains_key("plan_digest") => hotl::import(members),
        // `hotl-rt` knew no digests, so onloop wrote the record.
        None => return Err(DocumentError::missing("schema").into()),
        Some(newer) => return Err(ReadError::Newer(text::one_line(newer))),
    }
    let record = stored::read(&value)?;
    Run::restore(record).map_err(|error| DocumentError::Json(error.to_string()).into())
}
