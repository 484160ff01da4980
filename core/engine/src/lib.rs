//! What verbs share: programs over [`Io`](onloop_effect::Io) that load, act, verify, ask and
//! store.
//!
//! A verb puts these together; see `onloop_verbs`. Arguments that several verbs take are
//! defined here as well.
#![forbid(unsafe_code)]

pub mod approval;
pub mod board;
pub mod client_files;
pub mod error;
pub mod git;
pub mod lookup;
pub mod notify;
pub mod preflight;
pub mod run;
pub mod sandbox;
pub mod session;
pub mod spending;
pub mod state;
pub mod terminal;
