//! Any bytes from a client of `onloop mcp`.

#![no_main]

#[path = "../claims.rs"]
#[allow(dead_code)]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::mcp(bytes));
