//! Readers of foreign syntax that keep positions, and refuse what is ambiguous.

pub(crate) mod file_uri;
pub mod json_rpc;
pub(crate) mod jsonc;
pub(crate) mod spans;
pub mod strict_json;
pub mod strict_yaml;
