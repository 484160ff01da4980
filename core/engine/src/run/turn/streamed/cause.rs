//! Why a turn is ended before it has ended itself.

use onloop_agents::{AgentError, AgentErrorKind};
use onloop_run::WaitReason;
use onloop_syntax::time::Timestamp;

/// Why a turn was ended before it had ended itself.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// Its calls are not judged.
    Unguarded,
    /// It has used more than it may: what, on one line.
    Bound(String),
    /// It gave no sign of life for too long: how long, on one line.
    Stalled(String),
    /// Its conversation does not fit into its model any more.
    TooLong,
    /// It tries again and again what its provider refuses.
    Rejected(AgentError),
    /// Its provider does not serve it for longer than a client should wait by itself.
    NotServed { why: WaitReason, resets_at: Option<Timestamp> },
}

/// The kind of refusal that such an error is; `None`: waiting does not help.
pub(super) fn wait_reason(kind: AgentErrorKind) -> Option<WaitReason> {
    match kind {
        AgentErrorKind::Limit => Some(WaitReason::Limited),
        AgentErrorKind::Overloaded => Some(WaitReason::Overloaded),
        AgentErrorKind::Network => Some(WaitReason::Unreachable),
        AgentErrorKind::Auth
        | AgentErrorKind::BadRequest
        | AgentErrorKind::TooLong
        | AgentErrorKind::Other => None,
    }
}
