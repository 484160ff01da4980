//! Serving browsers on this machine: receives calls and sends answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
#[cfg(doc)]
use super::{Outcome, Request};

/// Requests of a program that is a server. Each program has one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "serve", rename_all = "snake_case")]
pub enum ServeRequest {
    /// Accepts connections on `127.0.0.1`, which other machines cannot reach →
    /// [`Outcome::Listening`]. The port is taken: `Busy`.
    Listen {
        /// The port; 0: any free port.
        port: u16,
    },
    /// The next call, in the order of arrival → [`Outcome::Call`]. The host itself rejects calls
    /// that are not HTTP, too long, too slow or too many. `NotFound` before
    /// [`ServeRequest::Listen`].
    Next {
        /// Longest wait, then [`Outcome::NoCall`]. `None`: no limit.
        wait_ms: Option<u64>,
        /// A change in one of these folders also ends the wait, as in [`Request::Changes`]. If the
        /// system does not report changes, the wait ends after each second.
        folders: Vec<String>,
    },
    /// Answers a call, once → [`Outcome::Done`], also after the caller is gone. `NotFound`: there
    /// is no such call, or it is answered already.
    Answer {
        /// The call.
        call: u64,
        /// Its answer.
        answer: CallAnswer,
    },
    /// Sends more of an open answer → [`Outcome::Done`]; an empty part ends it. The host
    /// disconnects a slow reader. `Closed`: the reader is gone.
    Push {
        /// The call.
        call: u64,
        /// The part to send; empty: the end.
        bytes: Bytes,
    },
}

/// A browser's call. Its `Debug` output shows neither headers, body nor names in the target, which
/// may be secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCall {
    /// Identifies the call; never used twice.
    pub call: u64,
    /// `GET`, `POST` or another method.
    pub method: String,
    /// Path and query, unchanged.
    pub target: String,
    /// Names, in lower case, and values, in the order of arrival; a name may occur more than once.
    /// Bytes that are not UTF-8 in a value become U+FFFD.
    pub headers: Vec<(String, String)>,
    /// The body, to its end.
    pub body: Bytes,
}

impl WebCall {
    /// The value of a header that occurs once; `None` if it is missing or occurs more than once,
    /// since duplicates are ambiguous.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(key, _)| key == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value.as_str())
    }
}

impl fmt::Debug for WebCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebCall").field("method", &self.method).finish_non_exhaustive()
    }
}

/// An answer to a call. Its `Debug` output shows neither headers nor body.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct CallAnswer {
    /// The status.
    pub status: u16,
    /// Names and values, in addition to those that the host sets.
    pub headers: Vec<(String, String)>,
    /// The body, or its beginning.
    pub body: Bytes,
    /// Whether it stays open for [`ServeRequest::Push`].
    pub open: bool,
}

impl fmt::Debug for CallAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_twice_says_nothing() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let call = WebCall {
            call: 1,
            method: "GET".to_owned(),
            target: "/in/s3cret".to_owned(),
            headers: vec![pair("host", "a"), pair("host", "b"), pair("origin", "c")],
            body: Vec::new().into(),
        };
        assert_eq!(call.header("host"), None);
        assert_eq!(call.header("origin"), Some("c"));
        assert_eq!(call.header("cookie"), None);
        assert_eq!(format!("{call:?}"), "WebCall { method: \"GET\", .. }");
    }
}
