//! What an agent's client says, in one vocabulary for all of them.

use super::error::AgentError;
use super::used::UsageReport;
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;

/// Something that a client said. Every text in it is printable and bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// A conversation began or continues.
    SessionBegun {
        /// Its id, with which it is resumed.
        session: String,
        /// The model, where the client says it.
        model: Option<String>,
        /// The client's version, where it says it.
        version: Option<String>,
    },
    /// The model, if the client names it unasked.
    ModelNamed(String),
    /// The model said something.
    Said(String),
    /// The model said a part of something; the rest follows.
    SaidPart(String),
    /// A sub-agent said something, to the model that gave it work.
    SaidAside(String),
    /// The model works on what it says next, or the client reports progress of a tool.
    Working,
    /// The model began to use a tool.
    CallBegun(AgentCall),
    /// A call of a tool ended.
    CallEnded {
        /// As in [`AgentCall::id`].
        id: String,
        /// How.
        end: CallEnd,
        /// What the tool said, cut; empty where it said nothing.
        output: String,
    },
    /// Tokens were used.
    Used(UsageReport),
    /// What the turn has cost so far, where the client does not say it of its tokens.
    Cost(Money),
    /// The provider's limit on usage is near or reached.
    Limited(UsageLimit),
    /// A request to the model failed and is made again.
    Retrying {
        /// Why.
        error: AgentError,
        /// Time until then, where the client says it.
        wait_ms: Option<u64>,
    },
    /// Something failed. The next events show whether the client continues.
    Erred(AgentError),
    /// The client said how its turn ended.
    Ended(TurnEnd),
    /// A line that is not of the stream, or a warning of the client about itself.
    Noted(String),
}

impl AgentEvent {
    /// Whether it shows progress. Output of a waiting client shows none.
    pub(super) fn is_sign(&self) -> bool {
        match self {
            AgentEvent::SessionBegun { .. }
            | AgentEvent::Said(_)
            | AgentEvent::SaidPart(_)
            | AgentEvent::SaidAside(_)
            | AgentEvent::Working
            | AgentEvent::CallBegun(_)
            | AgentEvent::CallEnded { .. }
            | AgentEvent::Ended(_) => true,
            AgentEvent::ModelNamed(_)
            | AgentEvent::Used(_)
            | AgentEvent::Cost(_)
            | AgentEvent::Limited(_)
            | AgentEvent::Retrying { .. }
            | AgentEvent::Erred(_)
            | AgentEvent::Noted(_) => false,
        }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    /// Names the call within its turn.
    pub id: String,
    /// The tool's name, as the client has it.
    pub tool: String,
    /// What it does, on one line, such as the command or the path; may be empty.
    pub about: String,
}

impl AgentCall {
    /// `Bash: cargo test`.
    pub fn line(&self) -> String {
        match self.about.as_str() {
            "" => self.tool.clone(),
            about => format!("{}: {about}", self.tool),
        }
    }
}

onloop_syntax::text::words! {
    /// How a call of a tool ended.
    pub enum CallEnd {
        /// The tool did its work.
        Done = "done",
        /// The tool failed, or was stopped.
        Failed = "failed",
        /// Our policy, another hook or the client itself refused the call.
        Denied = "denied",
    }
}

/// A provider's limit on usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLimit {
    /// Whether nothing more is possible; otherwise it is only near.
    pub is_reached: bool,
    /// When it is lifted, where the client says it.
    pub resets_at: Option<Timestamp>,
    /// Which limit, such as `five_hour`; empty where the client does not say.
    pub window: String,
}

/// How a client says that its turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// As it should.
    Completed,
    /// The client could not continue.
    Failed(AgentError),
}
