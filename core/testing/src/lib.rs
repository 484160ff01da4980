//! A host in memory, for the unit tests of several crates.
#![forbid(unsafe_code)]

mod memory_host;

pub use memory_host::MemoryHost;
