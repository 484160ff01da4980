//! Hands-off sessions: their files, who drives a run, the second agent that reads along.

pub mod conversation;
pub mod files;
pub mod judged_paths;
pub mod kept_files;
pub mod origin;
pub mod supervisor;
pub mod workspace;
