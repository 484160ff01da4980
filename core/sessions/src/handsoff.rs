//! Hands-off sessions: agents that are continued until their goal is reached.
//!
//! A person starts a workflow with a command ([`command`]); from then on a [`Session`] says
//! whether the agent may stop. It is plain data with pure functions, like every record:
//!
//! ```text
//! Session::begin(id, started, at)     a session whose workflow has just been started
//! session.prompted(at, prompt)        a person submitted another prompt
//! session.stopped(at, stop)           the agent wants to stop: what should happen now
//! ```
//!
//! [`prompt`] writes what the agent is told; [`transcript`] reads what its transcript shows. Which
//! conversation drives a run is told by [`driving`]; whether that one is continued depends on the
//! record of the run alone. What a prompt means for a session's goal is in [`subject`].

pub mod approval;
mod background;
pub mod command;
pub mod config;
mod continuation;
pub mod driving;
pub mod prompt;
pub mod provider_wait;
mod session;
pub mod subject;
pub mod transcript;

pub use continuation::{HostCap, StopFacts, StopVerdict, Why};
pub use session::{
    CountedStop, Created, Pause, Prompt, PromptEffect, Session, SessionEnding, SessionId,
    SessionRecord, SessionState, digest,
};

/// Set in the environment of every agent that we ask for an opinion. Our own hook, called by such
/// an agent, decides by rules alone and asks nobody.
pub const DEPTH_VARIABLE: &str = "ONLOOP_HOOK_DEPTH";

/// What a host tells the processes in a session about that session. An agent that is asked for
/// an opinion is in none: Claude Code would refuse to start inside itself.
pub const SESSION_VARIABLES: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];
