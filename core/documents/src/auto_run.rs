//! The note that a run of rw-auto keeps in the state home while it is under way, for the next run in its
//! workspace and for overviews.

use serde::{Deserialize, Serialize};

use onloop_effect::ProcessGroup;

/// The note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoRunDocument {
    /// Its name.
    pub run: String,
    /// The folder of its workspace.
    pub folder: String,
    /// The child that it waits for: `rw-planner` or `rw-loop`.
    pub target: String,
    /// In which cycle.
    pub cycle: u8,
    /// Since when, RFC 3339.
    pub since: String,
    /// The machine that it runs on.
    pub host: String,
    /// The process group that the child was started in; `None`: no process of it runs.
    pub group: Option<ProcessGroup>,
    /// The file for the child's answer, where the host of the run starts the child: no process of onloop
    /// holds this note then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_file: Option<String>,
}

impl AutoRunDocument {
    /// As JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it has only string keys")
    }

    /// `None` where `bytes` are anything else.
    pub fn of(bytes: &[u8]) -> Option<AutoRunDocument> {
        serde_json::from_slice(bytes).ok()
    }
}
