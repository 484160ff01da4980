//! What is different in a checkout from what an index says.

use std::collections::BTreeSet;

use onloop_core::effect::Failure;

use super::Answer;
use super::command::lines_until_nul;

/// The folder in which copies of records lie; it is the run's and not its work.
pub(super) const OURS: &[u8] = b".hotl";

/// Files of a checkout that an index does not have as they are.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files, links and repositories to take in; relative to the top folder. Some may turn out to be
    /// as the index has them.
    pub(super) present: BTreeSet<Vec<u8>>,
    pub(super) gone: BTreeSet<Vec<u8>>,
}

impl Changes {
    /// From what git says of tracked files.
    pub(super) fn told(tracked: Answer) -> Result<Changes, Failure> {
        let tracked = tracked.success()?;
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

    /// Every path, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.present.union(&self.gone).map(Vec::as_slice)
    }

    /// From what git says of files that it does not track.
    pub(super) fn untracked(others: Answer) -> Result<Changes, Failure> {
        let others = others.success()?;
        // A repository inside the checkout ends with a slash.
        let others = lines_until_nul(&others).map(|path| path.strip_suffix(b"/").unwrap_or(path));
        let present = others.map(<[u8]>::to_vec).collect();
        Ok(Changes { present, gone: BTreeSet::new() })
    }

    /// Without what is not the run's work.
    pub(super) fn of_the_run(mut self) -> Changes {
        self.present.retain(|path| !is_ours(path));
        self.gone.retain(|path| !is_ours(path));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present.is_empty() && self.gone.is_empty()
    }

    pub(super) fn extend(&mut self, more: Changes) {
        self.present.extend(more.present);
        self.gone.extend(more.gone);
    }
}

fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
