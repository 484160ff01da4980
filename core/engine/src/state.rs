//! What lies in the state home: ledgers, configuration, sessions, keys.

pub mod audit_log;
pub mod auto_runs;
pub mod config;
pub mod rebuild;
pub mod receipt_key;
pub mod recover;
pub(crate) mod remote_owner;
pub mod session_places;
pub mod store;
pub mod untrusted;
