//! What verbs share: programs over [`Io`](onloop_effect::Io) that load, act, verify, ask and
//! store.
//!
//! A verb puts these together; see `onloop_verbs`. Arguments that several verbs take are
//! defined here as well.
//!
//! A file here imports another only in one direction: there are no circles.
#![forbid(unsafe_code)]

pub(crate) mod act;
pub(crate) mod adopt;
pub mod advice;
pub mod approval;
pub mod arrive;
pub mod ask;
pub mod begin;
pub mod board;
pub(crate) mod boxes;
pub(crate) mod calm_git;
pub mod change;
pub(crate) mod changed_check;
pub mod checkout;
pub mod choose_agent;
pub(crate) mod conduct;
pub mod conduct_args;
pub mod config;
pub mod confine;
pub mod confining;
pub mod consent;
pub mod conversation;
pub mod decide;
pub mod diary;
pub mod drive;
pub(crate) mod elsewhere;
pub(crate) mod ending;
pub mod error;
pub mod facts;
pub mod find_run;
pub mod find_workflow;
pub mod foreign;
pub mod further;
pub(crate) mod gate_in_chat;
pub(crate) mod git_index;
pub mod host_files;
pub(crate) mod implied_check;
pub mod input;
pub mod instruction;
pub mod keep;
pub mod known_to_git;
pub mod links;
pub mod listen;
pub mod notify;
pub(crate) mod owners;
pub(crate) mod pager;
pub(crate) mod patience;
pub mod planted;
pub mod preflight;
pub mod protect;
pub mod rebuild;
pub mod receipt_key;
pub mod rescue;
pub mod resume_run;
pub(crate) mod review;
pub(crate) mod run_context;
pub mod run_workflow;
pub mod say_step;
pub mod select;
pub mod session_places;
pub mod sessions;
pub mod setup;
pub(crate) mod simulate;
pub(crate) mod stall;
pub mod store;
pub mod supervisor;
pub mod surroundings;
pub mod travel;
pub(crate) mod upwards;
pub(crate) mod usage;
pub mod verify;
pub mod work;
