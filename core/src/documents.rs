//! Documents that are stored or exchanged: the only modules that know serde.
//!
//! Readers are tolerant (missing fields have defaults, unknown fields survive a rewrite);
//! writers always produce the present form.

pub mod approval;
pub mod auto;
mod document;
pub mod event;
mod finish;
pub mod handsoff;
pub mod next;
pub mod normalized;
pub mod permission;
pub mod prepared;
pub mod receipt;
pub mod run;
pub mod schema;
pub mod session;
pub mod summary;
pub(crate) mod tagged;
