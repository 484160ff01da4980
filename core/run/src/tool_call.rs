//! Calls of tools during a turn: telemetry shows them, and nothing else depends on them.

use onloop_syntax::form::is_default;
use onloop_syntax::text::words;
use onloop_syntax::time::{Timestamp, millis};
use serde::{Deserialize, Serialize};

words! {
    /// How a call of a tool ended.
    #[derive(Default)]
    pub enum ToolCallEnding {
        /// The tool did its work.
        #[default]
        Done = "done",
        /// The tool failed, or was stopped.
        Failed = "failed",
        /// The call was refused.
        Denied = "denied",
        /// The turn ended first.
        Open = "open",
    }
}

/// One call of a tool, as the client's stream told it: without its input and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool, as the client names it.
    pub tool: String,
    /// When onloop read that it began.
    #[serde(with = "millis")]
    pub at: Timestamp,
    /// Time until onloop read that it ended, or until the turn did.
    pub took_ms: u64,
    /// How it ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ending: ToolCallEnding,
}
