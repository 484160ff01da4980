//! Readers of JSON, YAML, JSONC, URIs and JSON-RPC that keep positions and refuse ambiguous text.

pub mod file_uri;
pub mod json_rpc;
pub mod jsonc;
pub mod spans;
pub mod strict_json;
pub mod strict_yaml;
