//! What crosses the border between a program and a host that is not written in Rust: its
//! [`Start`], each [`Turn`] and each [`Reply`], as JSON.
//!
//! Bytes are not part of the JSON. They travel beside it as attachments, and where the
//! document has bytes it has the position of an attachment in that list. Numbers stay below
//! 2⁵³, so that every JSON reader gets them right.
//!
//! ```
//! use onloop_core::program::{Durability, Expect, Request, Turn};
//! use onloop_core::wire::host;
//!
//! let turn = Turn::Request(Request::Write {
//!     path: "a.txt".to_owned(),
//!     bytes: b"hello".to_vec(),
//!     expect: Expect::Absent,
//!     durability: Durability::Durable,
//! });
//! let message = host::write_turn(turn);
//! assert_eq!(
//!     message.json,
//!     r#"{"request":{"do":"write","path":"a.txt","bytes":0,"expect":"absent","durable":true}}"#
//! );
//! assert_eq!(message.attachments, [b"hello"]);
//! ```

mod reply;
mod request;
mod start;

use std::fmt;

use serde::Serialize;

use crate::effect::{Exit, Reply, Start, Turn};

/// A document and the bytes that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The document.
    pub json: String,
    /// What its byte fields refer to, by position.
    pub attachments: Vec<Vec<u8>>,
}

/// Why a document of a host was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

impl Malformed {
    fn new(what: &str, why: impl fmt::Display) -> Malformed {
        Malformed(format!("the host's {what} is malformed: {why}"))
    }
}

/// Reads what a host knows from the beginning.
///
/// # Errors
///
/// [`Malformed`] with the position in the JSON.
pub fn read_start(json: &str) -> Result<Start, Malformed> {
    start::read(json)
}

/// Reads a host's answer. Attachments that the document does not mention are ignored.
///
/// # Errors
///
/// [`Malformed`] with the position in the JSON, or the attachment that is not there.
pub fn read_reply(message: Message) -> Result<Reply, Malformed> {
    reply::read(message)
}

/// What a program wants next, or how it ended: `{"request": …}` or `{"exit": code}`.
pub fn write_turn(turn: Turn) -> Message {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum TurnDocument {
        Request(Box<request::Document>),
        Exit(u8),
    }
    let mut attachments = Vec::new();
    let document = match turn {
        Turn::Request(request) => {
            TurnDocument::Request(Box::new(request::to_document(request, &mut attachments)))
        }
        Turn::Exit(exit) => TurnDocument::Exit(Exit::code(exit)),
    };
    let json = serde_json::to_string(&document).expect("the document has only string keys");
    Message { json, attachments }
}

/// Position of an attachment.
type Attachment = usize;

fn attach(attachments: &mut Vec<Vec<u8>>, bytes: Vec<u8>) -> Attachment {
    attachments.push(bytes);
    attachments.len() - 1
}
