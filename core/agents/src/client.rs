//! Which client's stream is read, and what all of them have in common.

use serde_json::Value;

use super::clean::cleaned;
use super::event::AgentEvent;
use super::lines::StreamLine;
use super::{acp, claude, codex, opencode};

/// Bytes kept of a line that is not of the stream.
const NOTE_BYTES: usize = 1000;

onloop_syntax::text::words! {
    /// A client whose stream is understood.
    pub enum Client {
        /// Claude Code: `--output-format stream-json`.
        Claude = "claude",
        /// Codex: `exec --json`.
        Codex = "codex",
        /// opencode: `run --format json`.
        Opencode = "opencode",
        /// Any agent that speaks the Agent Client Protocol: the stream that onloop writes about it.
        Acp = "acp",
    }
}

impl Client {
    /// What a line of the stream says. Events and members that nobody knows here are passed over,
    /// a line that is not JSON is a note.
    pub fn read(self, line: &StreamLine) -> Vec<AgentEvent> {
        let line = match line {
            StreamLine::Whole(line) => line.trim(),
            StreamLine::TooLong { bytes } => {
                let note = format!("a line of {bytes} bytes was not read");
                return vec![AgentEvent::Noted(note)];
            }
        };
        if line.is_empty() {
            return Vec::new();
        }
        match serde_json::from_str::<Value>(line) {
            Ok(document @ Value::Object(_)) => self.events(&document),
            Ok(_) | Err(_) => vec![AgentEvent::Noted(cleaned(line, NOTE_BYTES))],
        }
    }

    /// What a line of the client's second source says: the rollout of a Codex thread. What else
    /// stands there is passed over.
    pub fn read_beside(self, line: &StreamLine) -> Vec<AgentEvent> {
        let (Client::Codex, StreamLine::Whole(line)) = (self, line) else { return Vec::new() };
        let document = serde_json::from_str::<Value>(line.trim()).unwrap_or_default();
        codex::rollout_events(&document)
    }

    /// Whether the client asks hooks before it uses `tool`, as its stream names it.
    pub(super) fn judges(self, tool: &str) -> bool {
        match self {
            // What it does itself, such as searching, it does not ask about.
            Client::Codex => tool == codex::SHELL,
            Client::Claude | Client::Opencode => true,
            // What it asks about is up to the agent.
            Client::Acp => false,
        }
    }

    fn events(self, document: &Value) -> Vec<AgentEvent> {
        match self {
            Client::Claude => claude::events(document),
            Client::Codex => codex::events(document),
            Client::Opencode => opencode::events(document),
            Client::Acp => acp::events(document),
        }
    }
}
