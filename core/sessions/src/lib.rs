//! Hands-off sessions, and what agents' hooks send and accept.
#![forbid(unsafe_code)]

pub mod handsoff;
pub mod hooks;
