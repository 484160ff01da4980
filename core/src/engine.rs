//! What verbs share: programs over [`Io`](crate::effect::Io) that load, act, verify, ask and
//! store.
//!
//! A verb puts these together; see `crate::verb`. Arguments that several verbs take are
//! defined here as well.
//!
//! A file here imports another only in one direction: there are no circles.

pub(crate) mod act;
pub(crate) mod adopt;
pub(crate) mod advice;
pub mod approval;
pub(crate) mod arrive;
pub(crate) mod ask;
pub(crate) mod begin;
pub mod board;
pub(crate) mod boxes;
pub(crate) mod calm_git;
pub(crate) mod change;
pub(crate) mod changed_check;
pub(crate) mod checkout;
pub mod choose_agent;
pub(crate) mod conduct;
pub mod conduct_args;
pub mod config;
pub(crate) mod confine;
pub(crate) mod confining;
pub(crate) mod consent;
pub(crate) mod conversation;
pub(crate) mod decide;
pub(crate) mod diary;
pub(crate) mod drive;
pub(crate) mod elsewhere;
pub(crate) mod ending;
pub mod error;
pub(crate) mod facts;
pub(crate) mod find_run;
pub(crate) mod find_workflow;
pub(crate) mod foreign;
pub(crate) mod further;
pub(crate) mod gate_in_chat;
pub(crate) mod git_index;
pub(crate) mod host_files;
pub(crate) mod implied_check;
pub(crate) mod input;
pub mod instruction;
pub(crate) mod keep;
pub(crate) mod known_to_git;
pub(crate) mod links;
pub(crate) mod listen;
pub(crate) mod notify;
pub(crate) mod owners;
pub(crate) mod pager;
pub(crate) mod patience;
pub(crate) mod planted;
pub mod preflight;
pub(crate) mod protect;
pub(crate) mod rebuild;
pub(crate) mod receipt_key;
pub(crate) mod rescue;
pub mod resume_run;
pub(crate) mod review;
pub(crate) mod run_context;
pub mod run_workflow;
pub(crate) mod say_step;
pub(crate) mod select;
pub(crate) mod session_places;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod simulate;
pub(crate) mod stall;
pub mod store;
pub mod supervisor;
pub(crate) mod surroundings;
pub(crate) mod travel;
pub(crate) mod upwards;
pub(crate) mod usage;
pub(crate) mod verify;
pub(crate) mod work;
