//! Documents that are stored or exchanged.
//!
//! A reader requires the members that the version of a document has, and keeps those that it does
//! not know; writers always produce the present form.
#![forbid(unsafe_code)]

pub mod approval;
pub mod attestation;
pub mod audit_log;
pub mod auto_run;
pub mod board;
pub mod client_version;
pub mod cost;
mod document;
pub mod envelope;
pub mod event;
pub mod fleet_run;
pub mod handsoff;
pub mod head;
pub mod kept_files;
pub mod ledger;
pub mod next;
pub mod normalized;
pub mod notices;
pub mod permission;
pub mod prepared;
pub mod receipt;
pub mod run;
pub mod schema;
pub mod session;
pub mod session_place;
pub mod simulation;
pub mod spans;
pub mod summary;
pub mod telemetry;
pub mod turn_policy;

pub use document::DocumentError;

pub mod page;
