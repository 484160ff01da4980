//! What a client said about its version, kept so that it is asked once.

use serde::{Deserialize, Serialize};

use onloop_syntax::time::Timestamp;

/// The version of the client in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientVersionDocument {
    /// The file, without links.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its last change.
    pub modified_ms: i64,
    /// Digest of what says which package it belongs to, where it belongs to one: registries give all
    /// files of all versions the same time.
    pub package: Option<String>,
    /// What it said; `None`: nothing like a version.
    pub version: Option<String>,
}

impl ClientVersionDocument {
    /// Of a file about which nothing was said yet.
    pub fn of_file(
        path: String,
        size_bytes: u64,
        modified: Timestamp,
        package: Option<String>,
    ) -> ClientVersionDocument {
        let modified_ms = modified.as_millis();
        ClientVersionDocument { path, size_bytes, modified_ms, package, version: None }
    }

    /// Whether both are about the same file in the same state.
    pub fn is_about(&self, other: &ClientVersionDocument) -> bool {
        let bare = |document: &ClientVersionDocument| ClientVersionDocument {
            version: None,
            ..document.clone()
        };
        bare(self) == bare(other)
    }

    /// As JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it has only string keys")
    }

    /// `None` where `bytes` are anything else.
    pub fn of(bytes: &[u8]) -> Option<ClientVersionDocument> {
        serde_json::from_slice(bytes).ok()
    }
}
