//! Documents that are stored or exchanged. The only modules that know serde.

pub mod permission;
pub mod strict_json;
