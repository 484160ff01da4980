//! Any bytes as events.

#![no_main]

#[path = "../claims.rs"]
#[allow(dead_code)]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::events(bytes));
