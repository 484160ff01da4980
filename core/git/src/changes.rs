//! Differences between a checkout and an index.

use std::collections::BTreeSet;

use onloop_effect::Failure;

use crate::command::{Answer, lines_until_nul};

/// The folder with copies of records, which are not the run's work.
const OURS: &[u8] = b".hotl";

/// Changed files of a checkout.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Files, links and repositories to add, relative to the top folder. Some may be unchanged.
    pub(crate) present: BTreeSet<Vec<u8>>,
    pub(crate) gone: BTreeSet<Vec<u8>>,
}

impl Changes {
    /// Parses git's list of tracked files.
    pub(crate) fn tracked(answer: Answer) -> Result<Changes, Failure> {
        let tracked = answer.success()?;
        let mut changes = Changes::default();
        let mut fields = lines_until_nul(&tracked);
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            match letter {
                b"D" => changes.gone.insert(path.to_vec()),
                _ => changes.present.insert(path.to_vec()),
            };
        }
        Ok(changes)
    }

    /// Adds git's list of untracked files.
    pub(crate) fn add_untracked(&mut self, answer: Answer) -> Result<(), Failure> {
        let others = answer.success()?;
        // The path of a nested repository ends with a slash.
        let others = lines_until_nul(&others).map(|path| path.strip_suffix(b"/").unwrap_or(path));
        self.present.extend(others.map(<[u8]>::to_vec));
        Ok(())
    }

    /// Removes files that are not the run's work.
    pub(crate) fn of_the_run(mut self) -> Changes {
        self.present.retain(|path| !is_ours(path));
        self.gone.retain(|path| !is_ours(path));
        self
    }
}

fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
