//! Hands-off sessions, and the messages of clients' hooks.
#![forbid(unsafe_code)]

pub mod handsoff;
pub mod hooks;
