//! The Agent Client Protocol, version 1: a conversation with an agent over its standard streams,
//! and the stream that onloop writes about it.
//!
//! [`AcpDialog`] is the protocol without effects: bytes of the agent in, [`AcpAction`]s out. A host
//! performs them. What happens in the turn becomes lines of JSON, which [`Client::Acp`] reads like
//! the stream of any other client.
//!
//! [`Client::Acp`]: crate::Client::Acp

mod call;
mod dialog;
mod message;
mod mode;
mod model;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clean::{cleaned, line, name, output};
use crate::error::AgentError;
use crate::event::{AgentCall, AgentEvent, CallEnd, TurnEnd};
use crate::used::{UsageReport, UsageScope};
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::tokens::Tokens;

pub use call::JudgedTool;
pub use dialog::{AcpAction, AcpDialog, AcpSettings, AcpVerdict, PermissionRequest};

/// The hidden verb of the program that talks to the agent: `onloop acp-client … -- COMMAND`.
pub const ACP_VERB: &str = "acp-client";

/// A line of the stream about a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    /// The conversation began or continues.
    Session { session: String, model: Option<String>, version: Option<String> },
    /// A part of what the model says.
    Said { text: String },
    /// The model works, and what it said before is complete.
    Working,
    /// A call of a tool began.
    Call { id: String, tool: String, about: String },
    /// A call of a tool ended.
    Ended { id: String, end: CallEnd, output: String },
    /// The tokens of the turn.
    Used { tokens: Tokens },
    /// What the turn has cost so far, in US dollars.
    Cost { usd: f64 },
    /// A warning about the agent, or the plan that it follows.
    Note { text: String },
    /// The turn ended as it should.
    End,
    /// The turn cannot continue. `status` is the HTTP status of the provider's answer, if known.
    Error { message: String, status: Option<u64> },
}

impl StreamEvent {
    /// The line, without its line break.
    fn line(&self) -> String {
        serde_json::to_string(self).expect("an event has only string keys")
    }
}

pub(super) fn events(document: &Value) -> Vec<AgentEvent> {
    let Ok(event) = StreamEvent::deserialize(document) else { return Vec::new() };
    let event = match event {
        StreamEvent::Session { session, model, version } => AgentEvent::SessionBegun {
            session: name(&session),
            model: model.as_deref().map(name),
            version: version.as_deref().map(name),
        },
        StreamEvent::Said { text } => {
            AgentEvent::SaidPart(cleaned(&text, limits::AGENT_TEXT_BYTES))
        }
        StreamEvent::Working => AgentEvent::Working,
        StreamEvent::Call { id, tool, about } => {
            let (id, tool, about) = (name(&id), name(&tool), line(&about));
            AgentEvent::CallBegun(AgentCall { id, tool, about })
        }
        StreamEvent::Ended { id, end, output: said } => {
            AgentEvent::CallEnded { id: name(&id), end, output: output(&said) }
        }
        StreamEvent::Used { tokens } => {
            let scope = UsageScope::Turn("turn".to_owned());
            AgentEvent::Used(UsageReport { scope, tokens, cost: None })
        }
        StreamEvent::Cost { usd } => {
            return Money::from_usd(usd).map(AgentEvent::Cost).into_iter().collect();
        }
        StreamEvent::Note { text } => AgentEvent::Noted(cleaned(&text, 1000)),
        StreamEvent::End => AgentEvent::Ended(TurnEnd::Completed),
        StreamEvent::Error { message, status } => {
            AgentEvent::Ended(TurnEnd::Failed(AgentError::new(status, &message)))
        }
    };
    vec![event]
}
