//! rw-auto: sends work to a planner and a loop agent, in turns, until it is done.
//!
//! The files below `.ai/` say what to do; [`route`] turns them into a decision, an [`Auto`]
//! is the record of one run, and [`Token`] is what readers of its output rely on. Nothing
//! here trusts what a file or a child says beyond the few things that the readers take.

pub mod arguments;
pub mod child;
pub mod document;
pub mod feature;
pub mod lines;
pub mod lock;
pub mod plan;
pub mod progress;
pub mod prompts;
pub mod record;
pub mod route;
pub mod task;
pub mod templates;
pub mod token;

pub use record::{Auto, Ending};
pub use route::{Profile, Target};
pub use token::Token;

/// Language policy and other ground rules, for the children.
pub const CONTEXT_PATH: &str = ".ai/CONTEXT.md";
/// The task table.
pub const PROGRESS_PATH: &str = ".ai/PROGRESS.md";
/// Its presence pauses every run.
pub const PAUSE_PATH: &str = ".ai/PAUSE.md";
/// Feature files are its direct children.
pub const FEATURES_FOLDER: &str = ".ai/features";
/// Every plan has a folder in it.
pub const PLANS_FOLDER: &str = ".ai/plans";
/// What runs leave behind for themselves; not for version control.
pub const RUNTIME_FOLDER: &str = ".ai/runtime";
/// Since when somebody is at work.
pub const LOCK_PATH: &str = ".ai/runtime/rw-auto.lock";
/// Which plan the tasks belong to.
pub const ACTIVE_PLAN_PATH: &str = ".ai/runtime/rw-active-plan-id.txt";
/// A run that waits for a child somebody else has started.
pub const STATE_PATH: &str = ".ai/runtime/rw-auto.state.json";
