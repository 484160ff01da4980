//! The effects of the operating system, grouped by capability.

pub mod git;
