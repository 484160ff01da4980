//! The task of a driver, written by its worker.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::authority::Authority;
use crate::client::Client;
use crate::engine::Assignment;
use crate::key::Key;

/// A run to drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The run and its lease.
    pub assignment: Assignment,
    /// Address of the fleet's server.
    pub server: String,
    /// The file with the fleet's key.
    pub key_file: PathBuf,
    /// The file with the certificate authority of the server; `None`: an authority that browsers trust.
    pub authority_file: Option<PathBuf>,
    /// The folder of all runs, in the worker's state home.
    pub runs: String,
    /// The folder of the worker's clones.
    pub repos: PathBuf,
    /// The command that starts `onloop`.
    pub program: Vec<String>,
}

impl Task {
    /// Reads the file of a task.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, as a clause.
    pub fn read(file: &Path) -> Result<Task, String> {
        let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }

    /// Returns a client of the fleet's server.
    ///
    /// # Errors
    ///
    /// The key or the authority cannot be read, as a clause.
    pub fn client(&self) -> Result<Client, String> {
        let key = Key::read(&self.key_file).map_err(|error| error.to_string())?;
        let authority = self.authority_file.as_deref().map(Authority::read).transpose();
        let authority = authority.map_err(|error| error.to_string())?;
        Ok(Client::new(&self.server, key, authority.as_ref()))
    }
}
