//! Readers of foreign syntax that keep positions, and refuse what is ambiguous.

pub mod file_uri;
pub mod json_rpc;
pub mod jsonc;
pub mod spans;
pub mod strict_json;
pub mod strict_yaml;
