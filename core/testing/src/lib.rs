//! What unit tests of several crates share: a host in memory.
#![forbid(unsafe_code)]

mod memory_host;

pub use memory_host::MemoryHost;
