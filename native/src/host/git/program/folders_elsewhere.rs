//! Elsewhere than on Linux git is always asked about every folder.

use std::convert::Infallible;
use std::path::Path;

use git2::Index;
use onloop_core::effect::Failure;

use super::GitProgram;
use super::changes::Changes;
use super::command::Aside;

/// What git has to be asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Nothing,
    Everything,
}

/// Nothing is remembered of any folder.
#[derive(Debug)]
pub(super) struct Look(Infallible);

/// There is nothing to look at.
pub(super) struct Before(Infallible);

/// Nothing can be remembered of this checkout.
pub(super) fn before(_root: &Path, _index: &Path) -> Option<Before> {
    None
}

impl Before {
    pub(super) fn look(self, _index: &Index, _rules: String) -> Option<Look> {
        match self.0 {}
    }
}

impl Look {
    pub(super) fn ask(&self) -> &Ask {
        match self.0 {}
    }
}

impl GitProgram {
    /// What git says of files that it does not know.
    pub(super) fn others(&self, root: &Path, index: &Path, ask: &Ask) -> Result<Changes, Failure> {
        if *ask == Ask::Nothing {
            return Ok(Changes::default());
        }
        let args = ["ls-files", "--others", "--exclude-standard", "-z"];
        let aside = Aside { index: Some(index), ..Aside::default() };
        Changes::untracked(self.answer_aside(root, &args, &[], aside)?)
    }

    pub(super) fn remember(
        &self,
        _root: &Path,
        _index: &Path,
        look: Look,
        _taken: &Changes,
    ) -> Result<(), Failure> {
        match look.0 {}
    }
}
