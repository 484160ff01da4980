//! rw-auto: starts a planner agent and a loop agent in turns until the work is done.
//!
//! The files below `.ai/` say what to do; [`route`] turns them into a decision, an [`Auto`]
//! is the record of one run, and [`Token`] is what readers of its output rely on. Files and
//! children are not trusted: only the lines and cells that the readers here look for count.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod child;
pub mod documents;
pub mod feature;
pub mod lines;
pub mod lock;
pub mod one_line;
pub mod plan;
pub mod progress;
pub mod prompts;
pub mod record;
pub mod route;
pub mod task;
pub mod templates;
pub mod token;
pub mod workspace_file;

pub use record::{Auto, AutoEnding};
pub use route::{Profile, Target};
pub use token::Token;

use std::str::FromStr;

use onloop_syntax::text::{UnknownWord, alternatives};

/// Everything that belongs to the loop is in this folder.
pub const WORKSPACE_FOLDER: &str = ".ai";
/// Language policy and other ground rules, for the children.
pub const CONTEXT_PATH: &str = ".ai/CONTEXT.md";
/// The task table.
pub const PROGRESS_PATH: &str = ".ai/PROGRESS.md";
/// While this file exists, every run stops before its next child.
pub const PAUSE_PATH: &str = ".ai/PAUSE.md";
/// Feature files are its direct children.
pub const FEATURES_FOLDER: &str = ".ai/features";
/// One folder for each plan.
pub const PLANS_FOLDER: &str = ".ai/plans";
/// Lock, logs and the like; must not be committed.
pub const RUNTIME_FOLDER: &str = ".ai/runtime";
/// The lock: the time since which a run works.
pub const LOCK_PATH: &str = ".ai/runtime/rw-auto.lock";
/// The id of the plan that the tasks belong to.
pub const ACTIVE_PLAN_PATH: &str = ".ai/runtime/rw-active-plan-id.txt";
/// The record of a run that waits for a child which its host starts.
pub const STATE_PATH: &str = ".ai/runtime/rw-auto.state.json";

/// A text that does not name one of our values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {kind} `{}`, expected {}", name.found, alternatives(&name.expected))]
pub struct UnknownName {
    /// What the text was read as.
    kind: &'static str,
    name: UnknownWord,
}

/// The value that `name` stands for.
///
/// # Errors
///
/// When there is none; `kind` says in the message what was meant.
pub fn named<T>(kind: &'static str, name: &str) -> Result<T, UnknownName>
where
    T: FromStr<Err = UnknownWord>,
{
    name.parse().map_err(|name| UnknownName { kind, name })
}
