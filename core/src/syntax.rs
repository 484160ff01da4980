//! Readers of foreign syntax that keep positions, and refuse what is ambiguous.

pub(crate) mod jsonc;
pub mod strict_json;
pub mod strict_yaml;
