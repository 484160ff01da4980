//! The native host: performs what core asks for, with the operating system's own means.

pub mod host;
