//! Agents that work on steps: their command lines, and the output streams of their clients.
//!
//! Three pure stages read a stream. [`StreamLines`] cuts bytes into lines, [`Client::read`] turns a
//! line into events, and [`AgentState`] folds events into activity, cost and outcome. Each client's
//! peculiarities stay in the file of its reader.
#![forbid(unsafe_code)]

mod acp;
mod claude;
mod clean;
mod client;
mod codex;
mod error;
mod event;
mod launch;
mod lines;
mod opencode;
mod outcome;
mod preset;
mod state;
mod tool;
mod used;

pub use acp::{
    ACP_VERB, AcpAction, AcpDialog, AcpSettings, AcpVerdict, JudgedTool, PermissionRequest,
};
pub use client::Client;
pub use error::{AgentError, AgentErrorKind};
pub use event::{AgentCall, AgentEvent, CallEnd, TurnEnd, UsageLimit};
pub use launch::{AcpLaunch, TurnLaunch, TurnSettings};
pub use lines::{StreamLine, StreamLines};
pub use outcome::TurnOutcome;
pub use preset::{
    ACP_PREFIX, AGENTS, AcpAgent, Agent, PRESETS, Preset, READERS, Reviewer, TurnClient,
    UNATTENDED, command_line,
};
pub use state::{AgentState, Retry, SeenCall};
pub use used::{UsageReport, UsageScope, UsedTokens};

pub mod confine;
