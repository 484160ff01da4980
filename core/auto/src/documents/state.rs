//! The saved record of a run.

use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;
use crate::record::Auto;

/// A run as it is stored: everything that [`Auto::next`] depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AutoDocument {
    v: u32,
    #[serde(flatten)]
    auto: Auto,
}

/// Why bytes are not the stored record of a run.
#[derive(Debug, thiserror::Error)]
pub enum InvalidState {
    /// They are not JSON, or a member is missing or of another type. For people: which.
    #[error("it is not a stored run: {0}")]
    Form(#[from] serde_json::Error),
    /// Another version than ours.
    #[error("found version {}, expected {}", .0, AutoDocument::VERSION)]
    Version(u32),
    /// A cycle beyond the most that the argument allows.
    #[error("found cycle {found}, expected 1 to {most}")]
    Cycle {
        /// The cycle.
        found: u8,
        /// The most cycles.
        most: u8,
    },
}

impl AutoDocument {
    const VERSION: u32 = 1;

    /// The document of a run.
    pub fn new(auto: &Auto) -> AutoDocument {
        AutoDocument { v: AutoDocument::VERSION, auto: auto.clone() }
    }

    /// The run that a document describes.
    ///
    /// # Errors
    ///
    /// [`InvalidState`], where the bytes do not describe a run.
    pub fn read(bytes: &[u8]) -> Result<Auto, InvalidState> {
        // The version first: another one may have other members.
        #[derive(Deserialize)]
        struct Versioned {
            v: u32,
        }
        let Versioned { v } = serde_json::from_slice(bytes)?;
        if v != AutoDocument::VERSION {
            return Err(InvalidState::Version(v));
        }
        let AutoDocument { auto, .. } = serde_json::from_slice(bytes)?;
        let arguments = Arguments::parse(&auto.assignment.argument);
        let most = arguments.max_cycles.get();
        match auto.phase.cycle() {
            Some(found) if !(1..=most).contains(&found) => Err(InvalidState::Cycle { found, most }),
            _ => Ok(Auto { arguments, ..auto }),
        }
    }
}
