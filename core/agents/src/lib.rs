//! Agents that act on steps: the command lines that start them, and what their clients say while
//! they work.
//!
//! A client's stream is read in three stages, all of them pure: [`StreamLines`] cuts bytes into
//! lines, [`Client::read`] makes events of a line, and [`AgentState`] folds events into what is
//! going on, what it cost and how it ended. A quirk of a client is in the file of its reader and
//! nowhere else.
#![forbid(unsafe_code)]

mod claude;
mod clean;
mod client;
mod codex;
mod copilot;
mod cursor;
mod error;
mod event;
mod gemini;
mod launch;
mod lines;
mod opencode;
mod outcome;
mod preset;
mod state;
mod tool;
mod used;

pub use client::Client;
pub use error::{AgentError, AgentErrorKind};
pub use event::{AgentCall, AgentEvent, CallEnd, TurnEnd, UsageLimit};
pub use launch::{TurnLaunch, TurnSettings};
pub use lines::{StreamLine, StreamLines};
pub use outcome::TurnOutcome;
pub use preset::{AGENTS, Agent, PRESETS, Preset, READERS, Reviewer, UNATTENDED, command_line};
pub use state::{AgentState, Retry};
pub use used::{UsageReport, UsageScope, UsedTokens};

pub mod confine;
