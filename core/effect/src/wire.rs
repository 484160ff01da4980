//! The JSON between a program and a host that is not written in Rust: its [`Start`], each [`Turn`]
//! and each [`Reply`].
//!
//! Bytes are not part of the JSON. They travel beside it as attachments, and the document has the
//! position of the attachment. Numbers stay below 2⁵³, so that every JSON reader keeps them exact.
//!
//! ```
//! use onloop_effect::{Durability, Expect, Request, Turn, wire};
//!
//! let turn = Turn::Request(Request::Write {
//!     path: "a.txt".to_owned(),
//!     bytes: b"hello".to_vec().into(),
//!     expect: Expect::Absent,
//!     durability: Durability::Durable,
//!     private: false,
//! });
//! let message = wire::write_turn(turn);
//! assert_eq!(
//!     message.json,
//!     r#"{"request":{"do":"write","path":"a.txt","bytes":0,"expect":"absent","durable":true,"private":false}}"#
//! );
//! assert_eq!(message.attachments, [b"hello"]);
//! ```

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::bytes::Bytes;
use crate::{Failure, Outcome, Reply, Start, Turn};
use onloop_syntax::syntax::strict_json;
use onloop_syntax::time::Timestamp;

/// A document and its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The document.
    pub json: String,
    /// The bytes of its byte fields, by position.
    pub attachments: Vec<Vec<u8>>,
}

/// Why a document of a host was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Malformed {
    /// A fault of a document, which `what` names.
    pub fn new(what: &str, why: impl fmt::Display) -> Malformed {
        Malformed(format!("the host's {what} is malformed: {why}"))
    }

    fn reply(why: impl fmt::Display) -> Malformed {
        Malformed::new("reply", why)
    }
}

/// Reads the start of a program.
///
/// # Errors
///
/// [`Malformed`] with the position in the JSON.
pub fn read_start(json: &str) -> Result<Start, Malformed> {
    serde_json::from_str(json).map_err(|error| Malformed::new("start", error))
}

/// Reads a host's reply, `{"at_ms": …, "outcome": {…}}` or `{"at_ms": …, "failure": {…}}`.
/// Attachments that the document does not mention are ignored.
///
/// # Errors
///
/// [`Malformed`] with the position in the JSON, or the attachment that is missing.
pub fn read_reply(mut message: Message) -> Result<Reply, Malformed> {
    let value = strict_json::parse(&message.json).map_err(Malformed::reply)?;
    let Value::Object(mut members) = value else {
        return Err(Malformed::reply("it is not a JSON object"));
    };
    let at_ms = members.get("at_ms").and_then(Value::as_i64);
    let at_ms = at_ms.ok_or_else(|| Malformed::reply("`at_ms` is not a whole number"))?;
    let outcome = match (members.remove("outcome"), members.remove("failure")) {
        (Some(outcome), None) => Ok(read_outcome(outcome, &mut message.attachments)?),
        (None, Some(failure)) => {
            Err(serde_json::from_value::<Failure>(failure).map_err(Malformed::reply)?)
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(Malformed::reply("expected either `outcome` or `failure`"));
        }
    };
    Ok(Reply { at: Timestamp::from_millis(at_ms), outcome })
}

fn read_outcome(document: Value, attachments: &mut [Vec<u8>]) -> Result<Outcome, Malformed> {
    let mut outcome: Outcome = serde_json::from_value(document).map_err(Malformed::reply)?;
    attach(outcome.bytes_mut(), attachments)?;
    if let Outcome::Process(end) = &outcome {
        for capture in [&end.stdout, &end.stderr] {
            if (capture.head.len() + capture.tail.len()) as u64 > capture.total_bytes {
                return Err(Malformed::reply("`total_bytes` is less than what was kept"));
            }
        }
    }
    Ok(outcome)
}

/// Writes the JSON that [`read_reply`] reads.
pub fn write_reply(mut reply: Reply) -> Message {
    let mut members = Map::new();
    members.insert("at_ms".to_owned(), Value::from(reply.at.as_millis()));
    let attachments = match &mut reply.outcome {
        Ok(outcome) => detach(outcome.bytes_mut()),
        Err(_) => Vec::new(),
    };
    let (name, document) = match &reply.outcome {
        Ok(outcome) => ("outcome", serde_json::to_value(outcome)),
        Err(failure) => ("failure", serde_json::to_value(failure)),
    };
    members.insert(name.to_owned(), document.expect("the document has only string keys"));
    Message { json: Value::Object(members).to_string(), attachments }
}

/// Writes a program's request or its exit: `{"request": …}` or `{"exit": code}`.
pub fn write_turn(mut turn: Turn) -> Message {
    let attachments = match &mut turn {
        Turn::Request(request) => detach(request.bytes_mut()),
        Turn::Exit(_) => Vec::new(),
    };
    Message { json: json(&turn), attachments }
}

/// Serializes a document of core, which has only string keys.
pub(super) fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("the document has only string keys")
}

/// Moves the attachments of a document into its bytes.
///
/// # Errors
///
/// [`Malformed`] with the attachment that is missing.
pub fn attach(all: Vec<&mut Bytes>, attachments: &mut [Vec<u8>]) -> Result<(), Malformed> {
    let count = attachments.len();
    for bytes in all {
        let position = bytes.position();
        bytes.attach(attachments).ok_or_else(|| {
            Malformed::reply(format!("attachment {position} is missing; {count} came"))
        })?;
    }
    Ok(())
}

/// Moves the bytes of a document into its attachments.
pub fn detach(all: Vec<&mut Bytes>) -> Vec<Vec<u8>> {
    let mut attachments = Vec::new();
    all.into_iter().for_each(|bytes| bytes.detach(&mut attachments));
    attachments
}
