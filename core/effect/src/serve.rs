//! Being a server for browsers on this machine: calls come in, answers go out.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
#[cfg(doc)]
use super::{Outcome, Request};

/// What a program that is a server asks of its host. There is one server for each program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "serve", rename_all = "snake_case")]
pub enum ServeRequest {
    /// Accepts connections on `127.0.0.1`, where nobody else's machine reaches it
    /// → [`Outcome::Listening`]. The port is taken: `Busy`.
    Listen {
        /// The port; 0: one that is free.
        port: u16,
    },
    /// The next call, in the order in which they came → [`Outcome::Call`]. What is no HTTP, is too
    /// long, too slow or too many at once is turned away by the host and never gets here. `NotFound`
    /// before [`ServeRequest::Listen`].
    Next {
        /// Longest wait; then: [`Outcome::NoCall`]. `None`: no limit.
        wait_ms: Option<u64>,
        /// The wait is over, too, when something in one of these folders may have changed, as with
        /// [`Request::Changes`]. Where the system does not tell of changes, something may have changed
        /// whenever a second has passed.
        folders: Vec<String>,
    },
    /// Answers a call, once → [`Outcome::Done`], also when nobody waits for the answer any more.
    /// `NotFound`: there is no such call, or it has its answer.
    Answer {
        /// The call.
        call: u64,
        /// Its answer.
        answer: CallAnswer,
    },
    /// Sends more of an answer that is open → [`Outcome::Done`]; nothing: it ends. Whoever reads too
    /// slowly is disconnected. `Closed`: nobody reads it any more.
    Push {
        /// The call.
        call: u64,
        /// What is sent, at once; empty: that was all.
        bytes: Bytes,
    },
}

/// What a browser wants. Its `Debug` output shows neither headers nor body, nor what the target names: they may
/// hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCall {
    /// Names it in the answer. Never used twice.
    pub call: u64,
    /// `GET`, `POST` or any other word.
    pub method: String,
    /// Path and query, as they came.
    pub target: String,
    /// Names, in small letters, and values, in the order in which they came; one name may come more
    /// than once. What is not UTF-8 in a value becomes U+FFFD.
    pub headers: Vec<(String, String)>,
    /// The body, to its end.
    pub body: Bytes,
}

impl WebCall {
    /// The value of a header that came once; `None` where it is missing or came more than once:
    /// what is said twice says nothing.
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
    /// Names and values, in addition to those that follow from the rest.
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
