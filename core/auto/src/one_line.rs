//! Untrusted text in the token stream.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Untrusted text on one line: without control characters and line separators of any kind, and
/// without white space at its ends. It may be empty. Everything else in it stays as it is, so
/// that a path is relayed as the child wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct OneLine(String);

impl OneLine {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for OneLine {
    fn from(text: String) -> OneLine {
        OneLine::from(text.as_str())
    }
}

impl From<&str> for OneLine {
    /// Every run of control characters and line separators becomes one blank.
    fn from(text: &str) -> OneLine {
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        let mut out = String::with_capacity(text.len());
        let mut in_run = false;
        for c in text.chars() {
            if !breaks(c) {
                out.push(c);
            } else if !in_run {
                out.push(' ');
            }
            in_run = breaks(c);
        }
        OneLine(out.trim().to_owned())
    }
}

impl fmt::Display for OneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
