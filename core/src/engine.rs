//! What verbs share: programs over [`Io`](crate::effect::Io) that load, act, verify, ask and
//! store.
//!
//! Nothing here reads a command line. A verb puts these together; see `crate::verb`.

pub(crate) mod act;
pub mod approval;
pub(crate) mod ask;
pub(crate) mod boxes;
pub(crate) mod checkout;
pub(crate) mod choose_agent;
pub(crate) mod conduct;
pub mod config;
pub(crate) mod ending;
pub(crate) mod find_workflow;
pub(crate) mod input;
pub mod preflight;
pub(crate) mod rebuild;
pub(crate) mod rescue;
pub(crate) mod review;
pub(crate) mod sessions;
pub(crate) mod stall;
pub mod store;
pub mod supervisor;
pub(crate) mod usage;
pub(crate) mod verify;
