//! The sandbox status of a run's processes.

use std::fmt;

use onloop_effect::{Mechanism, Network};
use onloop_syntax::text;
use serde::{Deserialize, Serialize};

/// What kept the processes of one worker from touching more than they should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Hold {
    /// The kernel.
    Confined {
        /// By this means.
        by: Mechanism,
        /// The network that they had.
        network: Network,
    },
    /// Nothing.
    Unconfined {
        /// Why not, on one line.
        why: String,
    },
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Confined { by, network: Network::All } => f.write_str(by.as_str()),
            Hold::Confined { by, network } => {
                write!(f, "{}, network {network}", by.as_str())
            }
            Hold::Unconfined { why } => write!(f, "not confined ({})", text::one_line(why)),
        }
    }
}

impl Hold {
    /// More for what holds more.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Hold::Unconfined { .. } => 0,
            Hold::Confined { network: Network::All, .. } => 1,
            Hold::Confined { network: Network::Names(_), .. } => 2,
            Hold::Confined { network: Network::Loopback, .. } => 3,
            Hold::Confined { network: Network::None, .. } => 4,
        }
    }
}
