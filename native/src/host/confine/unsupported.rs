//! Systems without a known sandbox.

use std::process::Command as OsCommand;

use onloop_core::effect::{Confinement, Failure, ProcessStatus};

use super::{Finished, Restrictions, unknown};

/// A confined program, which does not exist here.
pub(in crate::host) enum Confined {}

/// Refuses.
pub(in crate::host) fn confine(
    _command: OsCommand,
    _confinement: &Confinement,
    _records: &[std::os::fd::RawFd],
) -> Result<(OsCommand, Confined), Failure> {
    Err(unknown())
}

impl Confined {
    /// There are none.
    pub(in crate::host) fn take_restrictions(&mut self) -> Option<Restrictions> {
        None
    }

    /// There is none.
    pub(in crate::host) fn finish(self, _status: ProcessStatus) -> Result<Finished, Failure> {
        match self {}
    }
}
