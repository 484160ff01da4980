//! `fleet.json` beside a ledger: the run is a fleet's, and its ledger here a copy of the journal there.

use serde::{Deserialize, Serialize};

/// Where the journal of a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetRun {
    /// Address of the fleet's server.
    pub server: String,
    /// The checkout from which the run was submitted, or in which a worker works on it: where people
    /// look for it. `None`: this machine has no checkout of its repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Name of the remote through which the work travels.
    pub remote: String,
}

/// The bytes of the file.
pub fn write(run: &FleetRun) -> Vec<u8> {
    serde_json::to_vec(run).expect("a document has only string keys")
}

/// Reads the file; `None` when it is damaged.
pub fn read(bytes: &[u8]) -> Option<FleetRun> {
    serde_json::from_slice(bytes).ok()
}
